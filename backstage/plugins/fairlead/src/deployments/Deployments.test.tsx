import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { Answers } from '../testing/connection';
import { degraded, healthy } from './__testUtils__/health';
import { diff, pageOf, proposal, refused, show } from './__testUtils__/show';
import { Deployments } from './Deployments';

const environment = (name: string, more: object = {}) => ({
  __typename: 'Fact',
  name,
  value: `https://checkout.${name}.shop.test`,
  path: `apps/checkout/overlays/${name}`,
  app: `main/checkout-${name}`,
  protected: name === 'production',
  ...more,
});

const brief = (...environments: object[]) => ({
  data: {
    serviceBrief: {
      __typename: 'Brief',
      ref: 'component:default/checkout',
      deployRepo: null,
      environments,
    },
  },
});

const noForge = refused(
  'failed_precondition',
  'this server knows of no forge to ask',
  'Have the operators add the section forges.',
);

const open = (answers: Answers, at?: string) =>
  show(
    <Deployments />,
    {
      Environments: () => brief(environment('staging')),
      DeploymentHealth: () => ({ data: { deploymentHealth: healthy } }),
      CIStatus: () => noForge,
      Proposals: () => pageOf([]),
      ...answers,
    },
    at,
  );

const region = (name: string) => screen.findByRole('region', { name });

describe('environments', () => {
  it('stand beside each other, and fail each by itself', async () => {
    open({
      Environments: () =>
        brief(environment('staging'), environment('production')),
      DeploymentHealth: v =>
        v.environment === 'staging'
          ? { data: { deploymentHealth: healthy } }
          : refused('unavailable', 'Argo CD does not answer', 'Wait for it.'),
    });
    const staging = within(await region('Environment staging'));
    expect(await staging.findByText('healthy')).toBeVisible();
    expect(staging.getByText(/all resources are healthy/)).toBeVisible();
    expect(staging.getByText('cccccccc')).toHaveAttribute(
      'title',
      'c'.repeat(40),
    );
    expect(staging.getByText(/checkout:1.4.0/)).toBeVisible();
    expect(
      staging.getByText(/from commit dddddddd, of shop\/checkout/),
    ).toBeVisible();
    expect(staging.getByText('synced', { selector: 'span' })).toBeVisible();
    expect(staging.queryByText('Wanted')).toBeNull();
    const production = within(await region('Environment production'));
    expect(await production.findByRole('alert')).toHaveTextContent(
      /Argo CD does not answer.*Wait for it/,
    );
    expect(production.getByText('protected')).toBeVisible();
  });

  it('are asked for as they are shown, where they are many', async () => {
    const { asked } = open({
      Environments: () =>
        brief(...Array.from({ length: 20 }, (_, n) => environment(`e${n}`))),
    });
    const names = () =>
      asked
        .filter(a => a.name === 'DeploymentHealth')
        .map(a => a.variables.environment);
    expect(await region('Environment e11')).toBeVisible();
    await waitFor(() => expect(names()).toContain('e11'));
    expect(names()).not.toContain('e12');
    const user = userEvent.setup();
    await user.click(screen.getByRole('button', { name: 'Show 8 more' }));
    expect(await region('Environment e19')).toBeVisible();
    await waitFor(() => expect(names()).toContain('e19'));
  });

  it('tell all that is wrong', async () => {
    open({
      DeploymentHealth: () => ({ data: { deploymentHealth: degraded } }),
    });
    const card = within(await region('Environment staging'));
    expect(await card.findByText('degraded')).toBeVisible();
    expect(card.getByText('2 alerts fire')).toBeVisible();
    expect(card.getByText('HighErrorRate')).toBeVisible();
    expect(
      card.getByRole('link', { name: /Runbook for HighErrorRate/ }),
    ).toHaveAttribute('href', 'https://wiki.shop.test/high-error-rate');
    expect(card.getByText(/doc:\/\/checkout/)).toBeVisible();
    expect(card.getByText(/CrashLoopBackOff/)).toBeVisible();
    expect(card.getByText('eeeeeeee')).toBeVisible();
    expect(card.getByText('1.6.0-crashes')).toBeVisible();
    expect(card.getByText('out of sync')).toBeVisible();
    expect(card.getByText(/it is not synced by itself/)).toBeVisible();
    expect(card.getByText('ConfigMap/checkout')).toBeVisible();
    expect(
      card.getByText(/41.3 % of the error budget left, burning 14.4 times/),
    ).toBeVisible();
    expect(card.getByText(/overdrawn by 12 %/)).toBeVisible();
    expect(card.getByText(/Prometheus knows nothing/)).toBeVisible();
    const user = userEvent.setup();
    act(() => card.getByRole('button', { name: 'Syncs' }).focus());
    await user.keyboard('{Enter}');
    expect(card.getByText(/one or more objects failed/)).toBeVisible();
    expect(card.getByText(/by sam/)).toBeVisible();
  });

  it('follow what is proposed', async () => {
    let verdict = 'progressing';
    const connection = open({
      DeploymentHealth: () => ({
        data: { deploymentHealth: { ...healthy, verdict } },
      }),
    });
    const card = within(await region('Environment staging'));
    expect(await card.findByText('progressing')).toBeVisible();
    await waitFor(() => expect(connection.isLive()).toBe(true));
    verdict = 'healthy';
    connection.tell('ProposalChanges', {
      proposalChanged: { id: 'p1', state: 'merged' },
    });
    expect(await card.findByText('healthy')).toBeVisible();
  });

  it('keep what was known while Argo CD does not answer', async () => {
    let down = false;
    const connection = open({
      DeploymentHealth: () =>
        down
          ? refused('unavailable', 'Argo CD does not answer', 'Wait for it.')
          : { data: { deploymentHealth: healthy } },
    });
    const card = within(await region('Environment staging'));
    expect(await card.findByText('healthy')).toBeVisible();
    await waitFor(() => expect(connection.isLive()).toBe(true));
    down = true;
    connection.tell('ProposalChanges', {
      proposalChanged: { id: 'p1', state: 'merged' },
    });
    expect(await card.findByRole('alert')).toBeVisible();
    expect(card.getByText('healthy')).toBeVisible();
  });

  it('tell how to come by them where there are none', async () => {
    open({ Environments: () => brief() });
    expect(await screen.findByText(/knows of no environments/)).toBeVisible();
    expect(
      screen.getByText(/path: apps\/checkout\/overlays\/staging/),
    ).toBeVisible();
    expect(
      screen.getByRole('button', { name: 'Copy the command' }),
    ).toBeVisible();
    expect(screen.getByText('No changes are proposed.')).toBeVisible();
  });
});

