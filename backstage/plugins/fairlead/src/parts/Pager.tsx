import { Button, Flex } from '@backstage/ui';
import { RiArrowLeftSLine, RiArrowRightSLine } from '@remixicon/react';
import { useState } from 'react';

/** Which page of a list is shown, by the cursors of those before it. */
export interface Paging {
  /** Cursor of the page; undefined on the first. */
  after?: string;
  /** Shows the page after a cursor. */
  older(cursor: string): void;
  /** Shows the page before; undefined on the first. */
  newer?: () => void;
}

/** Begins at the first page, and again whenever the key changes. */
export function usePaging(key = ''): Paging {
  const [at, setAt] = useState<{ key: string; cursors: string[] }>();
  const cursors = at?.key === key ? at.cursors : [];
  return {
    after: cursors[cursors.length - 1],
    older: cursor => setAt({ key, cursors: [...cursors, cursor] }),
    newer: cursors.length
      ? () => setAt({ key, cursors: cursors.slice(0, -1) })
      : undefined,
  };
}

/** Leads to the pages before and after, where there are any. */
export const Pager = (props: {
  of: Paging;
  next?: string | null;
  /** What is paged, for who does not see it. */
  what: string;
}) => {
  const { of, next, what } = props;
  if (!of.newer && !next) return null;
  return (
    <Flex gap="2" role="group" aria-label={`Pages of ${what}`}>
      <Button
        size="small"
        variant="secondary"
        iconStart={<RiArrowLeftSLine />}
        isDisabled={!of.newer}
        onPress={() => of.newer?.()}
      >
        Newer
      </Button>
      <Button
        size="small"
        variant="secondary"
        iconEnd={<RiArrowRightSLine />}
        isDisabled={!next}
        onPress={() => next && of.older(next)}
      >
        Older
      </Button>
    </Flex>
  );
};
