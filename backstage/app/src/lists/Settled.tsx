import {
  useEntityList,
  type EntityListContextProps,
} from '@backstage/plugin-catalog-react';
import {
  createVersionedContext,
  createVersionedValueMap,
} from '@backstage/version-bridge';
import {
  useDeferredValue,
  useEffect,
  useMemo,
  useState,
  type ReactNode,
} from 'react';

// The context that useEntityList reads, a singleton by its name.
const Context = createVersionedContext<{ 1: EntityListContextProps }>(
  'entity-list-context',
);

/** Milliseconds after which one is to see that a list is loading. */
const patience = 400;

/** Whether that long has passed since something began, and it goes on. */
function useLong(going: boolean) {
  const [long, setLong] = useState(false);
  useEffect(() => {
    setLong(false);
    if (!going) return undefined;
    const timer = setTimeout(() => setLong(true), patience);
    return () => clearTimeout(timer);
  }, [going]);
  return going && long;
}

/**
 * Shows what is inside it the list as it is once the filters have come to rest
 * and it has been fetched, and none of the steps there, each of which the table
 * of Backstage takes a quarter of a second to draw. A list that takes long is
 * shown loading.
 */
export const Settled = (props: { children: ReactNode }) => {
  const now = useEntityList();
  const loading = now.loading || Boolean(now.totalItemsLoading);
  const late = useLong(loading);
  const [kept, setKept] = useState(now);
  const shown = loading && !late ? kept : now;
  if (shown !== kept) setKept(shown);
  const value = useDeferredValue(shown);
  const context = useMemo(() => createVersionedValueMap({ 1: value }), [value]);
  return <Context.Provider value={context}>{props.children}</Context.Provider>;
};
