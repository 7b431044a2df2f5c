import { useAppSearchParams } from '@backstage/frontend-plugin-api';

const name = 'preview';

/** Tells where a preview's details are on this page, by its id. */
export function useHrefs(): (id: string) => string {
  const [params] = useAppSearchParams();
  return id => {
    const next = new URLSearchParams(params);
    next.set(name, id);
    return `?${next}`;
  };
}

/** The preview whose details are open, which the address of the page tells. */
export function useOpened(): [string | null, (id?: string) => void] {
  const [params, setParams] = useAppSearchParams();
  const open = (id?: string) =>
    setParams(now => {
      const next = new URLSearchParams(now);
      if (id) next.set(name, id);
      else next.delete(name);
      return next;
    });
  return [params.get(name), open];
}
