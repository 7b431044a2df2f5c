import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { Answers } from '../testing/connection';
import { ApprovalsPage } from './ApprovalsPage';
import {
  approval,
  approvals,
  inSeconds,
  open,
  refusal,
  viewer,
} from './__testUtils__';

const { summary } = approval();

/** A server that keeps requests and lets them be decided on. */
function serve(...kept: ReturnType<typeof approval>[]) {
  const decide =
    (state: string) => (given: { id: string; reason?: string }) => {
      const r = kept.find(one => one.id === given.id)!;
      Object.assign(r, {
        state,
        mayDecide: false,
        decidedBy: 'user:default/sam',
        decidedAt: inSeconds(0),
        reason: given.reason ?? null,
      });
      const done = { __typename: 'Approval', id: r.id, state };
      return {
        data:
          state === 'granted'
            ? { grantApproval: done }
            : { denyApproval: done },
      };
    };
  const answers: Answers = {
    WaitingApprovals: () => approvals(kept.filter(r => r.mayDecide)),
    Approvals: ({ state }) =>
      approvals(kept.filter(r => !state || r.state === state)),
    Approval: ({ id }) => ({
      data: { approval: kept.find(r => r.id === id) },
    }),
    Viewer: () => viewer(),
    GrantApproval: decide('granted'),
    DenyApproval: decide('denied'),
  };
  return answers;
}

const card = () => screen.findByRole('region', { name: summary });
const others = () => screen.findByRole('grid', { name: 'Other requests' });

