import { useAddress } from '../parts';

const name = 'preview';

/** Tells where a preview's details are on this page, by its id. */
export function useHrefs(): (id: string) => string {
  const [params] = useAddress();
  return id => {
    const next = new URLSearchParams(params);
    next.set(name, id);
    return `?${next}`;
  };
}

/** The preview whose details are open, which the address of the page tells. */
export function useOpened(): [string | null, (id?: string) => void] {
  const [params, change] = useAddress();
  const open = (id?: string) => change({ [name]: id }, { replace: false });
  return [params.get(name), open];
}
