import { renderInTestApp } from '@backstage/frontend-test-utils';
import { catalogApiRef, entityRouteRef } from '@backstage/plugin-catalog-react';
import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { fairleadApiRef } from '../client';
import { openCatalog } from '../testing/catalog';
import { connectTo, type Answers } from '../testing/connection';
import { HealthPage } from './HealthPage';

const repo = 'https://github.com/acme/orders';
const mine = 'group:default/payments';

const problem = (message: string, more: object = {}) => ({
  __typename: 'IngestionError',
  severity: 'error',
  name: 'InputError',
  message,
  fix: 'Remove one of the two.',
  file: 'catalog-info.yaml',
  line: 24,
  column: 3,
  ref: null,
  source: 'orders',
  owner: mine,
  firstSeen: {
    __typename: 'Sighting',
    commit: 'abc',
    at: new Date(Date.now() - 7_200_000).toISOString(),
  },
  lastSeen: { __typename: 'Sighting', commit: 'abc', at: null },
  entity: null,
  ...more,
});

const problems = (items: object[], more: object = {}) => ({
  data: {
    ingestionErrors: {
      __typename: 'IngestionErrors',
      total: items.length,
      nextCursor: null,
      items,
      ...more,
    },
  },
});

const source = (name: string, more: object = {}) => ({
  __typename: 'SourceStatus',
  name,
  type: 'git',
  url: repo,
  state: 'ok',
  commit: 'abc',
  error: null,
  fix: null,
  checked: { __typename: 'Sighting', at: new Date().toISOString() },
  changed: { __typename: 'Sighting', commit: 'abc', at: null },
  files: 1,
  entities: 2,
  problems: 0,
  ...more,
});

const aged = (ref: string, more: object = {}) => ({
  __typename: 'StaleEntity',
  ref,
  reason: 'file',
  message: 'the owner is missing',
  fix: 'Write who owns it.',
  staleSince: '0123456789abcdef',
  since: new Date(Date.now() - 7_200_000).toISOString(),
  owner: mine,
  source: 'orders',
  file: 'catalog-info.yaml',
  line: 12,
  ...more,
});

const stale = (items: object[], more: object = {}) => ({
  data: {
    staleEntities: {
      __typename: 'StaleEntities',
      total: items.length,
      nextCursor: null,
      items,
      ...more,
    },
  },
});

const total = { things: 28, declared: 20, inferred: 6, missing: 2, stale: 0 };

const usual: Answers = {
  Viewer: () => ({
    data: {
      whoami: {
        __typename: 'Identity',
        subject: 'user:default/a',
        groups: [mine],
      },
    },
  }),
  Problems: () => problems([]),
  Health: () => ({
    data: {
      catalogHealth: {
        __typename: 'CatalogHealth',
        errors: 3,
        warnings: 1,
        conflicts: 1,
        stale: 2,
        broken: 1,
      },
    },
  }),
  Broken: () => ({
    data: {
      brokenRelations: {
        __typename: 'BrokenRelations',
        total: 1,
        nextCursor: null,
        items: [
          {
            __typename: 'BrokenRelation',
            ref: 'component:default/ledger',
            type: 'dependsOn',
            target: 'component:default/gone',
            owner: mine,
            source: 'orders',
            file: 'catalog-info.yaml',
            line: 9,
            fix: 'Describe it, or remove the relation.',
          },
        ],
      },
    },
  }),
  Stale: () => stale([]),
  Sources: () => ({
    data: { sources: { __typename: 'Sources', items: [source('orders')] } },
  }),
  Known: () => ({
    data: {
      coverage: {
        __typename: 'Coverage',
        all: {
          __typename: 'CoverageTotal',
          services: 4,
          percent: 92,
          ...total,
        },
        teams: [
          {
            __typename: 'CoverageTotal',
            owner: mine,
            services: 4,
            percent: 92,
            ...total,
          },
        ],
      },
    },
  }),
  Missing: () => ({
    data: {
      coverage: {
        __typename: 'Coverage',
        total: 1,
        nextCursor: null,
        items: [
          {
            __typename: 'ServiceCoverage',
            ref: 'component:default/ledger',
            things: [
              {
                __typename: 'CoverageThing',
                name: 'oncall',
                state: 'missing',
                stale: null,
              },
            ],
            add: [
              {
                __typename: 'CoverageAddition',
                things: ['oncall'],
                repo,
                file: 'catalog-info.yaml',
                line: 28,
                column: null,
                lines: '    oncall: {url: "https://pager.example.com"}',
              },
            ],
          },
        ],
      },
    },
  }),
};

