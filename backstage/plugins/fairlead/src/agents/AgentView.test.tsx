import { act, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { approval, approvals, open, refusal } from './__testUtils__';
import { lease, list, nothing, serve } from './__testUtils__/agents';
import { AgentsPage } from './AgentsPage';

const agents = () => screen.findByRole('grid', { name: 'Agents' });
const row = async (name: RegExp) =>
  within(await screen.findByRole('row', { name }));

describe('AgentsPage of one agent', () => {
  const at = '/?agent=claude-code';

  it('shows what it holds, waits for and did, and leads back', async () => {
    const connection = open(
      <AgentsPage />,
      serve({
        Approvals: () => approvals([approval({ mayDecide: false })]),
        OpenProposals: () =>
          list('proposals', 'ProposalPage', [
            {
              __typename: 'Proposal',
              id: 'c1',
              title: 'cart: 4 replicas',
              state: 'open',
              url: 'https://git.test/1',
              person: 'user:default/alice',
              agent: 'claude-code',
              updatedAt: null,
            },
            {
              __typename: 'Proposal',
              id: 'c0',
              title: 'merged long ago',
              state: 'merged',
              url: null,
              person: 'user:default/alice',
              agent: 'claude-code',
              updatedAt: null,
            },
          ]),
      }),
      at,
    );
    expect(
      await screen.findByRole('link', { name: approval().summary }),
    ).toBeVisible();
    expect(
      await screen.findByRole('link', { name: 'cart: 4 replicas' }),
    ).toBeVisible();
    expect(screen.queryByText('merged long ago')).toBeNull();
    const held = await row(/db-readonly/);
    expect(held.getByRole('timer')).toHaveTextContent(/^1:[123]\d$/);
    for (const name of [
      'HeldLeases',
      'HeldPreviews',
      'Acts',
      'OpenProposals',
    ]) {
      const asked = connection.asked.find(a => a.name === name);
      expect(asked?.variables.agent).toBe('claude-code');
    }
    await userEvent.click(screen.getByRole('button', { name: 'All agents' }));
    expect(await agents()).toBeVisible();
  });

  it('says where what it waits for is not all', async () => {
    open(
      <AgentsPage />,
      serve({
        Approvals: () => approvals([approval({ mayDecide: false })], 'more'),
        OpenProposals: () => list('proposals', 'ProposalPage', [], true),
      }),
      at,
    );
    expect(
      await screen.findByText('There are more; these are the newest 1.'),
    ).toBeVisible();
    expect(
      await screen.findByText(/of its newest 0 proposals; there are older/),
    ).toBeVisible();
    expect(screen.queryByText('None of its proposals is open.')).toBeNull();
  });

  it('revokes a lease once that is confirmed, by the keyboard', async () => {
    let state = 'live';
    open(
      <AgentsPage />,
      serve({
        HeldLeases: () => list('credentials', 'LeasePage', [lease({ state })]),
        RevokeLease: () => {
          state = 'revoking';
          return {
            data: {
              revokeCredentials: { __typename: 'Lease', lease: 'l1', state },
            },
          };
        },
      }),
      at,
    );
    const user = userEvent.setup();
    const revoke = await screen.findByRole('button', {
      name: 'Revoke db-readonly of component:default/orders',
    });
    act(() => revoke.focus());
    await user.keyboard('{Enter}');
    const dialog = within(await screen.findByRole('dialog'));
    expect(
      dialog.getByText(/claude-code for alice cannot use it/),
    ).toBeVisible();
    await user.click(dialog.getByRole('button', { name: 'Revoke' }));
    expect(await screen.findByText('revoking')).toBeVisible();
    expect(screen.queryByRole('button', { name: /Revoke db/ })).toBeNull();
  });

  it('keeps a lease that could not be revoked, and says why', async () => {
    open(
      <AgentsPage />,
      serve({
        RevokeLease: () =>
          refusal('unavailable', 'the vault is sealed', 'Wait.'),
      }),
      at,
    );
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button', { name: /Revoke db/ }));
    const dialog = within(await screen.findByRole('dialog'));
    await user.click(dialog.getByRole('button', { name: 'Revoke' }));
    expect(await dialog.findByText('the vault is sealed')).toBeVisible();
  });

  it('raises what is wrong with a lease', async () => {
    open(
      <AgentsPage />,
      serve({
        HeldLeases: () =>
          list('credentials', 'LeasePage', [
            lease({ alarm: true, overdue: true }),
          ]),
      }),
      at,
    );
    expect(await screen.findByText('Somebody else opened it.')).toBeVisible();
    expect(screen.getByText(/issuer has not taken it back/)).toBeVisible();
  });

  it('says that it has and did nothing', async () => {
    open(<AgentsPage />, serve(nothing), at);
    for (const text of [
      'No request for approval is pending.',
      'None of its proposals is open.',
      'No credentials are lent here.',
      'It has no previews running.',
      'No acts are on record that match.',
      'nobody on record',
    ]) {
      expect(await screen.findByText(text)).toBeVisible();
    }
  });
});
