import { Link, Text } from '@backstage/ui';
import { Long, Notice, When } from '../../parts';
import { Code, isWeb, Items } from '../Facts';
import type { HealthAnswer } from './Health';

type Firing = HealthAnswer['alerts'][number];

const Runbook = ({ of, alert }: { of: string; alert: string }) =>
  isWeb(of) ? (
    <Link href={of} target="_blank" rel="noopener">
      Runbook for {alert}
    </Link>
  ) : (
    <>
      Runbook: <Code>{of}</Code>
    </>
  );

/** The alerts that fire, each with what to do. */
export const Alerts = (props: { of: Firing[] }) => (
  <Notice
    status="danger"
    icon
    title={`${
      props.of.length === 1
        ? 'An alert fires'
        : `${props.of.length} alerts fire`
    }`}
    description={
      <Items label="Alerts that fire">
        {props.of.map(a => (
          <li key={`${a.name} ${a.since}`}>
            <Text as="p">
              <strong>{a.name}</strong>
              {a.severity && ` (${a.severity})`}
              {a.since && (
                <>
                  {' '}
                  since <When at={a.since} />
                </>
              )}
              {a.summary && (
                <>
                  : <Long>{a.summary}</Long>
                </>
              )}
            </Text>
            {a.runbook && <Runbook of={a.runbook} alert={a.name} />}
          </li>
        ))}
      </Items>
    }
  />
);
