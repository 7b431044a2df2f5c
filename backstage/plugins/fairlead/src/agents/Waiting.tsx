import {
  Card,
  CardBody,
  CardFooter,
  CardHeader,
  Flex,
  Link,
  Text,
} from '@backstage/ui';
import { useLiveQuery } from '../client';
import { Answer, Countdown, useSome, When } from '../parts';
import {
  WaitingApprovalsDocument,
  type ApprovalInWholeFragment,
} from './approvals.generated';
import { Decide } from './Decide';
import { Who } from './Fields';
import { useApprovalHref } from './links';
import { Request } from './Request';
import { approvalChanges } from './requests';
import { useRefreshAt } from './useRefreshAt';
import styles from '../parts/long.module.css';

interface Deciding {
  /** Is called with what was done. */
  onDone: (what: string) => void;
}

const WaitingRequest = (props: { of: ApprovalInWholeFragment } & Deciding) => {
  const { of: r, onDone } = props;
  const href = useApprovalHref();
  return (
    <Card aria-label={r.summary} role="region" className={styles.long}>
      <CardHeader>
        <Flex direction="column" gap="1">
          <Text as="h3" variant="title-x-small">
            <Link href={href(r.id)} variant="title-x-small" color="primary">
              {r.summary}
            </Link>
          </Text>
          <Text color="secondary">
            <Who {...r} />
            {r.requestedAt && (
              <>
                {' '}
                asked <When at={r.requestedAt} />
              </>
            )}
            {r.expiresAt && (
              <>
                ; ends in <Countdown at={r.expiresAt} />
              </>
            )}
          </Text>
        </Flex>
      </CardHeader>
      <CardBody>
        <Request of={r} known />
      </CardBody>
      <CardFooter>
        <Decide id={r.id} summary={r.summary} onDone={onDone} />
      </CardFooter>
    </Card>
  );
};

const Requests = (props: { of: ApprovalInWholeFragment[] } & Deciding) => {
  const [some, more] = useSome(props.of, 10); // plans may be long
  return (
    <>
      {some.map(r => (
        <WaitingRequest key={r.id} of={r} onDone={props.onDone} />
      ))}
      {more}
    </>
  );
};

/** The requests that the viewer may decide on now. */
export const Waiting = ({ onDone }: Deciding) => {
  const waiting = useLiveQuery({
    query: WaitingApprovalsDocument,
    variables: {},
    changes: approvalChanges,
  });
  useRefreshAt(
    waiting.data?.approvals?.items.map(r => r.expiresAt) ?? [],
    waiting.refresh,
  );
  return (
    <Flex direction="column" gap="3">
      <Text as="h2" variant="title-small">
        Waiting for you
      </Text>
      <Answer
        of={waiting}
        empty={{
          when: d => d.approvals?.items.length === 0,
          text: 'Nothing waits for you. A new request appears here by itself.',
        }}
      >
        {data => (
          <>
            <Requests
              of={data.approvals?.items ?? []}
              onDone={what => {
                onDone(what);
                waiting.refresh();
              }}
            />
            {data.approvals?.nextCursor && (
              <Text color="secondary">
                These are the newest; older ones come when some are decided on.
              </Text>
            )}
          </>
        )}
      </Answer>
    </Flex>
  );
};
