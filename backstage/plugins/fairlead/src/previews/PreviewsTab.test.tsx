import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { openTab, page, previewOf, refused } from './__testUtils__/open';

describe('The tab of previews', () => {
  it('shows what is known of a preview', async () => {
    openTab({
      Previews: () =>
        page([
          previewOf({
            agent: 'claude',
            url: 'http://checkout-1.test:7007/',
            endsSoon: true,
            expiresAt: new Date(Date.now() + 90_000).toISOString(),
          }),
          previewOf({
            id: 'checkout-2',
            revision: '81f35469d5b6dc1704c438f7a35d04972550ab2d',
            phase: 'pending',
            position: 3,
            reason: 'It waits for room.',
          }),
        ]),
    });
    const row = within(
      (await screen.findByText('ready')).closest('[role=row]') as HTMLElement,
    );
    expect(row.getByText('main')).toBeInTheDocument();
    expect(row.getByText('81f3546')).toBeInTheDocument();
    expect(row.getByText('claude')).toBeInTheDocument();
    expect(row.getByText('Ends soon')).toBeInTheDocument();
    expect(row.getByRole('timer')).toHaveTextContent(/^1:[23]\d$/);
    const link = row.getByRole('link', { name: 'checkout-1.test:7007' });
    expect(link).toHaveAttribute('href', 'http://checkout-1.test:7007/');
    expect(row.queryByText('It answers.')).not.toBeInTheDocument();
    const waiting = within(
      screen.getByText('pending').closest('[role=row]') as HTMLElement,
    );
    expect(waiting.getByText(/Number 3 in the queue/)).toBeInTheDocument();
    expect(waiting.getByText('It waits for room.')).toBeInTheDocument();
    expect(waiting.getAllByText('81f3546')).toHaveLength(1);
  });

  it('makes no link of an address that is none of the web', async () => {
    // eslint-disable-next-line no-script-url
    openTab({ Previews: () => page([previewOf({ url: 'javascript:x()' })]) });
    await screen.findByText('ready');
    expect(screen.queryByText(/javascript/)).not.toBeInTheDocument();
  });

  it('shows a preview that somebody else makes, and its phases, as they come', async () => {
    let items: object[] = [];
    const connection = openTab({ Previews: () => page(items) });
    expect(
      await screen.findByText(/No previews are there/),
    ).toBeInTheDocument();
    expect(screen.getByText('fairlead previews create checkout')).toBeVisible();
    await waitFor(() => expect(connection.isLive()).toBe(true));
    for (const phase of ['pending', 'ready']) {
      items = [previewOf({ phase, agent: 'claude' })];
      connection.tell('PreviewChanges', {
        previewChanged: { id: 'checkout-1', phase },
      });
      expect(await screen.findByText(phase)).toBeInTheDocument();
    }
    expect(
      await screen.findByText('checkout at main is ready'),
    ).toBeInTheDocument();
    expect(connection.asked.filter(a => a.name === 'Previews')[0]).toEqual({
      name: 'Previews',
      variables: { service: 'component:default/checkout', first: 50 },
    });
  });

  it('shows those that are gone where that is wished for', async () => {
    openTab({
      Previews: ({ gone }) => page(gone ? [previewOf({ phase: 'gone' })] : []),
    });
    await userEvent.click(
      await screen.findByRole('switch', { name: 'Show those that are gone' }),
    );
    expect(await screen.findByText('gone')).toBeInTheDocument();
    expect(screen.getByText('ended')).toBeInTheDocument();
    await userEvent.click(
      screen.getByRole('button', { name: 'Acts on checkout at main' }),
    );
    for (const name of ['Extend…', 'Delete…']) {
      expect(screen.getByRole('menuitem', { name })).toHaveAttribute(
        'aria-disabled',
        'true',
      );
    }
  });

  it('shows page by page', async () => {
    openTab({
      Previews: ({ after }) =>
        after
          ? page([previewOf({ id: 'checkout-2', revision: 'old' })])
          : page([previewOf()], 'c2'),
    });
    await screen.findByText('main');
    await userEvent.click(screen.getByRole('button', { name: 'Older' }));
    expect(await screen.findByText('old')).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Older' })).toBeDisabled();
    await userEvent.click(screen.getByRole('button', { name: 'Newer' }));
    expect(await screen.findByText('main')).toBeInTheDocument();
  });

  it('says what went wrong, and how to put it right', async () => {
    openTab({
      Previews: () => refused('unavailable', 'the database is down', 'Wait.'),
    });
    expect(await screen.findByRole('alert')).toHaveTextContent(
      /the database is down.*Wait/,
    );
  });
});
