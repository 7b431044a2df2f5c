import {
  Cell,
  CellText,
  Column,
  Flex,
  Row,
  Select,
  TableBody,
  TableHeader,
  TableRoot,
} from '@backstage/ui';
import { useState } from 'react';
import { useLiveQuery } from '../client';
import { Answer, EntityLink, Scrolled, useSome } from '../parts';
import styles from './previews.module.css';
import {
  PreviewUsageDocument,
  type UsageLineFragment,
} from './figures.generated';

const periods = [
  { id: '24h', label: 'Last day' },
  { id: '168h', label: 'Last 7 days' },
  { id: '720h', label: 'Last 30 days' },
];

const Name = ({ title, name }: { title: string; name: string | null }) => {
  if (title === 'All') return <>All previews</>;
  if (!name) return <>Nobody</>;
  return title === 'Agent' ? <>{name}</> : <EntityLink of={name} />;
};

interface LinesProps {
  title: string;
  currency: string | null;
  /** Hours have a price here. */
  priced: boolean;
  lines: UsageLineFragment[];
}

const Lines = ({ title, currency, priced, lines }: LinesProps) => {
  const [some, more] = useSome(lines, 20);
  if (!lines.length) return null;
  return (
    <Scrolled>
      <TableRoot aria-label={`Usage by ${title.toLowerCase()}`}>
        <TableHeader>
          <Column isRowHeader>{title}</Column>
          <Column>Now</Column>
          <Column>Created</Column>
          <Column>Never ready</Column>
          <Column>Hours</Column>
          <Column>Most at once</Column>
          {priced && <Column>Cost</Column>}
        </TableHeader>
        <TableBody>
          {some.map(line => (
            <Row key={line.name ?? ''} id={line.name ?? 'none'}>
              <Cell>
                <Name title={title} name={line.name} />
              </Cell>
              <CellText title={String(line.now)} />
              <CellText title={String(line.created)} />
              <CellText title={String(line.failed)} />
              <CellText title={line.hours.toFixed(1)} />
              <CellText title={String(line.peak)} />
              {priced && (
                <CellText
                  title={
                    line.cost === null
                      ? 'no price'
                      : `${line.cost.toFixed(2)} ${currency ?? ''}`.trim()
                  }
                />
              )}
            </Row>
          ))}
        </TableBody>
      </TableRoot>
      {more}
    </Scrolled>
  );
};

/** What previews took in a period, by team, person and agent. */
export const Usage = ({ service }: { service?: string }) => {
  const [period, setPeriod] = useState('168h');
  const usage = useLiveQuery({
    query: PreviewUsageDocument,
    variables: { period, service },
    every: 60_000,
  });
  return (
    <Flex direction="column" gap="4">
      <Select
        className={styles.select}
        label="Period"
        options={periods}
        value={period}
        onChange={chosen => setPeriod(String(chosen))}
      />
      <Answer
        of={usage}
        empty={{
          when: d =>
            !d.previewUsage?.total.created && !d.previewUsage?.total.now,
          text: 'No previews were there.',
        }}
      >
        {({ previewUsage: of }) =>
          of && (
            <>
              <Lines
                title="All"
                currency={of.currency}
                priced={of.total.cost !== null}
                lines={[of.total]}
              />
              <Lines
                title="Team"
                currency={of.currency}
                priced={of.total.cost !== null}
                lines={of.teams}
              />
              <Lines
                title="Person"
                currency={of.currency}
                priced={of.total.cost !== null}
                lines={of.people}
              />
              <Lines
                title="Agent"
                currency={of.currency}
                priced={of.total.cost !== null}
                lines={of.agents}
              />
            </>
          )
        }
      </Answer>
    </Flex>
  );
};
