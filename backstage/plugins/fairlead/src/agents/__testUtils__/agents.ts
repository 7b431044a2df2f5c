import type { Answers } from '../../testing/connection';
import { approvals, inSeconds, refusal, viewer } from '.';

/** An act as the record has it: one that an agent of Alice's did. */
export const entry = (change: object = {}) => ({
  __typename: 'AuditEntry',
  id: 'a1',
  time: inSeconds(-120),
  action: 'gitops.propose',
  operation: 'propose_change',
  target: 'component:default/checkout',
  subject: 'user:default/alice',
  agent: 'claude-code',
  input: null,
  rule: 'act-on-own',
  approval: null,
  status: 'ok',
  code: null,
  message: null,
  took: '1s',
  ...change,
});

/** An agent of Alice's, as the record has it. */
export const acting = (change: object = {}) => ({
  __typename: 'ActingAgent',
  agent: 'claude-code',
  subjects: ['user:default/alice'],
  subjectCount: 1,
  acts: 1,
  refused: 0,
  last: entry(),
  ...change,
});

/** A credential on loan to an agent of Alice's. */
export const lease = (change: object = {}) => ({
  __typename: 'Lease',
  lease: 'l1',
  service: 'component:default/orders',
  name: 'db-readonly',
  environment: 'staging',
  state: 'live',
  expiresAt: inSeconds(90),
  person: 'user:default/alice',
  agent: 'claude-code',
  purpose: 'debugging',
  boundTo: null,
  overdue: false,
  alarm: false,
  ...change,
});

/** A preview that an agent of Bob's has running. */
export const preview = {
  __typename: 'Preview',
  id: 'p1',
  service: 'component:default/checkout',
  revision: 'fix-orders',
  phase: 'ready',
  url: null,
  expiresAt: inSeconds(600),
  person: 'user:default/bob',
  agent: 'codex',
};

/** A page of things under the name of a query. */
export const list = (
  name: string,
  type: string,
  items: object[],
  more = false,
) => ({
  data: {
    [name]: { __typename: type, nextCursor: more ? 'more' : null, items },
  },
});

const noVault = refusal(
  'failed_precondition',
  'no vault is configured here',
  'Add it.',
);

/** What a server answers that Sam asks of agents. */
export function serve(change: Answers = {}): Answers {
  return {
    Viewer: () =>
      viewer('user:default/sam', [
        {
          __typename: 'Permission',
          action: 'secrets.revoke',
          on: 'everything',
        },
        { __typename: 'Permission', action: 'audit.read', on: 'everything' },
      ]),
    ActingAgents: () => list('agents', 'AgentPage', [acting()]),
    Acts: () => list('audit', 'AuditPage', [entry()]),
    HeldLeases: () => list('credentials', 'LeasePage', [lease()]),
    HeldPreviews: () => list('previewEnvironments', 'PreviewPage', [preview]),
    OpenProposals: () => list('proposals', 'ProposalPage', []),
    Approvals: () => approvals([]),
    ...change,
  };
}

/** Answers where there is nothing, nor anything that lends credentials. */
export const nothing: Answers = {
  ActingAgents: () => list('agents', 'AgentPage', []),
  Acts: () => list('audit', 'AuditPage', []),
  HeldLeases: () => noVault,
  HeldPreviews: () => list('previewEnvironments', 'PreviewPage', []),
};
