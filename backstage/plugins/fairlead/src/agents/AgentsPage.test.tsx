import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { AgentsPage } from './AgentsPage';
import { approval, approvals, open, refusal, viewer } from './__testUtils__';
import {
  acting,
  entry,
  lease,
  list,
  nothing,
  serve,
} from './__testUtils__/agents';

const agents = () => screen.findByRole('grid', { name: 'Agents' });

describe('AgentsPage', () => {
  it('shows agents by what they did, hold and wait for', async () => {
    open(
      <AgentsPage />,
      serve({ Approvals: () => approvals([approval({ mayDecide: false })]) }),
    );
    const shown = within(await agents());
    expect(await shown.findByText('1 approval')).toBeVisible();
    expect(shown.getByText('1 lease')).toBeVisible();
    expect(shown.getByText('1 preview')).toBeVisible();
    expect(shown.getByRole('link', { name: 'claude-code' })).toHaveAttribute(
      'href',
      '/fairlead/agents?agent=claude-code',
    );
    expect(shown.getByText('none on record')).toBeVisible(); // of codex
  });

  it('names a few of the many for whom one acts', async () => {
    const subjects = Array.from({ length: 9 }, (_, n) => `user:default/u${n}`);
    open(
      <AgentsPage />,
      serve({
        ActingAgents: () =>
          list('agents', 'AgentPage', [acting({ subjects, subjectCount: 40 })]),
        HeldLeases: () => list('credentials', 'LeasePage', []),
      }),
    );
    const shown = within(await agents());
    expect(await shown.findByRole('link', { name: 'u4' })).toBeVisible();
    expect(shown.queryByRole('link', { name: 'u5' })).toBeNull();
    expect(shown.getByText(/and 35 more/)).toBeVisible();
  });

  it('pages through agents, and tells what is not counted', async () => {
    const connection = open(
      <AgentsPage />,
      serve({
        ActingAgents: () =>
          list(
            'agents',
            'AgentPage',
            [acting({ acts: 1_000_000, subjectCount: 3 })],
            true,
          ),
        HeldLeases: () => list('credentials', 'LeasePage', [lease()], true),
      }),
    );
    const shown = within(await agents());
    expect(await shown.findByText('1000000 acts')).toBeVisible();
    expect(shown.getByText(/and 2 more/)).toBeVisible();
    expect(shown.queryByText('none on record')).toBeNull(); // codex may be on another page
    expect(
      await screen.findByText(/more leases than are counted here/),
    ).toBeVisible();
    const pages = within(screen.getByRole('group', { name: /of agents/ }));
    await userEvent.click(pages.getByRole('button', { name: 'Older' }));
    await waitFor(() =>
      expect(connection.asked).toContainEqual({
        name: 'ActingAgents',
        variables: { first: 100, after: 'more' },
      }),
    );
  });

  it('says that there is nothing, also where credentials are not lent', async () => {
    open(<AgentsPage />, serve(nothing));
    expect(await screen.findByText(/No agent has done anything/)).toBeVisible();
    expect(
      await screen.findByText('No acts are on record that match.'),
    ).toBeVisible();
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('says what could not be found out', async () => {
    open(
      <AgentsPage />,
      serve({
        HeldPreviews: () =>
          refusal('unavailable', 'the database is down', 'Wait.'),
      }),
    );
    expect(await screen.findByRole('alert')).toHaveTextContent(
      /the database is down.*Wait/,
    );
    expect(await agents()).toBeVisible();
  });

  it('has what was refused stand out, with the code and the rule', async () => {
    open(
      <AgentsPage />,
      serve({
        Acts: () =>
          list('audit', 'AuditPage', [
            entry({
              status: 'refused',
              code: 'forbidden',
              rule: 'agents-hold-no-secrets',
              message: 'agents collect nothing',
            }),
            entry({
              id: 'a0',
              status: 'refused',
              code: 'approval_required',
              approval: 'r1',
            }),
          ]),
      }),
    );
    expect(await screen.findByText('forbidden')).toBeVisible();
    expect(
      screen.getByText(
        /by rule agents-hold-no-secrets: agents collect nothing/,
      ),
    ).toBeVisible();
    expect(screen.getAllByText('refused', { selector: 'span' })).toHaveLength(
      2,
    );
    expect(
      screen.getByRole('link', { name: 'Request for approval' }),
    ).toHaveAttribute('href', '/fairlead/approvals?id=r1');
  });

  it('narrows the record, by the address too, and pages through it', async () => {
    const connection = open(
      <AgentsPage />,
      serve({ Acts: () => list('audit', 'AuditPage', [entry()], true) }),
      '/?act-status=refused',
    );
    const user = userEvent.setup();
    const person = await screen.findByRole('textbox', { name: 'Person' });
    await user.type(person, 'user:default/bob{Enter}');
    await user.click(screen.getByRole('button', { name: /Since/ }));
    await user.click(await screen.findByRole('option', { name: 'last day' }));
    const chosen = {
      agent: '*',
      status: 'refused',
      subject: 'user:default/bob',
      since: '24h',
      first: 50,
    };
    await waitFor(() =>
      expect(connection.asked).toContainEqual({
        name: 'Acts',
        variables: chosen,
      }),
    );
    await user.click(await screen.findByRole('button', { name: 'Older' }));
    await waitFor(() =>
      expect(connection.asked).toContainEqual({
        name: 'Acts',
        variables: { ...chosen, after: 'more' },
      }),
    );
  });

  it('tells who may not read all of it that they do not', async () => {
    open(
      <AgentsPage />,
      serve({ Viewer: () => viewer('user:default/alice', []) }),
    );
    expect(
      await screen.findByText(/These are acts done for you/),
    ).toBeVisible();
    expect(screen.queryByRole('button', { name: /End all/ })).toBeNull();
  });

  it('ends all leases, with a reason alone', async () => {
    const connection = open(
      <AgentsPage />,
      serve({
        RevokeAllLeases: () => ({
          data: {
            revokeAllCredentials: {
              __typename: 'RevokedLeases',
              leases: 2,
              done: false,
            },
          },
        }),
      }),
    );
    const user = userEvent.setup();
    await user.click(
      await screen.findByRole('button', { name: /End all leases/ }),
    );
    const dialog = within(await screen.findByRole('dialog'));
    const end = dialog.getByRole('button', { name: 'End all' });
    await user.click(dialog.getByRole('button', { name: /Whose/ }));
    await user.click(await screen.findByRole('option', { name: 'Person' }));
    await user.type(
      dialog.getByRole('textbox', { name: 'Name' }),
      'user:default/bob',
    );
    expect(end).toBeDisabled();
    await user.type(
      dialog.getByRole('textbox', { name: 'Reason' }),
      'laptop lost{Enter}',
    );
    expect(
      await screen.findByText(
        /2 leases of user:default\/bob ended; their issuer/,
      ),
    ).toBeVisible();
    expect(connection.asked).toContainEqual({
      name: 'RevokeAllLeases',
      variables: { person: 'user:default/bob', reason: 'laptop lost' },
    });
  });
});
