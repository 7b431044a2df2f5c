import { renderInTestApp } from '@backstage/frontend-test-utils';
import { EntityProvider } from '@backstage/plugin-catalog-react';
import { act, screen, waitFor } from '@testing-library/react';
import { fairleadApiRef } from '../client';
import { rootRouteRef } from '../routes';
import { changed, component } from '../testing/catalog';
import { connectTo, type Answers } from '../testing/connection';
import { EntityWarning } from './EntityWarning';

const ref = 'component:default/orders';
const ago = (hours: number) =>
  new Date(Date.now() - hours * 3_600_000).toISOString();

const state = (source: object = {}, status: string[] = []) => ({
  data: {
    entity: {
      __typename: 'Entity',
      ref,
      metadata: { __typename: 'EntityMetadata', annotation: null },
      source: {
        __typename: 'Provenance',
        source: 'orders',
        repo: 'https://github.com/acme/orders',
        commit: 'abc',
        path: 'catalog-info.yaml',
        line: 1,
        verifiedAt: ago(0),
        staleSince: null,
        ...source,
      },
      status: status.map(message => ({
        __typename: 'StatusItem',
        level: 'error',
        message,
        error: { __typename: 'StatusError', name: 'InputError', message },
      })),
    },
  },
});

const problem = (file: string, message: string) => ({
  __typename: 'IngestionError',
  severity: 'error',
  name: 'InputError',
  message,
  fix: 'Close the bracket.',
  file,
  line: 24,
  column: 3,
  ref: null,
  source: 'orders',
  owner: null,
  firstSeen: { __typename: 'Sighting', commit: 'def', at: null },
  lastSeen: { __typename: 'Sighting', commit: 'def', at: null },
  entity: null,
});

function open(answers: Answers) {
  const connection = connectTo(answers);
  renderInTestApp(
    <EntityProvider entity={component('orders')}>
      <EntityWarning />
      <p>the rest of the page</p>
    </EntityProvider>,
    {
      apis: [[fairleadApiRef, connection]],
      mountedRoutes: { '/fairlead': rootRouteRef },
    },
  );
  return connection;
}

describe('EntityWarning', () => {
  it('tells what is wrong with the file, where, and how to put it right', async () => {
    open({
      EntityState: () =>
        state({ staleSince: 'def' }, ['catalog-info.yaml:24:3: not closed']),
      Problems: () => ({
        data: {
          ingestionErrors: {
            __typename: 'IngestionErrors',
            total: 2,
            nextCursor: null,
            items: [
              problem('catalog-info.yaml', 'the bracket is not closed'),
              problem('other.yaml', 'another file'),
            ],
          },
        },
      }),
    });
    expect(await screen.findByText('the bracket is not closed')).toBeVisible();
    expect(screen.getByText(/its last good state/)).toBeVisible();
    expect(screen.getByText('Close the bracket.')).toBeVisible();
    expect(screen.queryByText('another file')).not.toBeInTheDocument();
    expect(
      screen.getByRole('link', { name: 'catalog-info.yaml:24:3' }),
    ).toHaveAttribute(
      'href',
      'https://github.com/acme/orders/blob/def/catalog-info.yaml#L24',
    );
    expect(
      screen.getByRole('link', { name: 'All problems of this source' }),
    ).toHaveAttribute('href', '/fairlead/health?owner=all&source=orders');
  });

  it('says so where the source has not been read for long', async () => {
    open({ EntityState: () => state({ verifiedAt: ago(3) }) });
    expect(await screen.findByText(/was last read/)).toHaveTextContent(
      /orders was last read 3 hours ago/,
    );
  });

  it('is silent while all is well, and warns once it is not', async () => {
    let answer = state();
    const connection = open({
      EntityState: () => answer,
      Problems: () => ({ errors: [{ message: 'down' }] }),
    });
    await waitFor(() => expect(connection.isLive()).toBe(true));
    expect(screen.queryByRole('status')).not.toBeInTheDocument();
    answer = state({}, ['catalog-info.yaml:24:3: not closed']);
    await act(async () =>
      connection.tell('CatalogChanges', { catalogChanged: changed(ref) }),
    );
    expect(await screen.findByText(/not closed/)).toBeVisible();
  });

  it('is silent where Fairlead knows nothing of the entity', async () => {
    const connection = open({
      EntityState: () => ({
        errors: [{ message: 'none', extensions: { code: 'not_found' } }],
      }),
    });
    await waitFor(() => expect(connection.asked).toHaveLength(1));
    await act(() => new Promise(done => setTimeout(done, 50)));
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
    expect(screen.queryByRole('status')).not.toBeInTheDocument();
  });
});
