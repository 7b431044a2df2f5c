import {
  Cell,
  CellText,
  Column,
  Link,
  Row,
  TableBody,
  TableHeader,
  TableRoot,
} from '@backstage/ui';
import { Scrolled, Countdown, useNow, When } from '../parts';
import styles from './agents.module.css';
import type { ApprovalInShortFragment } from './approvals.generated';
import { useApprovalHref } from './links';
import { stateAt, StateNow } from './Request';
import { actorOf, nameOf } from './words';

/** When a request ends, or what ended it. */
const End = ({ of: r }: { of: ApprovalInShortFragment }) => {
  const state = stateAt(r, useNow(1_000));
  if (state === 'used' && r.usedAt) {
    return (
      <>
        used <When at={r.usedAt} />
      </>
    );
  }
  if (state === 'denied' && r.decidedAt) return <When at={r.decidedAt} />;
  if (!r.expiresAt) return null;
  return state === 'expired' ? (
    <When at={r.expiresAt} />
  ) : (
    <>
      in <Countdown at={r.expiresAt} />
    </>
  );
};

/** Requests in a table; each leads to its page. */
export const ApprovalTable = (props: {
  of: ApprovalInShortFragment[];
  label: string;
  /** Some of them have been decided on: by whom is shown. */
  decided?: boolean;
}) => {
  const href = useApprovalHref();
  return (
    <Scrolled>
      <TableRoot aria-label={props.label}>
        <TableHeader>
          <Column isRowHeader className={styles.what}>
            What
          </Column>
          <Column>State</Column>
          <Column>Asked by</Column>
          <Column>Asked</Column>
          {props.decided && <Column>Decided by</Column>}
          <Column>Ends</Column>
        </TableHeader>
        <TableBody>
          {props.of.map(r => (
            <Row key={r.id} id={r.id}>
              <Cell className={styles.wrap}>
                <Link href={href(r.id)}>{r.summary}</Link>
              </Cell>
              <Cell>
                <StateNow of={r} />
              </Cell>
              <Cell className={styles.wrap}>{actorOf(r)}</Cell>
              <Cell>{r.requestedAt && <When at={r.requestedAt} />}</Cell>
              {props.decided && (
                <CellText title={r.decidedBy ? nameOf(r.decidedBy) : ''} />
              )}
              <Cell>
                <End of={r} />
              </Cell>
            </Row>
          ))}
        </TableBody>
      </TableRoot>
    </Scrolled>
  );
};
