import { renderInTestApp } from '@backstage/frontend-test-utils';
import {
  catalogApiRef,
  EntityListProvider,
  useEntityList,
} from '@backstage/plugin-catalog-react';
import { useApi } from '@backstage/core-plugin-api';
import { EntityKindFilter } from '@backstage/plugin-catalog-react';
import { act, screen, waitFor } from '@testing-library/react';
import { useEffect, useState } from 'react';
import { fairleadApiRef } from '../client';
import { changed, component, openCatalog } from '../testing/catalog';
import { connectTo, type TestConnection } from '../testing/connection';
import { LiveCatalogProvider, Renewed } from './LiveCatalogProvider';
import { LiveList } from './LiveList';

const checkout = 'component:default/checkout';

function open(page: JSX.Element) {
  const catalog = openCatalog(component('checkout'));
  const connection = connectTo({});
  renderInTestApp(<LiveCatalogProvider>{page}</LiveCatalogProvider>, {
    apis: [
      [fairleadApiRef, connection],
      [catalogApiRef, catalog.api],
    ],
  });
  const tell = async (...refs: string[]) => {
    await waitFor(() => expect(connection.isLive()).toBe(true));
    await act(async () =>
      connection.tell('CatalogChanges', { catalogChanged: changed(...refs) }),
    );
  };
  return { ...catalog, connection, tell };
}

const states: string[] = [];

/** Fetches as Backstage's components do. */
const Page = () => {
  const catalog = useApi(catalogApiRef);
  const [{ loading, value }, setState] = useState<{
    loading: boolean;
    value?: string;
  }>({ loading: true });
  useEffect(() => {
    setState(state => ({ ...state, loading: true }));
    catalog
      .getEntityByRef(checkout)
      .then(e => setState({ loading: false, value: e?.metadata.description }));
  }, [catalog]);
  states.push(loading ? 'loading' : `${value}`);
  return <p>{value ?? 'nothing'}</p>;
};

const List = () => {
  const { entities, updateFilters } = useEntityList();
  useEffect(
    () => updateFilters({ kind: new EntityKindFilter('component', 'c') }),
    [updateFilters],
  );
  return (
    <ul>
      {entities.map(({ metadata }) => (
        <li key={metadata.name}>{metadata.description}</li>
      ))}
    </ul>
  );
};

describe('LiveCatalogProvider', () => {
  it('shows what has changed without ever showing that it loads', async () => {
    const { put, tell } = open(<Page />);
    expect(await screen.findByText('old')).toBeInTheDocument();
    states.length = 0;
    put(component('checkout', 'new'));
    await tell(checkout);
    expect(await screen.findByText('new')).toBeInTheDocument();
    expect(states).not.toContain('loading');
  });

  it('has lists ask again', async () => {
    const { put, tell } = open(
      <EntityListProvider pagination>
        <LiveList />
        <List />
      </EntityListProvider>,
    );
    expect(await screen.findByText('old')).toBeInTheDocument();
    put(component('checkout'), component('cart', 'added'));
    await tell('component:default/cart');
    expect(await screen.findByText('added')).toBeInTheDocument();
  });

  it('makes anew what keeps what it has fetched', async () => {
    let made = 0;
    const Keeps = () => {
      useEffect(() => void made++, []);
      return null;
    };
    const { put, tell } = open(
      <>
        <Page />
        <Renewed>
          <Keeps />
        </Renewed>
      </>,
    );
    await screen.findByText('old');
    const before = made;
    put(component('checkout', 'new'));
    await tell(checkout);
    await screen.findByText('new');
    expect(made).toBe(before + 1);
  });

  /** The seconds of which each subscription wants to know first. */
  const recents = ({ watched }: TestConnection) =>
    watched.map(({ variables }) => variables.recent);

  it('finds what came before the socket stood, and asks for that alone', async () => {
    const { put, tell, state, connection } = open(<Page />);
    await screen.findByText('old');
    await waitFor(() => expect(connection.watched).toHaveLength(1));
    const [recent] = recents(connection);
    expect(recent).toBeGreaterThanOrEqual(5);
    expect(recent).toBeLessThan(60);
    state.requests.length = 0;
    await tell('group:default/other'); // first of what came before
    put(component('checkout', 'new'));
    await tell(checkout);
    expect(await screen.findByText('new')).toBeInTheDocument();
    expect(state.requests).toEqual(['getEntityByRef']);
  });

  it('asks for nothing again where nothing has changed', async () => {
    const { state, connection } = open(<Page />);
    await screen.findByText('old');
    await waitFor(() => expect(connection.watched).toHaveLength(1));
    await waitFor(() => expect(connection.isLive()).toBe(true));
    await act(() => new Promise(done => setTimeout(done, 3_000)));
    expect(state.requests).toEqual(['getEntityByRef']);
  });

  it('asks for nothing again as the socket comes back, but for what has changed', async () => {
    const { put, tell, state, connection } = open(<Page />);
    await screen.findByText('old');
    await waitFor(() => expect(connection.watched).toHaveLength(1));
    await tell('group:default/other');
    const began = Date.now();
    act(() => connection.breaks());
    put(component('checkout', 'new')); // and nothing tells of it yet
    await waitFor(() => expect(connection.watched).toHaveLength(2), {
      timeout: 5_000,
    });
    const gone = (Date.now() - began) / 1000;
    expect(recents(connection)[1]).toBeGreaterThanOrEqual(gone);
    expect(state.requests).toEqual(['getEntityByRef']);
    await tell(checkout);
    expect(await screen.findByText('new')).toBeInTheDocument();
    expect(state.requests).toHaveLength(2);
  });
});
