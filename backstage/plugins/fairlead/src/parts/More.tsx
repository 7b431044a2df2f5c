import { useState, type ReactNode } from 'react';
import { Button, Flex } from '@backstage/ui';

/** Shows more of a list, where there is more. */
export const More = (props: { rest: number; size: number; onMore(): void }) =>
  props.rest > 0 ? (
    <Flex mt="2">
      <Button size="small" variant="secondary" onPress={props.onMore}>
        {props.rest > props.size
          ? `Show ${props.size} of ${props.rest} more`
          : `Show ${props.rest} more`}
      </Button>
    </Flex>
  ) : null;

/** As many of a list as a page can bear, and what shows so many more of it. */
export function useSome<T>(of: T[], size: number): [T[], ReactNode] {
  const [shown, setShown] = useState(size);
  const more = (
    <More
      rest={of.length - shown}
      size={size}
      onMore={() => setShown(shown + size)}
    />
  );
  return [of.slice(0, shown), more];
}
