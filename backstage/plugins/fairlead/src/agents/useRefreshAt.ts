import { useEffect } from 'react';

const most = 3_600_000; // milliseconds, far below what timers can hold

/** Calls back soon after the earliest of the moments that are still to come. */
export function useRefreshAt(
  moments: (string | null | undefined)[],
  refresh: () => void,
) {
  const times = moments.map(at => (at ? Date.parse(at) : NaN));
  const next = Math.min(...times.filter(at => at > Date.now()));
  useEffect(() => {
    if (!Number.isFinite(next)) return undefined;
    const wait = Math.min(next - Date.now() + 500, most);
    const timer = setTimeout(refresh, Math.max(wait, 0));
    return () => clearTimeout(timer);
  }, [next, refresh]);
}
