import { useCallback } from 'react';
import { useSearchParams } from 'react-router-dom';

/** A parameter of the page's address, and what sets it; empty removes it. */
export function useParam(
  name: string,
): [string | undefined, (value?: string) => void] {
  const [params, setParams] = useSearchParams();
  const set = useCallback(
    (value?: string) =>
      setParams(
        now => {
          const next = new URLSearchParams(now);
          if (value) next.set(name, value);
          else next.delete(name);
          return next;
        },
        { replace: true },
      ),
    [name, setParams],
  );
  return [params.get(name) ?? undefined, set];
}
