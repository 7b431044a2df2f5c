import { renderInTestApp } from '@backstage/frontend-test-utils';
import {
  catalogApiRef,
  EntityProvider,
  entityRouteRef,
} from '@backstage/plugin-catalog-react';
import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { fairleadApiRef } from '../client';
import { changed, component, openCatalog } from '../testing/catalog';
import { connectTo, type Answers } from '../testing/connection';
import { BriefCard } from './BriefCard';
import { measured } from './Objectives';

const ref = 'component:default/checkout';
const repo = 'https://github.com/acme/checkout';

const script = ['javascript', 'alert(1)'].join(':');

const fact = (value: string, more: object = {}) => ({
  __typename: 'Fact',
  name: null,
  value,
  path: null,
  app: null,
  protected: false,
  kind: 'declared',
  handle: null,
  source: {
    __typename: 'FactSource',
    repo,
    commit: 'abcdef0123456789',
    path: 'catalog-info.yaml',
    line: 12,
  },
  verifiedAt: '2026-11-30T08:00:00Z',
  changedAt: new Date(Date.now() - 3 * 86_400_000).toISOString(),
  stale: null,
  disagrees: [],
  ...more,
});

const nothing = {
  __typename: 'Brief',
  ref,
  oncall: null,
  repository: null,
  commands: null,
  rules: [],
  deployRepo: null,
  environments: [],
  dependsOn: [],
  dependencyOf: [],
  slos: [],
  runbooks: [],
  dashboards: [],
  problems: [],
  unknown: [],
  omitted: [],
};

const noCommands = {
  __typename: 'Commands',
  setup: null,
  build: null,
  test: null,
  testOne: null,
  lint: null,
  run: null,
};

const answer = (brief: object, add: object[] = []) => ({
  data: {
    serviceBrief: { ...nothing, ...brief },
    coverage: {
      __typename: 'Coverage',
      items: [{ __typename: 'ServiceCoverage', ref, add }],
    },
  },
});

const healthOf = (slo: object) => ({
  data: {
    deploymentHealth: {
      __typename: 'DeploymentHealth',
      observedAt: null,
      slo: [
        {
          __typename: 'ObjectiveState',
          name: 'availability',
          objective: 99.9,
          window: '28d',
          burn: null,
          why: null,
          ...slo,
        },
      ],
    },
  },
});

function open(answers: Answers) {
  const connection = connectTo(answers);
  renderInTestApp(
    <EntityProvider entity={component('checkout')}>
      <BriefCard />
    </EntityProvider>,
    {
      apis: [
        [fairleadApiRef, connection],
        [catalogApiRef, openCatalog().api],
      ],
      mountedRoutes: { '/catalog/:namespace/:kind/:name': entityRouteRef },
    },
  );
  return connection;
}

