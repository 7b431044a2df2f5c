import { renderInTestApp } from '@backstage/frontend-test-utils';
import {
  EntityProvider,
  entityRouteRef,
} from '@backstage/plugin-catalog-react';
import type { ReactElement } from 'react';
import { fairleadApiRef } from '../../client';
import { connectTo, type Answers } from '../../testing/connection';

const entity = {
  apiVersion: 'backstage.io/v1alpha1',
  kind: 'Component',
  metadata: { name: 'checkout', namespace: 'default' },
};

/** Shows something of the component checkout in an app, at an address. */
export function show(element: ReactElement, answers: Answers, at = '/') {
  const connection = connectTo(answers);
  renderInTestApp(<EntityProvider entity={entity}>{element}</EntityProvider>, {
    apis: [[fairleadApiRef, connection]],
    mountedRoutes: { '/catalog/:namespace/:kind/:name': entityRouteRef },
    initialRouteEntries: [at],
  });
  return connection;
}

/** What a server says that does not do it. */
export const refused = (
  code: string,
  message: string,
  fix: string,
  details?: object,
) => ({ errors: [{ message, extensions: { code, fix, details } }] });

export const diff = `--- a/apps/checkout/kustomization.yaml
+++ b/apps/checkout/kustomization.yaml
@@ -1,3 +1,3 @@
 images:
-    newTag: "1.4.0"
+    newTag: "1.5.0"
`;

const hash = `sha256:${'1'.repeat(64)}`;

/** A change that is planned. */
export const planned = {
  __typename: 'Proposal',
  id: '',
  kind: 'change',
  title: 'checkout 1.5.0 in staging',
  state: 'planned',
  repository: 'https://git.shop.test/shop/deploy',
  base: 'main',
  branch: null,
  url: null,
  paths: ['apps/checkout/kustomization.yaml'],
  notes: [] as string[],
  next: 'Ask again without dry_run to propose it.',
  plan: { __typename: 'ProposalPlan', hash, diff, omitted: null },
  rendered: null as object | null,
};

const follow = {
  __typename: 'ProposalFollow',
  merged: null,
  mergedAt: null,
  closedAt: null,
  synced: null,
  syncedAt: null,
  healthy: null,
  healthyAt: null,
  degradedAt: null,
  grounds: [] as string[],
  rolledBack: null as object | null,
  window: null as object | null,
  waits: null as string | null,
  outcome: null as string | null,
  endedAt: null,
};

/** How far a proposal has come, besides that it was opened. */
export type Came = Partial<Record<keyof typeof follow, unknown>>;

/** A proposal with an open pull request. */
export const proposal = (came: Came = {}, more: object = {}) => ({
  ...planned,
  id: 'p1',
  state: 'open',
  branch: 'fairlead/p1',
  url: 'https://git.shop.test/shop/deploy/pulls/7',
  service: 'component:default/checkout',
  environment: 'staging',
  person: 'user:default/alice',
  agent: 'claude' as string | null,
  reason: 'the fix for orders',
  evidence: ['tests: https://ci.shop.test/7.'],
  createdAt: '2026-11-30T08:00:00Z',
  updatedAt: null,
  checkedAt: '2026-11-30T08:01:00Z',
  commit: 'a'.repeat(40),
  approved: [],
  rejected: [],
  checks: [],
  stateThen: null,
  blocking: [] as object[],
  next: 'Wait for people to merge it.',
  follow: { ...follow, ...came },
  ...more,
});

/** A page of the list. */
export const pageOf = (items: object[], nextCursor: string | null = null) => ({
  data: { proposals: { __typename: 'ProposalPage', nextCursor, items } },
});
