import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import {
  openPage,
  page,
  previewOf,
  refused,
  rights,
} from './__testUtils__/open';

const strays = (ids: string[], unswept: object[] = []) => ({
  data: {
    previewStrays: {
      __typename: 'PreviewStrays',
      items: ids.map(id => ({
        __typename: 'PreviewStray',
        id,
        deployer: 'local',
        reason: 'no record',
        what: ['a process', 'a folder'],
        service: 'component:default/checkout',
        person: null,
        agent: null,
        expiresAt: null,
        since: null,
        diskBytes: 2048,
      })),
      unswept,
    },
  },
});

const usageLine = (name: string | null, cost: number | null = null) => ({
  __typename: 'PreviewUsageLine',
  name,
  now: 1,
  created: 4,
  failed: 1,
  hours: 2.25,
  peak: 2,
  cost,
});

const openPart = async (name: string) =>
  userEvent.click(await screen.findByRole('button', { name }));

describe('The page of all previews', () => {
  it('lists what is looked for, as its address tells', async () => {
    const connection = openPage(
      { Previews: () => page([previewOf()]) },
      '/?phase=ready&gone=true',
    );
    expect(
      await screen.findByRole('link', { name: /^checkout/i }),
    ).toBeInTheDocument();
    await userEvent.type(screen.getByLabelText('Person'), 'alice');
    await userEvent.click(screen.getByRole('button', { name: /ready.*Phase/ }));
    await userEvent.click(
      await screen.findByRole('option', { name: 'failed' }),
    );
    await waitFor(() =>
      expect(connection.asked).toContainEqual({
        name: 'Previews',
        variables: { person: 'alice', phase: 'failed', gone: true, first: 50 },
      }),
    );
  });

  it('says that none is as looked for', async () => {
    openPage({ Previews: () => page([]) }, '/?agent=codex');
    expect(
      await screen.findByText('No previews are as you look for them.'),
    ).toBeInTheDocument();
  });

  it('tells what previews take', async () => {
    openPage({
      Previews: () => page([]),
      PreviewFigures: () => ({
        data: {
          previewResources: {
            __typename: 'PreviewResourcesPage',
            nextCursor: null,
            items: [
              {
                __typename: 'RunningPreview',
                preview: previewOf(),
                resources: {
                  __typename: 'PreviewResources',
                  cpuSeconds: 1.5,
                  memoryBytes: 3 * 1024 * 1024,
                  diskBytes: 500,
                  processes: 2,
                  at: new Date().toISOString(),
                },
              },
              {
                __typename: 'RunningPreview',
                preview: previewOf({ id: 'checkout-2' }),
                resources: null,
              },
            ],
          },
        },
      }),
    });
    await openPart('Resources');
    expect(
      await screen.findByText(
        '2 previews take 3.0 MiB of memory and 500 B of disk; of 1 that is not known.',
      ),
    ).toBeInTheDocument();
    expect(screen.getByText('1.5 s')).toBeInTheDocument();
  });

  it('tells what they took, by whom', async () => {
    const connection = openPage({
      Previews: () => page([]),
      PreviewUsage: () => ({
        data: {
          previewUsage: {
            __typename: 'PreviewUsage',
            since: '2026-01-01T00:00:00Z',
            until: '2026-01-08T00:00:00Z',
            currency: 'EUR',
            total: usageLine(null, 1.5),
            teams: [usageLine(null)],
            people: [usageLine('user:default/alice')],
            agents: [usageLine('claude')],
          },
        },
      }),
    });
    await openPart('Usage');
    const all = within(
      await screen.findByRole('grid', { name: 'Usage by all' }),
    );
    expect(all.getByText('1.50 EUR')).toBeInTheDocument();
    expect(screen.getByText('Nobody')).toBeInTheDocument();
    expect(screen.getByText('claude')).toBeInTheDocument();
    await userEvent.click(screen.getByRole('button', { name: /Period/ }));
    await userEvent.click(
      await screen.findByRole('option', { name: 'Last day' }),
    );
    await waitFor(() =>
      expect(connection.asked).toContainEqual({
        name: 'PreviewUsage',
        variables: { period: '24h' },
      }),
    );
  });

  it('sweeps strays that are chosen', async () => {
    let there = ['lost-1', 'lost-2'];
    const connection = openPage({
      Previews: () => page([]),
      Viewer: () => rights('previews.strays', 'previews.sweep'),
      PreviewStrays: () =>
        strays(there, [
          {
            __typename: 'UnsweptDeployer',
            deployer: 'argocd',
            reason: 'the cluster is down',
          },
        ]),
      SweepPreviewStrays: () => {
        there = ['lost-2'];
        return {
          data: {
            sweepPreviewStrays: {
              __typename: 'SweptStrays',
              removed: ['lost-1'],
              remaining: [],
              skipped: [],
              failed: [],
            },
          },
        };
      },
    });
    await openPart('Strays');
    expect(
      await screen.findByText(/argocd: the cluster is down/),
    ).toBeVisible();
    const sweep = screen.getByRole('button', { name: 'Sweep…' });
    expect(sweep).toBeDisabled();
    const row = screen.getByText('lost-1').closest('[role=row]') as HTMLElement;
    await userEvent.click(within(row).getByRole('checkbox'));
    await userEvent.click(sweep);
    const dialog = within(await screen.findByRole('dialog'));
    await userEvent.click(dialog.getByRole('button', { name: 'Sweep' }));
    expect(await screen.findByText('Removed 1.')).toBeInTheDocument();
    await waitFor(() =>
      expect(screen.queryByText('lost-1')).not.toBeInTheDocument(),
    );
    expect(connection.asked).toContainEqual({
      name: 'SweepPreviewStrays',
      variables: { ids: ['lost-1'] },
    });
  });

  it('shows a hundred of many strays, and no more of them are chosen', async () => {
    openPage({
      Previews: () => page([]),
      Viewer: () => rights('previews.strays', 'previews.sweep'),
      PreviewStrays: () =>
        strays(Array.from({ length: 130 }, (_, n) => `lost-${n}`)),
    });
    await openPart('Strays');
    expect(await screen.findByText('lost-99')).toBeInTheDocument();
    expect(screen.queryByText('lost-100')).toBeNull();
    const all = screen.getAllByRole('checkbox', { name: 'Select all' })[0];
    await userEvent.click(all);
    await userEvent.click(screen.getByRole('button', { name: 'Sweep…' }));
    const dialog = await screen.findByRole('dialog');
    expect(dialog).toHaveTextContent(/lost-98, lost-99\./);
    await userEvent.click(
      within(dialog).getByRole('button', { name: 'Cancel' }),
    );
    await userEvent.click(screen.getByRole('button', { name: 'Show 30 more' }));
    expect(screen.getByText('lost-129')).toBeInTheDocument();
  });

  it('has no strays for those who may not see them', async () => {
    const connection = openPage({ Previews: () => page([]) });
    await screen.findByRole('button', { name: 'Usage' });
    await waitFor(() =>
      expect(connection.asked.some(a => a.name === 'Viewer')).toBe(true),
    );
    expect(
      screen.queryByRole('button', { name: 'Strays' }),
    ).not.toBeInTheDocument();
  });

  it('hides strays that are forbidden meanwhile', async () => {
    openPage({
      Previews: () => page([]),
      Viewer: () => rights('previews.strays'),
      PreviewStrays: () => refused('forbidden', 'not for you', 'Ask.'),
    });
    await openPart('Strays');
    await waitFor(() =>
      expect(screen.queryByText('not for you')).not.toBeInTheDocument(),
    );
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  });
});