describe('BriefCard', () => {
  it('gives commands to copy, each with where it is written', async () => {
    const user = userEvent.setup();
    const write = jest.spyOn(navigator.clipboard, 'writeText');
    open({
      Brief: () =>
        answer({
          commands: {
            ...noCommands,
            build: fact('make build'),
            run: fact('make run', { kind: 'inferred', path: 'server' }),
          },
        }),
    });
    const section = await screen.findByRole('region', { name: 'Work on it' });
    expect(within(section).getByText('make build')).toBeInTheDocument();
    expect(
      within(section).getAllByRole('link', { name: 'catalog-info.yaml:12' })[0],
    ).toHaveAttribute(
      'href',
      `${repo}/blob/abcdef0123456789/catalog-info.yaml#L12`,
    );
    expect(within(section).getAllByText('3 days ago')).toHaveLength(2);
    expect(within(section).getByText('found in')).toBeInTheDocument();
    expect(within(section).getByText('in server')).toBeInTheDocument();
    await user.tab(); // to the first button
    await user.keyboard('{Enter}');
    expect(write).toHaveBeenCalledWith('make build');
    expect(
      await screen.findByRole('button', { name: /Copied Build/ }),
    ).toBeInTheDocument();
  });

  it('shows environments, objectives and what is left of their budget', async () => {
    const connection = open({
      Brief: () =>
        answer({
          environments: [
            fact('https://staging.shop.test', { name: 'staging' }),
            fact('https://shop.test', { name: 'production', protected: true }),
          ],
          slos: [fact('99.9% over 28d', { name: 'availability' })],
        }),
      Objectives: () => healthOf({ state: 'burning', budgetLeft: 21.34 }),
    });
    expect(await screen.findByText('burning')).toBeInTheDocument();
    expect(screen.getByText(/21.3% of the budget left/)).toBeInTheDocument();
    expect(
      screen.getByRole('meter', { name: 'Error budget left' }),
    ).toHaveAttribute('value', '21.34');
    expect(screen.getByText('protected')).toBeInTheDocument();
    expect(
      connection.asked.find(({ name }) => name === 'Objectives')?.variables,
    ).toEqual({ service: ref, environment: 'production' });
  });

  it('keeps quiet about budgets where nothing is measured', async () => {
    const connection = open({
      Brief: () =>
        answer({
          environments: [fact('', { name: 'production', path: 'apps/x' })],
          slos: [fact('99.9% over 28d', { name: 'availability' })],
        }),
      Objectives: () => ({
        errors: [
          {
            message: 'this server knows of no deployments',
            extensions: { code: 'failed_precondition' },
          },
        ],
      }),
    });
    expect(await screen.findByText('99.9% over 28d')).toBeInTheDocument();
    await waitFor(() =>
      expect(connection.asked.map(({ name }) => name)).toContain('Objectives'),
    );
    await act(() => new Promise(done => setTimeout(done, 50)));
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  });

  it('says what is not known, and which lines to add', async () => {
    open({
      Brief: () =>
        answer({ unknown: ['oncall', 'dashboards'] }, [
          {
            __typename: 'CoverageAddition',
            things: ['oncall'],
            repo,
            file: 'catalog-info.yaml',
            line: 28,
            column: null,
            lines: '    oncall: {url: "https://pager.example.com"}',
          },
        ]),
    });
    expect(
      await screen.findByText('Nothing is known of on-call and dashboards.'),
    ).toBeInTheDocument();
    expect(screen.getByText('catalog-info.yaml:28')).toBeInTheDocument();
    expect(screen.getByLabelText('Lines for on-call')).toHaveTextContent(
      'oncall: {url: "https://pager.example.com"}',
    );
    expect(
      screen.getByRole('button', { name: 'Copy the lines for on-call' }),
    ).toBeInTheDocument();
  });

  it('shows a few of many, and all when they are wanted', async () => {
    const user = userEvent.setup();
    open({
      Brief: () =>
        answer({
          dashboards: ['a', 'b', 'c', 'd', 'e'].map(name =>
            fact(`https://grafana.test/${name}`, { name }),
          ),
        }),
    });
    expect(await screen.findByText('a')).toBeInTheDocument();
    expect(screen.queryByText('e')).not.toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: '2 more dashboards' }));
    expect(screen.getByText('e')).toBeInTheDocument();
  });

  it('warns of what may no longer hold, disagrees or is broken', async () => {
    open({
      Brief: () =>
        answer({
          oncall: fact(script, {
            stale: 'not seen for two years',
            disagrees: ['catalog-info.yaml says x'],
          }),
          problems: ['the file has errors since abc'],
        }),
    });
    expect(await screen.findByText(/not seen for two years/)).toBeVisible();
    expect(screen.getByText(/catalog-info.yaml says x/)).toBeVisible();
    expect(screen.getByText(/the file has errors since abc/)).toBeVisible();
    expect(
      screen.queryByRole('link', { name: /javascript/ }),
    ).not.toBeInTheDocument();
  });

  it('follows changes of this service, and of no other', async () => {
    let value = 'make old';
    const connection = open({
      Brief: () => answer({ commands: { ...noCommands, build: fact(value) } }),
    });
    expect(await screen.findByText('make old')).toBeInTheDocument();
    await waitFor(() => expect(connection.watched).toHaveLength(1));
    value = 'make new';
    await act(async () =>
      connection.tell('CatalogChanges', { catalogChanged: changed(ref) }),
    );
    expect(await screen.findByText('make new')).toBeInTheDocument();
    const before = connection.asked.length;
    await act(async () => {
      connection.tell('CatalogChanges', {
        catalogChanged: changed('component:default/other'),
      });
      await new Promise(done => setTimeout(done, 400));
    });
    expect(connection.asked).toHaveLength(before);
  });

  it('says what went wrong, and how to put it right', async () => {
    open({
      Brief: () => ({
        errors: [
          {
            message: 'there is no component:default/checkout',
            extensions: { code: 'not_found', fix: 'Search for it.' },
          },
        ],
      }),
    });
    expect(await screen.findByRole('alert')).toHaveTextContent(
      /there is no component.*Search for it/,
    );
  });
});

describe('measured', () => {
  const named = (name: string, isProtected = false) =>
    fact('', { name, protected: isProtected }) as any;
  it('takes production, else what is protected, else the last', () => {
    expect(
      measured([named('a'), named('prod-eu'), named('b', true)])?.name,
    ).toBe('prod-eu');
    expect(measured([named('a', true), named('b')])?.name).toBe('a');
    expect(measured([named('a'), named('b')])?.name).toBe('b');
    expect(measured([])).toBeUndefined();
  });
});
