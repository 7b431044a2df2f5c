import {
  Accordion,
  AccordionPanel,
  AccordionTrigger,
  Flex,
  Text,
} from '@backstage/ui';
import { Long, Mark, When, type Goodness } from '../../parts';
import { Items, Revision } from '../Facts';
import { nameOf, short } from '../words';
import type { HealthAnswer } from './Health';

const phases: Record<string, Goodness> = {
  Succeeded: 'good',
  Running: 'busy',
  Terminating: 'busy',
  Failed: 'bad',
  Error: 'bad',
};

const Operation = ({ of }: { of: NonNullable<HealthAnswer['operation']> }) => (
  <Flex direction="column" gap="1">
    <Text as="p">
      Last sync: <Mark is={phases[of.phase] ?? 'unknown'}>{of.phase}</Mark>
      {of.revision && ` ${short(of.revision)}`}
      {(of.finishedAt ?? of.startedAt) && (
        <>
          {' '}
          <When at={(of.finishedAt ?? of.startedAt)!} />
        </>
      )}
      , {of.by ? `asked for by ${nameOf(of.by)}` : 'by Argo CD itself'}
    </Text>
    {of.message && (
      <Text as="p" variant="body-small" color="secondary">
        <Long>{of.message}</Long>
      </Text>
    )}
  </Flex>
);

/** The last sync, and the revisions that were synced before. */
export const History = ({ of }: { of: HealthAnswer }) =>
  of.operation || of.history.length > 0 ? (
    <Accordion>
      <AccordionTrigger title="Syncs" />
      <AccordionPanel>
        <Flex direction="column" gap="3">
          {of.operation && <Operation of={of.operation} />}
          <Items label="Revisions that were synced">
            {of.history.map(h => (
              <li key={`${h.revision} ${h.at}`}>
                <Revision
                  of={h.revision}
                  what={`revision ${short(h.revision)}`}
                />
                {h.at && (
                  <>
                    {' '}
                    <When at={h.at} />
                  </>
                )}
                {h.by && `, by ${nameOf(h.by)}`}
              </li>
            ))}
          </Items>
        </Flex>
      </AccordionPanel>
    </Accordion>
  ) : null;
