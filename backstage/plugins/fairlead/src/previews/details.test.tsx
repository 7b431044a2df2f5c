import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { openTab, page, previewOf, refused } from './__testUtils__/open';

const detailed = (given = {}) => ({
  data: {
    previewEnvironment: {
      ...previewOf({ agent: 'claude' }),
      owner: 'group:default/storefront',
      readyAt: new Date().toISOString(),
      events: [
        {
          __typename: 'PreviewEvent',
          at: new Date().toISOString(),
          phase: 'pending',
          text: 'accepted',
          by: 'claude for user:default/alice',
        },
        {
          __typename: 'PreviewEvent',
          at: null,
          phase: 'ready',
          text: 'It answers.',
          by: null,
        },
      ],
      ...given,
    },
  },
});

const logs = (count: number) => ({
  data: {
    previewLogs: {
      __typename: 'PreviewLogs',
      id: 'checkout-1',
      lines: Array.from({ length: count }, (_, i) => ({
        __typename: 'PreviewLogLine',
        at: '2026-01-01T10:00:00Z',
        text: `line ${i + 1}`,
      })),
    },
  },
});

describe('The details of a preview', () => {
  it('are opened from its row, and told by the address', async () => {
    const connection = openTab({
      Previews: () => page([previewOf()]),
      PreviewDetails: () => detailed(),
    });
    await userEvent.click(
      await screen.findByRole('link', { name: 'Details of checkout at main' }),
    );
    const dialog = within(await screen.findByRole('dialog'));
    expect(await dialog.findByText('local')).toBeInTheDocument();
    expect(
      dialog.getByText('81f35469d5b6dc1704c438f7a35d04972550ab2d'),
    ).toBeInTheDocument();
    await userEvent.click(dialog.getByRole('tab', { name: 'Events' }));
    const events = within(await dialog.findByRole('list', { name: /^Events/ }));
    const [newest, first] = events.getAllByRole('listitem');
    expect(newest).toHaveTextContent(/ready.*It answers/);
    expect(first).toHaveTextContent(
      /accepted.*by claude for user:default\/alice/,
    );
    expect(connection.asked).toContainEqual({
      name: 'PreviewDetails',
      variables: { id: 'checkout-1' },
    });
    await userEvent.keyboard('{Escape}');
    await waitFor(() =>
      expect(screen.queryByRole('dialog')).not.toBeInTheDocument(),
    );
  });

  it('change as the preview does', async () => {
    let given = {};
    const connection = openTab(
      { Previews: () => page([]), PreviewDetails: () => detailed(given) },
      '/?preview=checkout-1',
    );
    const dialog = within(await screen.findByRole('dialog'));
    await dialog.findByRole('button', { name: 'Delete…' });
    await waitFor(() => expect(connection.isLive()).toBe(true));
    given = { phase: 'deleting', remains: ['pod a'] };
    connection.tell('PreviewChanges', {
      previewChanged: { id: 'checkout-1', phase: 'deleting' },
    });
    expect(await dialog.findByText('pod a')).toBeInTheDocument();
    expect(
      dialog.queryByRole('button', { name: 'Delete…' }),
    ).not.toBeInTheDocument();
  });

  it('say that there is no such preview', async () => {
    openTab(
      {
        Previews: () => page([]),
        PreviewDetails: () =>
          refused('not_found', 'there is no preview x', 'List them.'),
      },
      '/?preview=x',
    );
    const dialog = within(await screen.findByRole('dialog'));
    expect(await dialog.findByRole('alert')).toHaveTextContent(/no preview x/);
  });

  it('show the logs as they grow, as many lines as wished for', async () => {
    const user = userEvent.setup();
    const copied = jest
      .spyOn(navigator.clipboard, 'writeText')
      .mockResolvedValue();
    let count = 1;
    const connection = openTab(
      {
        Previews: () => page([]),
        PreviewDetails: () => detailed(),
        PreviewLogs: () => logs(count),
      },
      '/?preview=checkout-1',
    );
    const dialog = within(await screen.findByRole('dialog'));
    await user.click(await dialog.findByRole('tab', { name: 'Logs' }));
    const log = await dialog.findByRole('log');
    expect(log).toHaveTextContent('2026-01-01T10:00:00Z line 1');
    count = 2;
    await waitFor(() => expect(log).toHaveTextContent('line 2'));
    await user.click(dialog.getByRole('button', { name: 'Copy the lines' }));
    expect(copied).toHaveBeenCalledWith(
      expect.stringMatching(/line 1\n.*line 2$/),
    );
    await user.click(dialog.getByRole('switch', { name: 'Follow' }));
    await user.click(dialog.getByRole('button', { name: /Last 100 lines/ }));
    await user.click(
      await screen.findByRole('option', { name: 'Last 1000 lines' }),
    );
    await waitFor(() =>
      expect(connection.asked).toContainEqual({
        name: 'PreviewLogs',
        variables: { id: 'checkout-1', tail: 1000 },
      }),
    );
  });

  it('say that nothing was written', async () => {
    openTab(
      {
        Previews: () => page([]),
        PreviewDetails: () => detailed(),
        PreviewLogs: () => logs(0),
      },
      '/?preview=checkout-1',
    );
    const dialog = within(await screen.findByRole('dialog'));
    await userEvent.click(await dialog.findByRole('tab', { name: 'Logs' }));
    expect(await dialog.findByText(/has written nothing/)).toBeInTheDocument();
  });
});
