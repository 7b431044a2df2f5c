import { Card, CardBody, Flex, Text } from '@backstage/ui';
import { useLiveQuery } from '../../client';
import { Notice, Answer, Filters, useParam } from '../../parts';
import { Heading, Items } from '../Facts';
import { duration, number, plural } from '../words';
import styles from './changes.module.css';
import {
  ChangeFiguresDocument,
  type ChangeFiguresQuery,
  type FigureLineFragment,
  type SpreadsFragment,
} from './changes.generated';
import { FigureTable } from './FigureTable';
import { ChoiceFilter, TextFilter } from './Filter';

const periods: Record<string, string> = {
  '7 days': '168h',
  '30 days': '720h',
  '90 days': '2160h',
  '365 days': '8760h',
};

/** One figure in big letters, and what it says in small ones. */
const Tile = (props: { name: string; value?: string; words: string }) => (
  <Card role="group" aria-label={props.name}>
    <CardBody>
      <Flex direction="column" gap="1">
        <Text variant="body-small" color="secondary">
          {props.name}
        </Text>
        <Text variant="title-small" weight="bold">
          {props.value ?? 'none yet'}
        </Text>
        <Text variant="body-small" color="secondary">
          {props.words}
        </Text>
      </Flex>
    </CardBody>
  </Card>
);

const median = (s: SpreadsFragment | null) => s?.count && duration(s.median);
const spread = (s: SpreadsFragment | null) =>
  s?.count
    ? `; nine in ten within ${duration(s.p90)}; ${number(s.count)} counted`
    : '';

/** DORA's four keys. */
const Keys = ({ of }: { of: FigureLineFragment }) => (
  <div className={styles.tiles}>
    <Tile
      name="Deployment frequency"
      value={of.deployments ? `${number(of.perDay, 2)} a day` : undefined}
      words={`${plural(of.deployments, 'deployment')} in the period`}
    />
    <Tile
      name="Lead time for changes"
      value={median(of.leadTime) || undefined}
      words={`from proposed to healthy, in half of all cases${spread(
        of.leadTime,
      )}`}
    />
    <Tile
      name="Change failure rate"
      value={
        of.failureRate === null ? undefined : `${number(of.failureRate)} %`
      }
      words={`${number(of.failed)} of ${plural(
        of.observed,
        'deployment',
      )} whose end is known`}
    />
    <Tile
      name="Time to recover"
      value={median(of.recovery) || undefined}
      words={`from degraded to healthy, in half of all cases${spread(
        of.recovery,
      )}`}
    />
  </div>
);

const way = (name: string, s: SpreadsFragment | null) =>
  s?.count
    ? `${name}: ${duration(s.median)} in half of all cases, ${duration(
        s.p90,
      )} in nine of ten`
    : undefined;

/** What became of proposals, and how long each part of the way took. */
const Proposed = ({ of }: { of: FigureLineFragment }) => (
  <Flex direction="column" gap="2">
    <Heading small>Proposals</Heading>
    <Items label="Proposals in figures">
      {[
        `${plural(of.proposals, 'proposal')}: ${number(
          of.merged,
        )} merged, ${number(of.closed)} closed without that`,
        way('Until a pull request lacked reviews at most', of.approvable),
        way('From proposed to merged', of.toMerge),
        way('From merged to healthy', of.toLive),
        of.reworked
          ? `${number(
              of.reworked,
            )} had to be worked on by people or were taken back (${number(
              of.reworkRate ?? 0,
            )} %)`
          : undefined,
        of.refused
          ? `${plural(of.refused, 'time')} policy did not let somebody propose`
          : undefined,
        of.reported
          ? `${plural(of.reported, 'proposal')} told what they took: ${number(
              of.tokens ?? 0,
              0,
            )} tokens, cost ${number(of.cost ?? 0, 2)}${
              of.costPerMerged === null
                ? ''
                : `, ${number(of.costPerMerged, 2)} for each that was merged`
            }`
          : undefined,
      ]
        .filter(Boolean)
        .map(line => (
          <li key={line}>{line}</li>
        ))}
    </Items>
  </Flex>
);

type Answered = NonNullable<ChangeFiguresQuery['changeFigures']>;

const All = ({ of }: { of: Answered }) => (
  <Flex direction="column" gap="5">
    {of.partial.length > 0 && (
      <Notice
        status="warning"
        icon
        title="Not all is counted"
        description={of.partial.join('; ')}
      />
    )}
    <Keys of={of.total} />
    <Proposed of={of.total} />
    <FigureTable title="By team" of={of.teams} />
    <FigureTable title="By service" of={of.services} />
    <FigureTable title="By agent" of={of.agents} agents />
  </Flex>
);

/** What was deployed and proposed in a period, in figures. */
export const Figures = () => {
  const [period = '30 days'] = useParam('period');
  const [service] = useParam('service');
  const [environment] = useParam('environment');
  const figures = useLiveQuery({
    query: ChangeFiguresDocument,
    variables: { period: periods[period], service, environment },
    every: 60_000,
  });
  return (
    <Flex direction="column" gap="4">
      <Filters>
        <ChoiceFilter
          name="period"
          label="Period"
          choices={Object.keys(periods)}
          otherwise="30 days"
        />
        <TextFilter name="service" label="Service" placeholder="checkout" />
        <TextFilter
          name="environment"
          label="Environment"
          placeholder="production"
        />
      </Filters>
      <Answer of={figures}>
        {d => d.changeFigures && <All of={d.changeFigures} />}
      </Answer>
    </Flex>
  );
};
