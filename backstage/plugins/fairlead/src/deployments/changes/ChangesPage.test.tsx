import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { Answers } from '../../testing/connection';
import { pageOf, proposal, refused, show } from '../__testUtils__/show';
import { ChangesPage } from './ChangesPage';

const spread = (median: string) => ({
  __typename: 'Spread',
  count: 3,
  median,
  p90: '49h2m0s',
});

const line = (more: object = {}) => ({
  __typename: 'ChangeFigureLine',
  name: null,
  deployments: 12,
  perDay: 0.4,
  observed: 10,
  failed: 1,
  failureRate: 10,
  recovery: null,
  proposals: 14,
  merged: 11,
  closed: 2,
  leadTime: spread('1h2m0s'),
  toMerge: spread('40m0s'),
  toLive: spread('12m0s'),
  approvable: spread('30s'),
  reworked: 1,
  reworkRate: 7.1,
  refused: 2,
  reported: 0,
  tokens: null,
  cost: null,
  costPerMerged: null,
  ...more,
});

const figures = {
  __typename: 'ChangeFigures',
  since: '2026-11-01T00:00:00Z',
  until: '2026-11-30T00:00:00Z',
  partial: ['only 5,000 proposals are counted'],
  total: line(),
  teams: [line({ name: 'group:default/storefront' })],
  services: [],
  agents: [
    line({
      name: 'claude',
      reported: 2,
      tokens: 120000,
      cost: 3,
      costPerMerged: 1.5,
    }),
  ],
};

const fleet = (more: object = {}) => ({
  __typename: 'Fleet',
  id: 'f1',
  state: 'running',
  query: ['spec.type=service'],
  environment: 'staging',
  title: 'replicas 3 in staging',
  reason: 'load',
  evidence: ['a test'],
  until: 'healthy',
  maxFailures: 0,
  person: 'user:default/alice',
  agent: null,
  planHash: 'sha256:1',
  wave: 1,
  counts: {
    __typename: 'FleetCounts',
    total: 5,
    waiting: 3,
    approval: 0,
    open: 1,
    merged: 0,
    done: 1,
    unchanged: 0,
    covered: 0,
    absent: 0,
    refused: 0,
    failed: 0,
    conflicted: 0,
  },
  waves: [
    {
      __typename: 'FleetWave',
      number: 1,
      size: 2,
      done: 1,
      open: 1,
      failed: 0,
    },
    {
      __typename: 'FleetWave',
      number: 2,
      size: 3,
      done: 0,
      open: 0,
      failed: 0,
    },
  ],
  why: null,
  next: null,
  createdAt: '2026-11-30T08:00:00Z',
  startedAt: null,
  updatedAt: null,
  endedAt: null,
  nextCursor: null,
  members: [
    {
      __typename: 'FleetMember',
      service: 'component:default/checkout',
      state: 'failed',
      wave: 1,
      title: null,
      reason: 'its pull request was closed',
      fix: 'Ask why.',
      proposal: 'p1',
      url: null,
    },
  ],
  ...more,
});

const myself = (subject: string, on = 'everything') => ({
  data: {
    whoami: {
      __typename: 'Identity',
      subject,
      actions: [{ __typename: 'Permission', action: 'gitops.fleet', on }],
    },
  },
});

const open = (at: string, answers: Answers) =>
  show(<ChangesPage />, answers, at);

const fleets = (of: () => object) => ({
  Fleets: () => ({
    data: {
      fleets: { __typename: 'FleetPage', nextCursor: null, items: [of()] },
    },
  }),
  Fleet: () => ({ data: { fleet: of() } }),
});

describe('all proposals', () => {
  it('are filtered by what is in the address and what is typed', async () => {
    const connection = open('/?state=open', {
      Proposals: v =>
        pageOf(v.service ? [] : [proposal({}, { title: 'one of many' })]),
    });
    expect(
      await screen.findByRole('button', {
        name: /one of many.*of checkout in staging, by alice/,
      }),
    ).toBeVisible();
    const user = userEvent.setup();
    fireEvent.change(screen.getByLabelText('Person'), {
      target: { value: 'alice' },
    });
    fireEvent.change(screen.getByLabelText('Service'), {
      target: { value: 'orders' },
    });
    expect(await screen.findByText('No changes are proposed.')).toBeVisible();
    expect(connection.asked[0].variables).toEqual({ state: 'open' });
    await waitFor(() =>
      expect(connection.asked[connection.asked.length - 1].variables).toEqual({
        state: 'open',
        service: 'orders',
        person: 'user:alice',
      }),
    );
    await user.click(screen.getByRole('button', { name: /State/ }));
    await user.click(screen.getByRole('option', { name: 'any' }));
    await waitFor(() =>
      expect(
        connection.asked[connection.asked.length - 1].variables.state,
      ).toBeUndefined(),
    );
  });

  it('say what went wrong', async () => {
    open('/', {
      Proposals: () => refused('unavailable', 'the database is down', 'Wait.'),
    });
    expect(await screen.findByRole('alert')).toHaveTextContent(
      /the database is down.*Wait/,
    );
  });
});

