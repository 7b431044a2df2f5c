import { useAppSearchParams } from '@backstage/frontend-plugin-api';
import { useCallback } from 'react';

/** Parameters by their names; one that is empty is removed. */
type Change = Record<string, string | boolean | undefined>;

/**
 * The parameters of the page's address, and what changes some of them. The
 * browser goes back behind a change only where it does not replace the address.
 */
export function useAddress() {
  const [params, setParams] = useAppSearchParams();
  const change = useCallback(
    (to: Change, { replace = true } = {}) =>
      setParams(
        now => {
          const next = new URLSearchParams(now);
          for (const [name, value] of Object.entries(to)) {
            if (value) next.set(name, String(value));
            else next.delete(name);
          }
          return next;
        },
        { replace },
      ),
    [setParams],
  );
  return [params, change] as const;
}

/** A parameter of the page's address, and what sets it; empty removes it. */
export function useParam(name: string) {
  const [params, change] = useAddress();
  const set = useCallback(
    (value?: string) => change({ [name]: value }),
    [name, change],
  );
  return [params.get(name) ?? undefined, set] as const;
}
