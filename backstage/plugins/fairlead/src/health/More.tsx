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
