import { ApiProvider } from '@backstage/core-app-api';
import {
  useApi,
  type ApiHolder,
  type ApiRef,
} from '@backstage/core-plugin-api';
import { catalogApiRef } from '@backstage/plugin-catalog-react';
import {
  createContext,
  Fragment,
  useContext,
  useEffect,
  useMemo,
  useSyncExternalStore,
  type ReactNode,
} from 'react';
import { fairleadApiRef } from '../client';
import { listenToCatalog } from './listen';
import { LiveCatalog } from './LiveCatalog';

const Version = createContext(0);

/**
 * Counts the changes of what the pages have asked the catalog for.
 *
 * @public
 */
export const useCatalogVersion = () => useContext(Version);

/** Tells a live catalog of the changes, from its first question on. */
function useCatalogChanges(live: LiveCatalog) {
  const connection = useApi(fairleadApiRef);
  const inUse = useSyncExternalStore(live.subscribe, live.inUse);
  useEffect(() => {
    if (!inUse) return undefined;
    const end = listenToCatalog(connection, live.since(), change =>
      live.changed(change),
    );
    const shown = () => live.shown();
    document.addEventListener('visibilitychange', shown);
    return () => {
      document.removeEventListener('visibilitychange', shown);
      end();
    };
  }, [connection, inUse, live]);
}

/**
 * Lets everything inside it that asks the catalog follow the changes that
 * Fairlead tells of: a change is seen without a reload, and without anything
 * being seen loading.
 *
 * @public
 */
export const LiveCatalogProvider = (props: { children: ReactNode }) => {
  const base = useApi(catalogApiRef);
  const live = useMemo(() => new LiveCatalog(base), [base]);
  useEffect(() => () => live.dispose(), [live]);
  useCatalogChanges(live);
  const version = useSyncExternalStore(live.subscribe, live.version);
  const apis = useMemo<ApiHolder>(() => {
    const api = live.api();
    return {
      get: <T,>(ref: ApiRef<T>) =>
        ref.id === catalogApiRef.id ? (api as T) : undefined,
    };
    // Whoever depends on the catalog asks again because it is another object.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [live, version]);
  return (
    <ApiProvider apis={apis}>
      <Version.Provider value={version}>{props.children}</Version.Provider>
    </ApiProvider>
  );
};

/**
 * Makes what is inside it anew when the catalog has changed, for components that
 * keep what they have fetched. They lose what people have done to them.
 *
 * @public
 */
export const Renewed = (props: { children: ReactNode }) => (
  <Fragment key={useCatalogVersion()}>{props.children}</Fragment>
);
