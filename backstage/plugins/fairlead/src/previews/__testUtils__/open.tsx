import { renderInTestApp } from '@backstage/frontend-test-utils';
import {
  EntityProvider,
  entityRouteRef,
} from '@backstage/plugin-catalog-react';
import { fairleadApiRef } from '../../client';
import {
  connectTo,
  type Answers,
  type TestConnection,
} from '../../testing/connection';
import type { Preview } from '../preview';
import { PreviewsPage } from '../PreviewsPage';
import { PreviewsTab } from '../PreviewsTab';

const soon = (minutes: number) =>
  new Date(Date.now() + minutes * 60_000).toISOString();

/** A preview of checkout that is ready, or is what it is told to be. */
export const previewOf = (given: Partial<Preview> = {}) => ({
  __typename: 'Preview',
  id: 'checkout-1',
  service: 'component:default/checkout',
  revision: 'main',
  commit: '81f35469d5b6dc1704c438f7a35d04972550ab2d',
  phase: 'ready',
  reason: 'It answers.',
  since: soon(-1),
  url: null,
  expiresAt: soon(90),
  endsSoon: false,
  createdAt: soon(-2),
  person: 'user:default/alice',
  agent: null,
  deployer: 'local',
  position: null,
  remains: [],
  ...given,
});

/** An answer to the list of previews. */
export const page = (items: object[], nextCursor: string | null = null) => ({
  data: {
    previewEnvironments: { __typename: 'PreviewPage', nextCursor, items },
  },
});

/** An answer that tells of a fault. */
export const refused = (
  code: string,
  message: string,
  fix: string,
  details = {},
) => ({
  data: null,
  errors: [{ message, extensions: { code, fix, details } }],
});

/** An answer to the search for revisions. */
export const revisions = (branches: string[], commits: string[] = []) => {
  const list = (names: string[]) => ({
    __typename: 'RevisionList',
    items: names.map(name => ({
      __typename: 'Revision',
      name,
      title: `Title of ${name}`,
      author: 'Bob',
      at: null,
    })),
  });
  return {
    data: {
      revisions: {
        __typename: 'Revisions',
        defaultBranch: 'main',
        branches: list(branches),
        tags: list([]),
        commits: list(commits),
      },
    },
  };
};

/** What the person who looks may do. */
export const rights = (...actions: string[]) => ({
  data: {
    whoami: {
      __typename: 'Identity',
      subject: 'user:default/sam',
      actions: actions.map(action => ({ __typename: 'Permission', action })),
    },
  },
});

function render(
  element: JSX.Element,
  answers: Answers,
  path = '/',
): TestConnection {
  const connection = connectTo({
    Viewer: () => rights(),
    Revisions: () => revisions([]),
    ...answers,
  });
  renderInTestApp(element, {
    apis: [[fairleadApiRef, connection]],
    mountedRoutes: { '/catalog/:namespace/:kind/:name': entityRouteRef },
    initialRouteEntries: [path],
  });
  return connection;
}

const checkout = {
  apiVersion: 'backstage.io/v1alpha1',
  kind: 'Component',
  metadata: { name: 'checkout', namespace: 'default' },
};

/** Opens the tab of checkout. */
export const openTab = (answers: Answers, path?: string) =>
  render(
    <EntityProvider entity={checkout}>
      <PreviewsTab />
    </EntityProvider>,
    answers,
    path,
  );

/** Opens the page of all previews. */
export const openPage = (answers: Answers, path?: string) =>
  render(<PreviewsPage />, answers, path);