describe('ApprovalsPage', () => {
  it('shows who wants what, until when, by which rule, and the plan', async () => {
    open(<ApprovalsPage />, serve(approval()));
    const shown = within(await card());
    for (const text of [
      'gitops.propose (propose_change)',
      'protected-environments',
      'sha256:abc',
      'Max failures',
    ]) {
      expect(shown.getByText(text)).toBeVisible();
    }
    expect(shown.getByText('tag: 1.5.0')).toBeVisible();
    expect(shown.getByText('1 added, 1 removed')).toBeInTheDocument();
    expect(shown.getAllByText(/claude-code for/)[0]).toBeVisible();
    expect(shown.getAllByRole('timer')[0]).toHaveTextContent(
      /^(59|1:00):\d\d$/,
    );
    expect(
      await screen.findByText('There are no other requests.'),
    ).toBeVisible();
  });

  it('draws the plans of some of many, and of others when they are wanted', async () => {
    const many = Array.from({ length: 12 }, (_, n) =>
      approval({ id: `r${n}`, summary: `request ${n}` }),
    );
    open(<ApprovalsPage />, serve(...many));
    expect(
      await screen.findByRole('region', { name: 'request 9' }),
    ).toBeVisible();
    expect(screen.queryByRole('region', { name: 'request 10' })).toBeNull();
    const user = userEvent.setup();
    await user.click(screen.getByRole('button', { name: 'Show 2 more' }));
    expect(screen.getByRole('region', { name: 'request 11' })).toBeVisible();
  });

  it('approves without a reason, by the keyboard, and moves it', async () => {
    const connection = open(<ApprovalsPage />, serve(approval()));
    const user = userEvent.setup();
    const approve = within(await card()).getByRole('button', {
      name: `Approve: ${summary}`,
    });
    act(() => approve.focus());
    await user.keyboard('{Enter}');
    expect(await screen.findByText(`Approved: ${summary}`)).toBeVisible();
    expect(await screen.findByText(/Nothing waits for you/)).toBeVisible();
    expect(within(await others()).getByText('granted')).toBeVisible();
    expect(connection.asked).toContainEqual({
      name: 'GrantApproval',
      variables: { id: 'r1' },
    });
  });

  it('denies with a reason alone', async () => {
    const connection = open(<ApprovalsPage />, serve(approval()));
    const user = userEvent.setup();
    const shown = within(await card());
    const deny = shown.getByRole('button', { name: `Deny: ${summary}` });
    await user.click(deny);
    const reason = shown.getByRole('textbox', { name: 'Reason' });
    expect(reason).toHaveFocus();
    expect(reason).toBeInvalid();
    expect(shown.getByText(/Say why/)).toBeVisible();
    expect(connection.asked.some(a => a.name === 'DenyApproval')).toBe(false);

    await user.type(reason, 'Not on a Friday');
    await user.click(deny);
    expect(await screen.findByText(`Denied: ${summary}`)).toBeVisible();
    expect(connection.asked).toContainEqual({
      name: 'DenyApproval',
      variables: { id: 'r1', reason: 'Not on a Friday' },
    });
    expect(within(await others()).getByText('denied')).toBeVisible();
  });

  it('says why it could not be decided on, and keeps the reason', async () => {
    open(<ApprovalsPage />, {
      ...serve(approval()),
      GrantApproval: () =>
        refusal('conflict', 'request r1 is denied already', 'Look at it anew.'),
    });
    const user = userEvent.setup();
    const shown = within(await card());
    await user.type(shown.getByRole('textbox'), 'fine');
    await user.click(
      shown.getByRole('button', { name: `Approve: ${summary}` }),
    );
    expect(await screen.findByRole('alert')).toHaveTextContent(
      /denied already.*Look at it anew/,
    );
    expect(shown.getByRole('textbox')).toHaveValue('fine');
  });

  it('shows a new request at once, and takes away what others decided', async () => {
    const kept: ReturnType<typeof approval>[] = [];
    const connection = open(<ApprovalsPage />, {
      ...serve(),
      WaitingApprovals: () => approvals(kept.filter(r => r.mayDecide)),
      Approvals: () => approvals(kept),
    });
    expect(await screen.findByText(/Nothing waits for you/)).toBeVisible();
    await waitFor(() => expect(connection.isLive()).toBe(true));
    kept.push(approval());
    connection.tell('ApprovalChanges', {
      approvalChanged: { id: 'r1', state: 'pending' },
    });
    expect(await card()).toBeVisible();
    kept[0] = approval({
      state: 'used',
      mayDecide: false,
      decidedBy: 'user:default/bob',
      usedAt: inSeconds(-150),
    });
    connection.tell('ApprovalChanges', {
      approvalChanged: { id: 'r1', state: 'used' },
    });
    expect(await screen.findByText(/Nothing waits for you/)).toBeVisible();
    const row = within(await others());
    expect(row.getByText('used', { selector: 'span' })).toBeVisible();
    expect(row.getByText('bob')).toBeVisible();
    expect(row.getByText('2 minutes ago')).toBeVisible();
  });

  it('asks again when a request ends that nobody decided on', async () => {
    const kept = [approval({ expiresAt: inSeconds(1) })];
    open(<ApprovalsPage />, {
      ...serve(),
      WaitingApprovals: () => {
        const now = new Date().toISOString();
        return approvals(kept.filter(r => r.expiresAt > now));
      },
    });
    expect(await card()).toBeVisible();
    expect(
      await screen.findByText(/Nothing waits for you/, {}, { timeout: 5_000 }),
    ).toBeVisible();
  });

  it('pages through the others, by state', async () => {
    const connection = open(<ApprovalsPage />, {
      ...serve(),
      Approvals: ({ state, after }) =>
        after
          ? approvals([
              approval({ id: 'r0', summary: 'older', mayDecide: false }),
            ])
          : approvals(
              [approval({ state: state ?? 'used', mayDecide: false })],
              'approval:r1',
            ),
    });
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button', { name: 'Older' }));
    expect(await screen.findByRole('link', { name: 'older' })).toBeVisible();
    expect(screen.getByRole('button', { name: 'Older' })).toBeDisabled();
    await user.click(screen.getByRole('button', { name: 'Newer' }));
    expect(await screen.findByRole('link', { name: summary })).toBeVisible();
    await user.click(screen.getByRole('button', { name: /State/ }));
    await user.click(await screen.findByRole('option', { name: 'denied' }));
    expect(
      await screen.findByText('denied', { selector: 'td span' }),
    ).toBeVisible();
    expect(connection.asked).toContainEqual({
      name: 'Approvals',
      variables: { state: 'denied', first: 50 },
    });
  });

  describe('of one request', () => {
    const at = '/?id=r1';
    const alice = { mayDecide: false };

    it('says that nobody approves their own', async () => {
      const connection = open(
        <ApprovalsPage />,
        {
          ...serve(approval(alice)),
          Viewer: () => viewer('user:default/alice'),
        },
        at,
      );
      expect(
        await screen.findByText(/nobody approves their own/),
      ).toBeVisible();
      expect(screen.queryByRole('button', { name: /Approve/ })).toBeNull();
      expect(connection.asked).toContainEqual({
        name: 'Approval',
        variables: { id: 'r1' },
      });
    });

    it.each([
      [{ ...alice }, /It is for group:default\/payments or role:sre to decide/],
      [{ ...alice, approvers: [] }, /Nobody can decide on it/],
      [{ ...alice, state: 'granted' }, /It may be done once/],
      [{ ...alice, state: 'denied' }, /asked for again after it ends/],
      [{ expiresAt: inSeconds(-1) }, /Nobody used it in time/],
    ])('says what comes next: %j', async (change, text) => {
      open(<ApprovalsPage />, serve(approval(change)), at);
      expect(await screen.findByText(text)).toBeVisible();
      expect(screen.queryByRole('button', { name: /Approve/ })).toBeNull();
    });

    it('lets it be decided on, shows how far it is, and leads back', async () => {
      open(<ApprovalsPage />, serve(approval()), at);
      const user = userEvent.setup();
      await user.type(await screen.findByRole('textbox'), 'as agreed');
      await user.click(screen.getByRole('button', { name: /Approve/ }));
      expect(await screen.findByText('granted')).toBeVisible();
      expect(screen.getByText('as agreed')).toBeVisible();
      await user.click(screen.getByRole('button', { name: 'All approvals' }));
      expect(await others()).toBeVisible();
    });

    it('says that there is none', async () => {
      open(
        <ApprovalsPage />,
        {
          ...serve(),
          Approval: () =>
            refusal('not_found', 'there is no request "r1"', 'List them.'),
        },
        at,
      );
      expect(await screen.findByRole('alert')).toHaveTextContent(
        /there is no request "r1".*List them/,
      );
    });
  });
});
