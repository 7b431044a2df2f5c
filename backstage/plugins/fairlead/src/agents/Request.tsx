import { Flex, Text } from '@backstage/ui';
import { CopyButton, Countdown, useNow, When } from '../parts';
import styles from './agents.module.css';
import type { ApprovalInWholeFragment } from './approvals.generated';
import { Fields, Ref, Who } from './Fields';
import { Plan } from './Plan';
import { State } from './State';
import { eitherOf } from './words';

type Moments = { state: string; expiresAt: string | null };

/** The state by now: what was not used in time has expired. */
export function stateAt({ state, expiresAt }: Moments, now: Date): string {
  const open = state === 'pending' || state === 'granted';
  return open && expiresAt && new Date(expiresAt) <= now ? 'expired' : state;
}

/** The state of a request by now. */
export const StateNow = (props: { of: Moments }) => (
  <State of={stateAt(props.of, useNow(1_000))} />
);

/** What comes next of a request that has been decided on. */
export const Next = (props: { of: ApprovalInWholeFragment }) => {
  const { of: r } = props;
  switch (stateAt(r, useNow(1_000))) {
    case 'granted':
      return (
        <Text>
          It may be done once: whoever asked does the same again, before it
          ends.
        </Text>
      );
    case 'denied':
      return <Text>The same can be asked for again after it ends.</Text>;
    case 'expired':
      return <Text>Nobody used it in time. It can be asked for again.</Text>;
    default:
      return null;
  }
};

/** Why the viewer cannot decide on a request; undefined where they can. */
export function whyNot(
  r: ApprovalInWholeFragment,
  viewer: { subject: string; agent: string | null } | null | undefined,
  now: Date,
): string | undefined {
  if (stateAt(r, now) !== 'pending' || r.mayDecide || !viewer) return undefined;
  const by = eitherOf(r.approvers);
  if (viewer.agent) {
    return `Only persons approve, not agents: a person of ${by} has to.`;
  }
  if (viewer.subject === r.subject) {
    return by
      ? `You asked for this yourself, and nobody approves their own: another person of ${by} has to.`
      : 'You asked for this yourself, and nobody else is named who could approve it.';
  }
  return by
    ? `It is for ${by} to decide.`
    : 'Nobody can decide on it, as what it is about has no owner.';
}

/** All of a request: who wants what, by which rule, and the plan with its diff. */
export const Request = ({ of: r }: { of: ApprovalInWholeFragment }) => (
  <Flex direction="column" gap="4">
    <Fields
      of={[
        ['State', <StateNow key="" of={r} />],
        ['Asked by', <Who key="" {...r} />],
        ['Asked', r.requestedAt && <When at={r.requestedAt} />],
        r.state !== 'used' && [
          'Ends in',
          r.expiresAt && <Countdown at={r.expiresAt} />,
        ],
        ['Act', `${r.action} (${r.operation})`],
        ['On', r.target && <Ref of={r.target} />],
        ['Rule', r.rule],
        [
          'Approvers',
          r.approvers.length > 0 &&
            r.approvers.map((a, n) => (
              <span key={a}>
                {n > 0 && ', '}
                <Ref of={a} />
              </span>
            )),
        ],
        ['Decided by', r.decidedBy && <Ref of={r.decidedBy} />],
        ['Decided', r.decidedAt && <When at={r.decidedAt} />],
        ['Reason', r.reason],
        ['Used', r.usedAt && <When at={r.usedAt} />],
        [
          'Plan',
          <span key="" className={styles.code}>
            {r.planHash} <CopyButton text={r.planHash} what="the plan's hash" />
          </span>,
        ],
        ['Request', r.id],
      ]}
    />
    <Text as="h4" variant="title-x-small">
      What would be done
    </Text>
    <Plan of={r.plan} />
  </Flex>
);
