import { Flex, Text } from '@backstage/ui';
import { useState } from 'react';
import { useLiveQuery } from '../../client';
import { Notice, Answer } from '../../parts';
import { Code, Fact, Facts, Heading, Items, Linked } from '../Facts';
import { By, Grounds } from '../Grounds';
import { number, plural } from '../words';
import styles from './changes.module.css';
import {
  FleetDocument,
  type FleetQuery,
  type FleetStatusFragment,
} from './changes.generated';
import { FleetActs } from './FleetActs';
import { Members } from './Members';
import facts from '../Facts.module.css';

const words: [keyof FleetStatusFragment['counts'], string][] = [
  ['done', 'as wanted'],
  ['merged', 'merged, not yet known to be healthy'],
  ['open', 'with an open pull request'],
  ['approval', 'waiting for a person to agree'],
  ['waiting', 'waiting for their wave'],
  ['unchanged', 'so already'],
  ['covered', 'made so by another change'],
  ['absent', 'without such an environment'],
  ['refused', 'left out by the plan'],
  ['failed', 'failed'],
  ['conflicted', 'whose files others change, too'],
];

/** How many services are how far. */
const Counts = ({ of }: { of: FleetStatusFragment['counts'] }) => (
  <Items label="Services">
    {words
      .filter(([name]) => of[name] > 0)
      .map(([name, text]) => (
        <li key={name}>
          {number(of[name])} {text}
        </li>
      ))}
  </Items>
);

const Waves = ({ of }: { of: FleetStatusFragment }) => (
  <div
    className={styles.scroll}
    role="region"
    aria-label="Waves"
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what can be scrolled has to be reached by the keyboard
    tabIndex={0}
  >
    <table className={styles.table}>
      <thead>
        <tr>
          {['Wave', 'Services', 'Done', 'Open', 'Failed'].map(name => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {of.waves.map(w => (
          <tr key={w.number} aria-current={w.number === of.wave || undefined}>
            <th scope="row">
              {w.number}
              {w.number === of.wave && ' (at work)'}
            </th>
            <td>{number(w.size)}</td>
            <td>{number(w.done)}</td>
            <td>{number(w.open)}</td>
            <td>{number(w.failed)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

type Whole = NonNullable<FleetQuery['fleet']>;

const About = ({ of }: { of: Whole }) => (
  <Facts>
    <Fact name="Services">
      {of.query.map(q => (
        <Code key={q}>{q}</Code>
      ))}
    </Fact>
    <Fact name="By">
      <By {...of} />
    </Fact>
    <Grounds of={of} />
    <Fact name="Next wave">
      {`when all of one are ${of.until}; it stops when more than ${plural(
        of.maxFailures,
        'service',
      )} failed`}
    </Fact>
    <Fact name="How far">
      <Counts of={of.counts} />
    </Fact>
  </Facts>
);

const All = (props: { of: Whole; onMore?: () => void; changed(): void }) => {
  const { of, onMore, changed } = props;
  return (
    <Flex direction="column" gap="4" className={facts.long}>
      {of.why && (
        <Notice
          status={of.state === 'stopped' ? 'danger' : 'info'}
          icon
          title={of.why}
          description={of.next}
        />
      )}
      <FleetActs of={of} changed={changed} />
      <About of={of} />
      {of.waves.length > 0 && (
        <Flex direction="column" gap="2">
          <Heading small>Waves</Heading>
          <Waves of={of} />
        </Flex>
      )}
      <Members of={of.members} onMore={onMore} />
      {!of.why && of.next && (
        <Text as="p">
          <strong>Next:</strong> <Linked text={of.next} />
        </Text>
      )}
    </Flex>
  );
};

/** All of a fleet, wave by wave, with its services. */
export const FleetDetails = ({ id }: { id: string }) => {
  const [first, setFirst] = useState(20);
  const fleet = useLiveQuery({
    query: FleetDocument,
    variables: { id, first },
  });
  return (
    <Answer of={fleet}>
      {d =>
        d.fleet && (
          <All
            of={d.fleet}
            changed={fleet.refresh}
            onMore={
              d.fleet.nextCursor && first < 200
                ? () => setFirst(Math.min(200, first * 2))
                : undefined
            }
          />
        )
      }
    </Answer>
  );
};
