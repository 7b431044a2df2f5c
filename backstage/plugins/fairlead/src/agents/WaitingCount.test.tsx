import { screen, waitFor } from '@testing-library/react';
import { approvals, open } from './__testUtils__';
import { WaitingCount } from './WaitingCount';

const some = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    __typename: 'Approval',
    id: `r${n}`,
  }));

describe('WaitingCount', () => {
  it('follows how many wait, and leads to them', async () => {
    let [count, next]: [number, string | null] = [0, null];
    const connection = open(<WaitingCount />, {
      WaitingCount: () => approvals(some(count), next),
    });
    await waitFor(() => expect(connection.isLive()).toBe(true));
    expect(screen.queryByRole('link')).toBeNull();
    for (const [now, after, text] of [
      [1, null, '1 to approve'],
      [100, 'more', '100+ to approve'],
    ] as const) {
      [count, next] = [now, after];
      connection.tell('ApprovalChanges', { approvalChanged: { id: 'r0' } });
      expect(await screen.findByRole('link', { name: text })).toHaveAttribute(
        'href',
        '/fairlead/approvals',
      );
    }
  });
});
