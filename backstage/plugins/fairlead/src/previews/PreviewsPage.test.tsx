import { renderInTestApp } from '@backstage/frontend-test-utils';
import { entityRouteRef } from '@backstage/plugin-catalog-react';
import { screen, waitFor } from '@testing-library/react';
import { fairleadApiRef } from '../client';
import { connectTo, type Answers } from '../testing/connection';
import { PreviewsPage } from './PreviewsPage';

const preview = (phase: string) => ({
  __typename: 'Preview',
  id: 'p1',
  service: 'component:default/checkout',
  revision: 'main',
  phase,
  url: null,
  expiresAt: new Date(Date.now() + 90_000).toISOString(),
  person: 'user:default/alice',
  agent: 'claude',
});

const page = (items: object[]) => ({
  data: {
    previewEnvironments: { __typename: 'PreviewPage', nextCursor: null, items },
  },
});

function open(answers: Answers) {
  const connection = connectTo(answers);
  renderInTestApp(<PreviewsPage />, {
    apis: [[fairleadApiRef, connection]],
    mountedRoutes: { '/catalog/:namespace/:kind/:name': entityRouteRef },
  });
  return connection;
}

describe('PreviewsPage', () => {
  it('follows what changes', async () => {
    let phase = 'creating';
    const connection = open({ Previews: () => page([preview(phase)]) });
    expect(await screen.findByText('creating')).toBeInTheDocument();
    expect(screen.getByRole('timer')).toHaveTextContent(/^1:[23]\d$/);
    await waitFor(() => expect(connection.isLive()).toBe(true));
    phase = 'ready';
    connection.tell('PreviewChanges', { previewChanged: { id: 'p1', phase } });
    expect(await screen.findByText('ready')).toBeInTheDocument();
  });

  it('says that there is nothing', async () => {
    open({ Previews: () => page([]) });
    expect(await screen.findByText(/No previews/)).toBeInTheDocument();
  });

  it('says what went wrong, and how to put it right', async () => {
    open({
      Previews: () => ({
        errors: [
          {
            message: 'the database is down',
            extensions: { code: 'unavailable', fix: 'Wait for it.' },
          },
        ],
      }),
    });
    expect(await screen.findByRole('alert')).toHaveTextContent(
      /the database is down.*Wait for it/,
    );
  });
});
