import { Button, Flex, Link, Text } from '@backstage/ui';
import { EntityLink, Mark, type Goodness } from '../../parts';
import { Heading, isWeb, Items } from '../Facts';
import type { FleetQuery } from './changes.generated';

const states: Record<string, Goodness> = {
  waiting: 'busy',
  approval: 'warn',
  open: 'busy',
  merged: 'busy',
  done: 'good',
  unchanged: 'good',
  covered: 'good',
  refused: 'bad',
  failed: 'bad',
};

type Member = NonNullable<FleetQuery['fleet']>['members'][number];

const One = ({ of }: { of: Member }) => (
  <li>
    <Mark is={states[of.state] ?? 'unknown'}>{of.state}</Mark>{' '}
    <EntityLink of={of.service} />
    {of.wave !== null && `, wave ${of.wave}`}
    {isWeb(of.url) && (
      <>
        ,{' '}
        <Link href={of.url} target="_blank" rel="noopener">
          pull request
        </Link>
      </>
    )}
    {of.proposal && (
      <>
        ,{' '}
        <Link
          href={`/fairlead/changes?proposal=${encodeURIComponent(of.proposal)}`}
        >
          proposal
        </Link>
      </>
    )}
    {of.reason && (
      <Text as="p" variant="body-small" color="secondary">
        {[of.reason, of.fix].filter(Boolean).join(' ')}
      </Text>
    )}
  </li>
);

/** The services of a fleet, and how far each is. */
export const Members = (props: { of: Member[]; onMore?: () => void }) => (
  <Flex direction="column" gap="2">
    <Heading small>Services</Heading>
    <Items label="Services of the fleet">
      {props.of.map(m => (
        <One key={m.service} of={m} />
      ))}
    </Items>
    {props.onMore && (
      <div>
        <Button size="small" variant="secondary" onPress={props.onMore}>
          More
        </Button>
      </div>
    )}
  </Flex>
);
