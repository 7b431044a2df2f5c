import { Button, Flex, Text } from '@backstage/ui';
import { useState } from 'react';
import { useLiveQuery } from '../../client';
import { Answer, Filters, type Goodness, useParam } from '../../parts';
import { Snippet } from '../Facts';
import { Opening } from '../Opening';
import { number } from '../words';
import {
  FleetsDocument,
  type FleetsQuery,
  type FleetStatusFragment,
} from './changes.generated';
import { FleetDetails } from './FleetDetails';
import { ChoiceFilter } from './Filter';

const states: Record<string, Goodness> = {
  planning: 'busy',
  planned: 'busy',
  running: 'busy',
  paused: 'warn',
  stopped: 'bad',
  done: 'good',
  cancelled: 'unknown',
};

/** How far a fleet is. */
const reached = (of: FleetStatusFragment) =>
  `${number(of.counts.done)} of ${number(of.counts.total)} services in ${
    of.environment
  }${of.wave === null ? '' : `, wave ${of.wave} of ${of.waves.length}`}`;

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
      <Opening
        key={f.id}
        of={f}
        name="fleet"
        is={states[f.state] ?? 'unknown'}
        state={f.state}
        about={reached(f)}
      >
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
      <Filters>
        <ChoiceFilter
          name="state"
          label="State"
          choices={Object.keys(states).filter(s => s !== 'planning')}
        />
      </Filters>
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
