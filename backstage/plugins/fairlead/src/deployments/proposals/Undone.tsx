import { Button, Text } from '@backstage/ui';
import { Code, Row } from '../Facts';

/** Lets one propose again what people have decided against. */
export const Undone = (props: { proposal?: string; onAnew(): void }) => (
  <Row>
    {props.proposal && (
      <Text>
        It was proposal <Code>{props.proposal}</Code>.
      </Text>
    )}
    <Button variant="secondary" onPress={props.onAnew}>
      Propose it all the same
    </Button>
  </Row>
);
