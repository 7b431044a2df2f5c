import { Flex, Text } from '@backstage/ui';
import { CopyButton } from '../parts';
import styles from './previews.module.css';

/** Says that no preview is there, and how to have one. */
export const EmptyHint = (props: { service: string }) => {
  const command = `fairlead previews create ${props.service}`;
  return (
    <Flex direction="column" gap="2">
      <Text>
        No previews are there. Create one here, ask your agent for one, or run:
      </Text>
      <Flex align="center" gap="1">
        <code className={styles.code}>{command}</code>
        <CopyButton text={command} what="the command" />
      </Flex>
    </Flex>
  );
};
