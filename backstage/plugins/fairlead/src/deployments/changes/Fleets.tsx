import { Button, Flex, Text } from '@backstage/ui';
import { useState } from 'react';
import { useLiveQuery } from '../../client';
import { Answer, Mark, useParam, When, type Goodness } from '../../parts';
import { Row, Snippet } from '../Facts';
import { Opening } from '../Opening';
import { nameOf, number } from '../words';
import {
  FleetsDocument,
  type FleetsQuery,
  type FleetStatusFragment,
} from './changes.generated';
import { FleetDetails } from './FleetDetails';
import { ChoiceFilter } from './Filter';
import styles from './changes.module.css';

const states: Record<string, Goodness> = {
  planning: 'busy',
  planned: 'busy',
  running: 'busy',
  paused: 'warn',
  stopped: 'bad',
  done: 'good',
  cancelled: 'unknown',
};

/** What one sees of a fleet before one opens it. */
const Line = ({ of }: { of: FleetStatusFragment }) => (
  <Flex direction="column" gap="1" align="start">
    <Row>
      <Text weight="bold">{of.title}</Text>
      <Mark is={states[of.state] ?? 'unknown'}>{of.state}</Mark>
    </Row>
    <Text variant="body-small" color="secondary">
      {`${number(of.counts.done)} of ${number(of.counts.total)} services in ${
        of.environment
      }`}
      {of.wave !== null && `, wave ${of.wave} of ${of.waves.length}`}
      {`, by ${nameOf(of.person)}`}
      {of.agent && ` with ${of.agent}`}
      {of.createdAt && (
        <>
          {' '}
          <When at={of.createdAt} />
        </>
      )}
    </Text>
  </Flex>
);

const None = () => (
  <Flex direction="column" gap="3">
    <Text as="p">
      No change of many services is there. One is planned and started on the
      command line, or by an agent:
    </Text>
    <Snippet
      text={`fairlead change fleet --query spec.type=service --environment staging --replicas 3 --reason "load" --dry-run`}
      what="the command"
    />
  </Flex>
);

type Found = NonNullable<FleetsQuery['fleets']>;

const most = 100; // what the server gives at once

const List = (props: { of: Found; first: number; onMore(): void }) => (
  <Flex direction="column" gap="2">
    {props.of.items.map(f => (
      <Opening key={f.id} name="fleet" id={f.id} line={<Line of={f} />}>
        <FleetDetails id={f.id} />
      </Opening>
    ))}
    {props.of.nextCursor &&
      (props.first < most ? (
        <div>
          <Button variant="secondary" onPress={props.onMore}>
            More
          </Button>
        </div>
      ) : (
        <Text color="secondary">
          Older ones are not shown here: choose a state.
        </Text>
      ))}
  </Flex>
);

/** Changes of many services, newest first. */
export const Fleets = () => {
  const [state] = useParam('state');
  const [first, setFirst] = useState(20);
  const fleets = useLiveQuery({
    query: FleetsDocument,
    variables: { state, first },
  });
  return (
    <Flex direction="column" gap="4">
      <div className={styles.filters} role="search" aria-label="Filter">
        <ChoiceFilter
          name="state"
          label="State"
          choices={Object.keys(states).filter(s => s !== 'planning')}
        />
      </div>
      <Answer
        of={fleets}
        empty={{ when: d => d.fleets?.items.length === 0, text: <None /> }}
      >
        {d =>
          d.fleets && (
            <List of={d.fleets} first={first} onMore={() => setFirst(most)} />
          )
        }
      </Answer>
    </Flex>
  );
};
