import { useState } from 'react';

const size = 50;

/**
 * The page of a list that is shown, by the cursors of those before it. It is
 * the first again when what is listed, as of tells, is something else.
 */
export function usePages(of: string) {
  const [now, setNow] = useState<{ of: string; cursors: string[] }>({
    of,
    cursors: [],
  });
  const cursors = now.of === of ? now.cursors : [];
  return {
    size,
    after: cursors[cursors.length - 1],
    forth: (cursor: string) => setNow({ of, cursors: [...cursors, cursor] }),
    /** Shows the page before; undefined on the first. */
    back: cursors.length
      ? () => setNow({ of, cursors: cursors.slice(0, -1) })
      : undefined,
  };
}
