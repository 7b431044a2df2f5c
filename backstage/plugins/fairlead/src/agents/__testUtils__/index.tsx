import { renderInTestApp } from '@backstage/frontend-test-utils';
import { entityRouteRef } from '@backstage/plugin-catalog-react';
import type { ReactElement } from 'react';
import { fairleadApiRef } from '../../client';
import { rootRouteRef } from '../../routes';
import { connectTo, type Answers } from '../../testing/connection';

/** A moment so many seconds from now. */
export const inSeconds = (seconds: number) =>
  new Date(Date.now() + seconds * 1_000).toISOString();

/** A request as Fairlead tells of it; an agent of Alice's wants checkout 1.5.0. */
export const approval = (change: object = {}) => ({
  __typename: 'Approval',
  id: 'r1',
  state: 'pending',
  action: 'gitops.propose',
  operation: 'propose_change',
  target: 'component:default/checkout',
  summary: 'Propose to deploy: checkout 1.5.0 in production',
  plan: {
    environment: 'production',
    diff: '--- values.yaml\n+++ values.yaml\n@@ -1 +1 @@\n-tag: 1.4.0\n+tag: 1.5.0\n',
    change: { image: { tag: '1.5.0' }, maxFailures: 2 },
    evidence: [],
  },
  planHash: 'sha256:abc',
  subject: 'user:default/alice',
  agent: 'claude-code',
  rule: 'protected-environments',
  approvers: ['group:default/payments', 'role:sre'],
  mayDecide: true,
  requestedAt: inSeconds(-60),
  expiresAt: inSeconds(3_600),
  decidedBy: null,
  decidedAt: null,
  reason: null,
  usedAt: null,
  ...change,
});

/** A page of requests. */
export const approvals = (
  items: object[],
  nextCursor: string | null = null,
) => ({
  data: { approvals: { __typename: 'ApprovalPage', nextCursor, items } },
});

/** Who looks at the page: Sam unless it is said otherwise. */
export const viewer = (
  subject = 'user:default/sam',
  actions = [
    { __typename: 'Permission', action: 'secrets.revoke', on: 'everything' },
  ],
) => ({
  data: {
    whoami: { __typename: 'Identity', subject, agent: null, actions },
  },
});

/** A refusal in Fairlead's words. */
export const refusal = (code: string, message: string, fix: string) => ({
  errors: [{ message, extensions: { code, fix } }],
});

/** Renders a page at an address, connected to answers in the place of a server. */
export function open(page: ReactElement, answers: Answers, at = '/') {
  const connection = connectTo(answers);
  renderInTestApp(page, {
    apis: [[fairleadApiRef, connection]],
    initialRouteEntries: [at],
    mountedRoutes: {
      '/catalog/:namespace/:kind/:name': entityRouteRef,
      '/fairlead': rootRouteRef,
    },
  });
  return connection;
}
