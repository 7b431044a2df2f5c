import {
  Cell,
  Column,
  Flex,
  Link,
  Row,
  TableBody,
  TableHeader,
  TableRoot,
  Text,
} from '@backstage/ui';
import { useLiveQuery, useViewer } from '../client';
import { Long, Scrolled, Answer, Pager, usePaging, When } from '../parts';
import { ActFilters, useActFilter } from './ActFilters';
import styles from './agents.module.css';
import {
  ActsChangeDocument,
  ActsDocument,
  type ActFragment,
} from './agents.generated';
import { Ref, Who } from './Fields';
import { useApprovalHref } from './links';
import { State } from './State';

/** How an act ended; of what did not go well, why, and by which rule. */
const Outcome = ({ of: act }: { of: ActFragment }) => {
  const href = useApprovalHref();
  const bad = act.status === 'refused' || act.status === 'failed';
  const waits = act.code === 'approval_required'; // its request tells more
  const said = [
    act.rule && ` by rule ${act.rule}`,
    act.message && `: ${act.message}`,
  ]
    .filter(Boolean)
    .join('');
  return (
    <Flex direction="column" gap="1">
      <State of={act.status} />
      {bad && (
        <Text variant="body-small">
          <strong>{act.code}</strong>
          {!waits && <Long>{said}</Long>}
        </Text>
      )}
      {act.approval && (
        <Link href={href(act.approval)} variant="body-small">
          Request for approval
        </Link>
      )}
    </Flex>
  );
};

const ActRow = ({ of: act }: { of: ActFragment }) => (
  <Row id={act.id}>
    <Cell>
      <When at={act.time} />
    </Cell>
    <Cell>
      <Text>{act.operation ?? act.action}</Text>
      {act.operation && (
        <Text as="p" variant="body-small" color="secondary">
          {act.action}
        </Text>
      )}
    </Cell>
    <Cell className={styles.wrap}>{act.target && <Ref of={act.target} />}</Cell>
    <Cell>
      <Who {...act} />
    </Cell>
    <Cell className={styles.wrap}>
      <Outcome of={act} />
    </Cell>
  </Row>
);

/** A name of an agent; any is none in particular. */
const named = (agent: string) => (agent === '*' ? undefined : agent);

/** The record of acts, newest first; of an agent or on a thing where it is one. */
export const Acts = (props: { agent?: string; target?: string }) => {
  const { agent, target } = props;
  const [filter, change] = useActFilter();
  const chosen = { agent: '*', ...filter, ...props };
  const paging = usePaging(JSON.stringify(chosen));
  const viewer = useViewer();
  const acts = useLiveQuery({
    query: ActsDocument,
    variables: { ...chosen, first: 50, after: paging.after },
    changes: [
      {
        query: ActsChangeDocument,
        variables: { subject: chosen.subject, agent: named(chosen.agent) },
      },
    ],
  });
  const readsAll = viewer.data?.whoami?.actions.some(
    a => a.action === 'audit.read' && a.on === 'everything',
  );
  return (
    <Flex direction="column" gap="3">
      <Text as="h2" variant="title-small">
        {agent ? 'What it did' : 'What agents did'}
      </Text>
      <ActFilters
        filter={filter}
        onChange={change}
        hide={[
          ...(agent ? ['agent' as const] : []),
          ...(target ? ['target' as const] : []),
        ]}
      />
      {viewer.data && !readsAll && (
        <Text color="secondary">
          These are acts done for you; those of others are for people on call.
        </Text>
      )}
      <Answer
        of={acts}
        empty={{
          when: d => d.audit?.items.length === 0 && !paging.newer,
          text: 'No acts are on record that match.',
        }}
      >
        {data => (
          <>
            <Scrolled>
              <TableRoot aria-label="Acts">
                <TableHeader>
                  <Column>When</Column>
                  <Column isRowHeader>Act</Column>
                  <Column>On</Column>
                  <Column>Who</Column>
                  <Column className={styles.outcome}>Outcome</Column>
                </TableHeader>
                <TableBody>
                  {data.audit?.items.map(act => (
                    <ActRow key={act.id} of={act} />
                  ))}
                </TableBody>
              </TableRoot>
            </Scrolled>
            <Pager of={paging} next={data.audit?.nextCursor} what="acts" />
          </>
        )}
      </Answer>
    </Flex>
  );
};
