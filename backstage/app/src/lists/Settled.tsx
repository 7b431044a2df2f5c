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
const patience = 1_000;

/** Milliseconds in which a list that has been fetched may still be asked anew. */
const rest = 15; // Backstage fetches ten after the last change of a filter

/** Whether something has been so for a while, and of the same thing. */
function useLasting(so: boolean, milliseconds: number, of?: unknown) {
  const [lasting, setLasting] = useState<unknown[]>();
  useEffect(() => {
    if (!so) return undefined;
    const timer = setTimeout(() => setLasting([of]), milliseconds);
    return () => {
      clearTimeout(timer);
      setLasting(undefined);
    };
  }, [so, milliseconds, of]);
  return so && lasting?.[0] === of && lasting !== undefined;
}

/**
 * Shows what is inside it the list as it is once the filters have come to rest
 * and it has been fetched, and none of the steps there, each of which the table
 * of Backstage takes a quarter of a second to draw. A list that takes long is
 * shown loading; before that there is none.
 */
export const Settled = (props: { children: ReactNode }) => {
  const now = useEntityList();
  const loading =
    now.loading || Boolean(now.totalItemsLoading) || !now.filters.user; // chosen once it is known what one owns
  const late = useLasting(loading, patience);
  const settled = useLasting(!loading, rest, now.filters);
  const [kept, setKept] = useState<typeof now>();
  const shown = settled || late ? now : kept;
  if (shown !== kept) setKept(shown);
  const value = useDeferredValue(shown) ?? shown; // the first is drawn in one go
  const context = useMemo(
    () => value && createVersionedValueMap({ 1: value }),
    [value],
  );
  return (
    context && (
      <Context.Provider value={context}>{props.children}</Context.Provider>
    )
  );
};
