import { Flex, Text } from '@backstage/ui';
import type { ReactNode } from 'react';
import styles from '../parts/long.module.css';

/** A part of a page under its title, and what can be done beside that. */
export const Section = (props: {
  title: string;
  action?: ReactNode;
  children: ReactNode;
}) => (
  <Flex direction="column" gap="3">
    <Flex justify="between" align="start" gap="3" style={{ flexWrap: 'wrap' }}>
      <Text as="h2" variant="title-small" className={styles.long}>
        {props.title}
      </Text>
      {props.action}
    </Flex>
    {props.children}
  </Flex>
);