describe('figures', () => {
  it('are told in numbers and words', async () => {
    const connection = open('/?view=figures&period=7+days', {
      ChangeFigures: () => ({ data: { changeFigures: figures } }),
    });
    const tile = async (name: string) =>
      within(await screen.findByRole('group', { name }));
    expect(
      (await tile('Deployment frequency')).getByText('0.4 a day'),
    ).toBeVisible();
    const lead = await tile('Lead time for changes');
    expect(lead.getByText('1 h 2 min')).toBeVisible();
    expect(lead.getByText(/within 2 d 1 h; 3 counted/)).toBeVisible();
    expect((await tile('Change failure rate')).getByText('10 %')).toBeVisible();
    expect((await tile('Time to recover')).getByText('none yet')).toBeVisible();
    expect(screen.getByText('only 5,000 proposals are counted')).toBeVisible();
    expect(
      screen.getByText('14 proposals: 11 merged, 2 closed without that'),
    ).toBeVisible();
    const agents = within(screen.getByRole('region', { name: 'By agent' }));
    expect(agents.getByText('120,000')).toBeVisible();
    expect(screen.queryByRole('region', { name: 'By service' })).toBeNull();
    expect(connection.asked[0].variables).toEqual({ period: '168h' });
  });
});

describe('figures of many services', () => {
  it('are told of fifty at a time', async () => {
    const services = Array.from({ length: 70 }, (_, n) =>
      line({ name: `component:default/s${n}` }),
    );
    open('/?view=figures', {
      ChangeFigures: () => ({
        data: { changeFigures: { ...figures, services } },
      }),
    });
    const table = within(
      await screen.findByRole('region', { name: 'By service' }),
    );
    expect(table.getByRole('rowheader', { name: 's49' })).toBeVisible();
    expect(table.queryByRole('rowheader', { name: 's50' })).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Show 20 more' }));
    expect(table.getByRole('rowheader', { name: 's69' })).toBeVisible();
  });
});

describe('fleets', () => {
  it('are told wave by wave, with what to do about services', async () => {
    open('/?view=fleets&fleet=f1', {
      ...fleets(() => fleet()),
      Viewer: () => myself('user:default/bob', 'some'),
    });
    expect(
      await screen.findByRole('rowheader', { name: '1 (at work)' }),
    ).toBeVisible();
    expect(screen.getByText('3 waiting for their wave')).toBeVisible();
    expect(
      screen.getByText(/its pull request was closed Ask why/),
    ).toBeVisible();
    expect(screen.getByRole('link', { name: 'proposal' })).toHaveAttribute(
      'href',
      '/fairlead/changes?proposal=p1',
    );
    expect(screen.queryByRole('button', { name: 'Pause' })).toBeNull();
  });

  it('are paused by who may, with why', async () => {
    let state = 'running';
    const connection = open('/?view=fleets&fleet=f1', {
      ...fleets(() => fleet({ state })),
      Viewer: () => myself('user:default/alice', 'some'),
      StopFleet: () => {
        state = 'paused';
        return {
          data: { stopFleet: { __typename: 'Fleet', id: 'f1', state } },
        };
      },
    });
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button', { name: 'Pause' }));
    fireEvent.change(screen.getByLabelText(/Reason/), {
      target: { value: 'lunch' },
    });
    await user.click(screen.getByRole('button', { name: 'Pause' }));
    expect(await screen.findByRole('button', { name: 'Resume' })).toBeVisible();
    expect(
      connection.asked.find(a => a.name === 'StopFleet')?.variables,
    ).toEqual({ id: 'f1', cancel: false, reason: 'lunch' });
  });

  it('are resumed as they were planned, or say why not', async () => {
    const connection = open('/?view=fleets&fleet=f1', {
      ...fleets(() => fleet({ state: 'stopped', why: 'too many failed' })),
      Viewer: () => myself('user:default/sam'),
      StartFleet: () =>
        refused('approval_required', 'it needs approval', 'Ask.'),
    });
    const user = userEvent.setup();
    expect(await screen.findByText('too many failed')).toBeVisible();
    await user.click(await screen.findByRole('button', { name: 'Resume' }));
    await user.click(screen.getByRole('button', { name: 'Resume' }));
    expect(await screen.findByRole('alert')).toHaveTextContent(
      /it needs approval.*Ask/,
    );
    expect(
      connection.asked.find(a => a.name === 'StartFleet')?.variables,
    ).toEqual({ id: 'f1', planHash: 'sha256:1' });
  });

  it('tell how to have one', async () => {
    open('/?view=fleets', {
      Fleets: () => ({
        data: {
          fleets: { __typename: 'FleetPage', nextCursor: null, items: [] },
        },
      }),
    });
    expect(
      await screen.findByText(/fairlead change fleet --query/),
    ).toBeVisible();
  });
});
