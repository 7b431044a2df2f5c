import { Flex, Text } from '@backstage/ui';
import { Long, Mark, When, type Goodness } from '../../parts';
import { Fact, Facts, Items } from '../Facts';
import { Alerts } from './Alerts';
import type { DeploymentHealthQuery } from './environments.generated';
import { History } from './History';
import { Objectives } from './Objectives';
import { Deployed, Images } from './Revisions';

/** How a service does in an environment. */
export type HealthAnswer = NonNullable<
  DeploymentHealthQuery['deploymentHealth']
>;

const verdicts: Record<string, Goodness> = {
  healthy: 'good',
  progressing: 'busy',
  degraded: 'bad',
};

const healths: Record<string, Goodness> = {
  Progressing: 'busy',
  Suspended: 'warn',
  Unknown: 'unknown',
};

/** The verdict, what it stands on, and since when it is so. */
const Verdict = ({ of }: { of: HealthAnswer }) => (
  <Flex direction="column" gap="1">
    <Text as="p">
      <Mark is={verdicts[of.verdict] ?? 'unknown'}>{of.verdict}</Mark>
      {of.since && (
        <>
          {' '}
          since <When at={of.since} />
        </>
      )}
    </Text>
    {of.grounds.map(ground => (
      <Text key={ground} as="p" variant="body-small" color="secondary">
        <Long>{ground}</Long>
      </Text>
    ))}
  </Flex>
);

const Unwell = ({ of }: { of: HealthAnswer['resources'] }) => (
  <Items label="Resources that are not well">
    {of.map(r => (
      <li key={r.resource}>
        <Mark is={healths[r.health ?? ''] ?? (r.health ? 'bad' : 'warn')}>
          {[r.health, r.sync].filter(Boolean).join(', ') || 'not well'}
        </Mark>{' '}
        {r.resource}
        {r.message && (
          <Text as="p" variant="body-small" color="secondary">
            <Long>{r.message}</Long>
          </Text>
        )}
      </li>
    ))}
  </Items>
);

const Sync = ({ of }: { of: NonNullable<HealthAnswer['sync']> }) => (
  <>
    <Mark
      is={
        { Synced: 'good' as const, OutOfSync: 'warn' as const }[of.status] ??
        'unknown'
      }
    >
      {of.status === 'OutOfSync' ? 'out of sync' : of.status.toLowerCase()}
    </Mark>
    {of.comparedAt && (
      <>
        , compared <When at={of.comparedAt} />
      </>
    )}
    {!of.automated && '; it is not synced by itself'}
  </>
);

/** All that is known of how a service does in an environment. */
export const Health = ({ of }: { of: HealthAnswer }) => {
  const { live, desired } = of;
  const behind = desired?.revision && desired.revision !== live?.revision;
  return (
    <Flex direction="column" gap="4">
      <Verdict of={of} />
      {of.alerts.length > 0 && <Alerts of={of.alerts} />}
      <Facts>
        <Fact name="Live">
          {live && <Deployed of={live} what="the live revision" />}
        </Fact>
        <Fact name="Wanted">
          {behind && <Deployed of={desired} what="the wanted revision" />}
        </Fact>
        <Fact name="Images">
          {(live ?? desired) && <Images live={live} wanted={desired} />}
        </Fact>
        <Fact name="Sync">{of.sync && <Sync of={of.sync} />}</Fact>
        <Fact name="Not well">
          {of.resources.length > 0 && <Unwell of={of.resources} />}
        </Fact>
        <Fact name="Changed past the repository">
          {of.drift.length > 0 && of.drift.join(', ')}
        </Fact>
        <Fact name="Objectives">
          {of.slo.length > 0 && <Objectives of={of.slo} />}
        </Fact>
      </Facts>
      <History of={of} />
      <Text as="p" variant="body-x-small" color="secondary">
        {of.application && `Argo CD ${of.application}`}
        {of.observedAt && (
          <>
            , asked <When at={of.observedAt} />
          </>
        )}
        {of.omitted.length > 0 && `; left out: ${of.omitted.join(', ')}`}
      </Text>
    </Flex>
  );
};
