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

const Approvers = ({ of }: { of: string[] }) => (
  <>
    {of.map((approver, n) => (
      <span key={approver}>
        {n > 0 && ', '}
        <Ref of={approver} />
      </span>
    ))}
  </>
);

/** How far a request has come, and who had a part in that. */
const Course = ({ of: r }: { of: ApprovalInWholeFragment }) => (
  <Fields
    of={[
      ['State', <StateNow key="" of={r} />],
      ['Asked by', <Who key="" {...r} />],
      ['Asked', r.requestedAt && <When at={r.requestedAt} />],
      ['Decided by', r.decidedBy && <Ref of={r.decidedBy} />],
      ['Decided', r.decidedAt && <When at={r.decidedAt} />],
      ['Reason', r.reason],
      ['Used', r.usedAt && <When at={r.usedAt} />],
      r.state !== 'used' && [
        'Ends in',
        r.expiresAt && <Countdown at={r.expiresAt} />,
      ],
    ]}
  />
);

/** What a request is about, by the words of policy. */
const About = ({ of: r }: { of: ApprovalInWholeFragment }) => (
  <Fields
    of={[
      ['Act', `${r.action} (${r.operation})`],
      ['On', r.target && <Ref of={r.target} />],
      ['Rule', r.rule],
      ['Approvers', r.approvers.length > 0 && <Approvers of={r.approvers} />],
      [
        'Plan',
        <span key="" className={styles.code}>
          {r.planHash} <CopyButton text={r.planHash} what="the plan's hash" />
        </span>,
      ],
      ['Request', r.id],
    ]}
  />
);

const Title = ({ children }: { children: string }) => (
  <Text as="h4" variant="body-large" weight="bold">
    {children}
  </Text>
);

/** All of a request: who wants what, the plan with its diff, by which rule. */
export const Request = (props: {
  of: ApprovalInWholeFragment;
  /** Who asked, and until when it stands, is shown already. */
  known?: boolean;
}) => (
  <Flex direction="column" gap="4">
    {!props.known && <Course of={props.of} />}
    <Title>What would be done</Title>
    <Plan of={props.of.plan} />
    <Title>Why it is asked</Title>
    <About of={props.of} />
  </Flex>
);