describe('CI', () => {
  const check = (name: string, state: string, more: object = {}) => ({
    __typename: 'CheckRun',
    name,
    state,
    result: null,
    required: false,
    optional: false,
    url: 'https://ci.shop.test/7',
    duration: '1m2s',
    failed: [],
    detail: [],
    ...more,
  });

  it('tells what failed, and why', async () => {
    open({
      CIStatus: () => ({
        data: {
          ciStatus: {
            __typename: 'CIStatus',
            repository: 'shop/checkout',
            revision: 'main',
            commit: 'f'.repeat(40),
            state: 'failed',
            grounds: ['test failed'],
            url: 'https://ci.shop.test/7',
            observedAt: '2026-11-30T09:00:00Z',
            checks: [
              check('test', 'failed', { failed: ['unit'], detail: ['1 != 2'] }),
              check('lint', 'passed', { url: 'data:text/html,no' }),
            ],
            omitted: [],
          },
        },
      }),
    });
    expect(await screen.findByText('ffffffff')).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: '2 checks' }));
    expect(screen.getByText('failed: unit')).toBeVisible();
    expect(screen.getByText('1 != 2')).toBeVisible();
    expect(screen.getByRole('link', { name: /^test/ })).toBeVisible();
    expect(screen.queryByRole('link', { name: /^lint/ })).toBeNull();
  });

  it('says what is not configured', async () => {
    open({});
    expect(await screen.findByText(/knows of no forge/)).toBeVisible();
  });
});

describe('proposals', () => {
  it('are opened with all of them, and follow what becomes of them', async () => {
    let p = proposal({}, { blocking: [] });
    const connection = open({
      Proposals: () => pageOf([p]),
      Proposal: () => ({ data: { proposal: p } }),
    });
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button', { name: /1.5.0/ }));
    const steps = within(
      await screen.findByRole('list', { name: 'Follow-through' }),
    );
    expect(steps.getAllByRole('listitem')[1]).toHaveAttribute(
      'aria-current',
      'step',
    );
    expect(screen.getByText(/newTag: "1.5.0"/)).toBeInTheDocument();
    expect(diff).toContain('newTag: "1.5.0"');
    expect(screen.getByRole('link', { name: /Pull request/ })).toBeVisible();
    expect(
      screen.getByRole('link', { name: /ci.shop.test\/7$/ }),
    ).toHaveAttribute('href', 'https://ci.shop.test/7');
    expect(screen.getByRole('link', { name: 'claude' })).toHaveAttribute(
      'href',
      '/fairlead/agents?agent=claude',
    );
    await waitFor(() => expect(connection.isLive()).toBe(true));
    p = proposal(
      {
        merged: 'b',
        mergedAt: '2026-11-30T08:10:00Z',
        degradedAt: '2026-11-30T08:20:00Z',
        grounds: ['Deployment/checkout is Degraded'],
        waits: 'a verdict',
      },
      { state: 'merged', next: 'Roll it back.' },
    );
    connection.tell('ProposalChanges', {
      proposalChanged: { id: 'p1', state: 'merged' },
    });
    expect(await steps.findByText('Degraded')).toBeVisible();
    expect(screen.getByText('Roll it back.')).toBeVisible();
  });

  it('tell what blocks them, and what to do', async () => {
    const blocker = (what: string) => ({
      __typename: 'ProposalBlocker',
      what,
      detail: `${what} is missing`,
      since: '2026-11-30T08:00:00Z',
      next: `Ask for ${what}.`,
    });
    open(
      {
        Proposal: () => ({
          data: {
            proposal: proposal(
              {},
              { blocking: [blocker('review'), blocker('checks')] },
            ),
          },
        }),
      },
      '/?proposal=p1',
    );
    expect(await screen.findByText('2 things block it')).toBeVisible();
    expect(screen.getByText('Ask for review.')).toBeVisible();
  });

  it('come page by page', async () => {
    open({
      Proposals: v =>
        v.after
          ? pageOf([proposal({}, { id: 'p2', title: 'the older one' })])
          : pageOf([proposal()], 'more'),
    });
    await userEvent.click(await screen.findByRole('button', { name: 'More' }));
    expect(
      await screen.findByRole('button', { name: /the older one/ }),
    ).toBeVisible();
    expect(screen.getByRole('button', { name: /1.5.0/ })).toBeVisible();
  });
});
