import {
  Accordion,
  AccordionPanel,
  AccordionTrigger,
  Button,
  Flex,
} from '@backstage/ui';
import { useEffect, useState } from 'react';
import { useLiveQuery } from '../../client';
import { Answer, useParam } from '../../parts';
import { Opening } from '../Opening';
import { nameOf } from '../words';
import { ProposalDetails } from './ProposalDetails';
import {
  ProposalChangesDocument,
  ProposalsDocument,
  type ProposalsQuery,
  type ProposalsQueryVariables,
} from './proposals.generated';
import { standing } from './steps';

type Listed = NonNullable<ProposalsQuery['proposals']>['items'][number];

/** The parameter of the address with the id of the one that is open. */
export const parameter = 'proposal';

const Proposal = ({ of, named }: { of: Listed; named: boolean }) => {
  const [good, word] = standing(of);
  const where = [
    named && of.service && nameOf(of.service),
    of.environment,
  ].filter(Boolean);
  return (
    <Opening
      of={of}
      name={parameter}
      is={good}
      state={word}
      about={where.length ? `${of.kind} of ${where.join(' in ')}` : of.kind}
    >
      <ProposalDetails id={of.id} />
    </Opening>
  );
};

type Filters = Omit<ProposalsQueryVariables, 'after'>;

interface PageProps {
  filters: Filters;
  after?: string;
  /** Told which are shown, and where they go on. */
  shown(ids: string[], next: string | null): void;
}

/** One page of them, that stays as new as the server's. */
const Page = ({ filters, after, shown }: PageProps) => {
  const { service } = filters;
  const page = useLiveQuery({
    query: ProposalsDocument,
    variables: { ...filters, after },
    changes: [{ query: ProposalChangesDocument, variables: { service } }],
  });
  const found = page.data?.proposals;
  const ids = found?.items.map(p => p.id).join(' ');
  useEffect(() => {
    if (found)
      shown(
        found.items.map(p => p.id),
        found.nextCursor,
      );
    // The same page is told once.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [ids, found?.nextCursor]);
  return (
    <Answer
      of={page}
      empty={{
        when: d => !after && !d.proposals?.items.length,
        text: 'No changes are proposed.',
      }}
    >
      {d => (
        <Flex direction="column" gap="2">
          {d.proposals?.items.map(p => (
            <Proposal key={p.id} of={p} named={!service} />
          ))}
        </Flex>
      )}
    </Answer>
  );
};

interface Shown {
  ids: string[];
  next: string | null;
}

/** One that was asked for by the address, and is on none of the pages. */
const Elsewhere = ({ id }: { id: string }) => {
  const [, open] = useParam(parameter);
  return (
    <Accordion isExpanded onExpandedChange={() => open()}>
      <AccordionTrigger title={`Proposal ${id}`} />
      <AccordionPanel>
        <ProposalDetails id={id} />
      </AccordionPanel>
    </Accordion>
  );
};

/** Proposals, newest first, each with all of it when it is opened. */
export const Proposals = ({ filters }: { filters: Filters }) => {
  const [pages, setPages] = useState<(string | undefined)[]>([undefined]);
  const [shown, setShown] = useState<Record<string, Shown>>({});
  const [opened] = useParam(parameter);
  const last = shown[pages[pages.length - 1] ?? ''];
  const seen = Object.values(shown).flatMap(s => s.ids);
  return (
    <Flex direction="column" gap="2">
      {opened && last && !seen.includes(opened) && (
        <Elsewhere key={opened} id={opened} />
      )}
      {pages.map(after => (
        <Page
          key={after ?? ''}
          filters={filters}
          after={after}
          shown={(ids, next) =>
            setShown(was => ({ ...was, [after ?? '']: { ids, next } }))
          }
        />
      ))}
      {last?.next && (
        <div>
          <Button
            variant="secondary"
            onPress={() => setPages([...pages, last.next!])}
          >
            More
          </Button>
        </div>
      )}
    </Flex>
  );
};