function open(answers: Answers = {}) {
  const connection = connectTo({ ...usual, ...answers });
  renderInTestApp(<HealthPage />, {
    apis: [
      [fairleadApiRef, connection],
      [catalogApiRef, openCatalog().api],
    ],
    mountedRoutes: { '/catalog/:namespace/:kind/:name': entityRouteRef },
  });
  return connection;
}

describe('HealthPage', () => {
  it('shows what is mine first, where it is and how to put it right', async () => {
    const connection = open({
      Problems: () => problems([problem('the key is written twice')]),
    });
    expect(
      await screen.findByText('the key is written twice'),
    ).toBeInTheDocument();
    expect(screen.getByText('Remove one of the two.')).toBeInTheDocument();
    expect(
      screen.getByRole('link', { name: 'catalog-info.yaml:24:3' }),
    ).toHaveAttribute('href', `${repo}/blob/abc/catalog-info.yaml#L24`);
    expect(screen.getByText('2 hours ago')).toBeInTheDocument();
    const asked = connection.asked.filter(({ name }) => name === 'Problems');
    expect(new Set(asked.map(({ variables }) => variables.owner))).toEqual(
      new Set([mine]),
    );
  });

  it('asks for ten of many teams at a time', async () => {
    const groups = Array.from({ length: 14 }, (_, n) => `group:default/g${n}`);
    const { asked } = open({
      Viewer: () => ({
        data: {
          whoami: { __typename: 'Identity', subject: 'user:default/a', groups },
        },
      }),
    });
    const owners = () =>
      new Set(
        asked
          .filter(({ name }) => name === 'Problems')
          .map(({ variables }) => variables.owner),
      );
    const more = await screen.findByRole('button', { name: 'Show 4 more' });
    await waitFor(() => expect(owners().size).toBe(10));
    await userEvent.click(more);
    await waitFor(() => expect(owners()).toEqual(new Set(groups)));
  });

  it('shows everybody’s, a page at a time', async () => {
    const user = userEvent.setup();
    const connection = open({
      Problems: ({ owner, after }) =>
        owner
          ? problems([])
          : problems([problem(after ? 'the last' : 'the first')], {
              total: 10_000,
              nextCursor: after ? null : 'next',
            }),
    });
    await user.click(
      await screen.findByRole('button', { name: 'Show everybody’s' }),
    );
    expect(await screen.findByText('the first')).toBeInTheDocument();
    expect(screen.getByText('10000 problems')).toBeInTheDocument();
    const pages = screen.getByRole('group', { name: 'Pages of problems' });
    await user.click(within(pages).getByRole('button', { name: 'Older' }));
    expect(await screen.findByText('the last')).toBeInTheDocument();
    const sizes = connection.asked
      .filter(({ name }) => name === 'Problems')
      .map(({ variables }) => variables.first);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(25);
  });

  it('shows problems of one kind', async () => {
    const user = userEvent.setup();
    const connection = open();
    const filter = await screen.findByRole('button', { name: /^Any Kind$/ });
    for (const [name, severity, of] of [
      ['Warnings', 'warning', null],
      ['Conflicts', null, 'ConflictError'],
    ]) {
      await user.click(filter);
      await user.click(await screen.findByRole('option', { name: `${name}` }));
      await waitFor(() =>
        expect(
          connection.asked.filter(one => one.name === 'Problems').at(-1),
        ).toMatchObject({ variables: { severity, class: of } }),
      );
    }
  });

  it('shows relations that lead nowhere, and where they are written', async () => {
    open();
    expect(
      await screen.findByText('dependsOn component:default/gone'),
    ).toBeInTheDocument();
    expect(
      screen.getByText('Describe it, or remove the relation.'),
    ).toBeInTheDocument();
    expect(screen.getByText('catalog-info.yaml:9')).toBeInTheDocument();
  });

  it('shows entities that are as they were, since when and why', async () => {
    open({
      Stale: () =>
        stale([
          aged('component:default/ledger'),
          aged('component:default/search', {
            reason: 'source',
            message: 'the server does not answer',
            fix: null,
            staleSince: null,
            since: null,
            owner: null,
            line: null,
          }),
          aged('component:default/old', { since: null }),
        ]),
    });
    const list = await screen.findByRole('list', { name: 'Stale entities' });
    const [ledger, search, old] = within(list).getAllByRole('listitem');
    expect(ledger).toHaveTextContent(
      /stale.*ledger.*Its file is wrong now: the owner is missing.*Write who owns it.*orders.*catalog-info.yaml:12.*payments.*since 2 hours ago/,
    );
    expect(search).toHaveTextContent(
      /Its source cannot be read: the server does not answer/,
    );
    expect(search).not.toHaveTextContent(/since/);
    expect(old).toHaveTextContent(/since commit 0123456789ab$/);
    expect(screen.getByText('3 stale entities')).toBeInTheDocument();
  });

  it('shows stale entities a page at a time, and follows them', async () => {
    const user = userEvent.setup();
    let all = [aged('component:default/first')];
    const connection = open({
      Stale: ({ after }) =>
        after
          ? stale([aged('component:default/last')], { total: 30 })
          : stale(all, { total: 30 * all.length, nextCursor: 'next' }),
    });
    const pages = await screen.findByRole('group', {
      name: 'Pages of stale entities',
    });
    await user.click(within(pages).getByRole('button', { name: 'Older' }));
    expect(await screen.findByRole('link', { name: /last/ })).toBeVisible();
    await user.click(within(pages).getByRole('button', { name: 'Newer' }));
    expect(await screen.findByRole('link', { name: /first/ })).toBeVisible();
    await waitFor(() => expect(connection.isLive()).toBe(true));
    all = [];
    await act(async () =>
      connection.tell('IngestionChanges', {
        ingestionChanged: { sources: ['orders'], many: false },
      }),
    );
    expect(
      await screen.findByText('All entities are as their files say.'),
    ).toBeInTheDocument();
  });

  it('says that there is nothing wrong', async () => {
    open();
    expect(await screen.findByText(/no problems/)).toBeInTheDocument();
    expect(
      await screen.findByText('1 source, read as it should be.'),
    ).toBeInTheDocument();
  });

  it('shows sources in trouble, and the others when they are wanted', async () => {
    const user = userEvent.setup();
    open({
      Sources: () => ({
        data: {
          sources: {
            __typename: 'Sources',
            items: [
              source('orders'),
              source('search', {
                state: 'failing',
                error: 'there is no such repository',
                fix: 'Correct its address.',
              }),
            ],
          },
        },
      }),
    });
    const list = await screen.findByRole('list', { name: 'Sources' });
    expect(within(list).getByText('failing')).toBeInTheDocument();
    expect(within(list).getByText('Correct its address.')).toBeInTheDocument();
    expect(within(list).queryByText('orders')).not.toBeInTheDocument();
    expect(screen.getByText('1 of 2 failing')).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Show 1 more' }));
    expect(within(list).getByText('orders')).toBeInTheDocument();
  });

  it('tells by keyboard what is missing of a team’s services, and what to add', async () => {
    const user = userEvent.setup();
    open();
    const team = await screen.findByRole('button', { name: /92% known/ });
    act(() => team.focus());
    await user.keyboard('{Enter}');
    expect(await screen.findByText('on-call not known')).toBeInTheDocument();
    expect(screen.getByLabelText('Lines for on-call')).toBeInTheDocument();
  });

  it('follows what changes', async () => {
    let message = 'an old problem';
    const connection = open({ Problems: () => problems([problem(message)]) });
    expect(await screen.findByText('an old problem')).toBeInTheDocument();
    await waitFor(() => expect(connection.isLive()).toBe(true));
    message = 'a new problem';
    await act(async () =>
      connection.tell('IngestionChanges', {
        ingestionChanged: { sources: ['orders'], many: false },
      }),
    );
    expect(await screen.findByText('a new problem')).toBeInTheDocument();
  });

  it('says what went wrong, and how to put it right', async () => {
    open({
      Problems: () => ({
        errors: [
          {
            message: 'the catalog is not read yet',
            extensions: { code: 'unavailable', fix: 'Wait a moment.' },
          },
        ],
      }),
    });
    expect(await screen.findByRole('alert')).toHaveTextContent(
      /not read yet.*Wait a moment/,
    );
  });
});
