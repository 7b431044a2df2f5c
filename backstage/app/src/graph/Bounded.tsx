import { ApiProvider } from '@backstage/core-app-api';
import {
  useApi,
  type ApiHolder,
  type ApiRef,
} from '@backstage/core-plugin-api';
import { catalogApiRef } from '@backstage/plugin-catalog-react';
import { Alert } from '@backstage/ui';
import { useMemo, useState, type ReactNode } from 'react';

type CatalogApi = typeof catalogApiRef.T;

/** Entities, from the nearest on. More of them nobody can tell apart. */
const most = 100;

/** A catalog that tells of the first entities asked for by reference alone. */
export function bounded(
  base: CatalogApi,
  limit: number,
  tell: (left: number) => void,
): CatalogApi {
  const known = new Set<string>();
  const left = new Set<string>();
  const isShown = (ref: string) => {
    if (known.has(ref)) return true;
    if (known.size >= limit) {
      left.add(ref);
      return false;
    }
    known.add(ref);
    return true;
  };
  const getEntitiesByRefs: CatalogApi['getEntitiesByRefs'] = async (
    request,
    options,
  ) => {
    const entityRefs = request.entityRefs.filter(isShown);
    if (left.size > 0) tell(left.size);
    if (entityRefs.length === 0)
      return { items: request.entityRefs.map(() => undefined) };
    const { items } = await base.getEntitiesByRefs(
      { ...request, entityRefs },
      options,
    );
    const found = new Map(entityRefs.map((ref, i) => [ref, items[i]]));
    return { items: request.entityRefs.map(ref => found.get(ref)) };
  };
  return new Proxy(base, {
    get: (target, name) => {
      if (name === 'getEntitiesByRefs') return getEntitiesByRefs;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/**
 * Keeps a graph to what can be read and drawn at once: the page of a group with
 * thousands of members would stand still for minutes otherwise.
 */
export const Bounded = (props: { children: ReactNode }) => {
  const base = useApi(catalogApiRef);
  const [left, setLeft] = useState(0);
  const apis = useMemo<ApiHolder>(() => {
    const api = bounded(base, most, setLeft);
    return {
      get: <T,>(ref: ApiRef<T>) =>
        ref.id === catalogApiRef.id ? (api as T) : undefined,
    };
  }, [base]);
  return (
    <>
      {left > 0 && (
        <Alert
          status="info"
          title={`The graph shows ${most} entities and leaves out ${left.toLocaleString()} more`}
        />
      )}
      <ApiProvider apis={apis}>{props.children}</ApiProvider>
    </>
  );
};
