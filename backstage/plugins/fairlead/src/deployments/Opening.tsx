import {
  Accordion,
  AccordionPanel,
  AccordionTrigger,
  Flex,
  Text,
} from '@backstage/ui';
import type { ReactNode } from 'react';
import { Mark, useParam, When, type Goodness } from '../parts';
import { Row } from './Facts';
import { nameOf } from './words';
import styles from '../parts/long.module.css';

interface Made {
  id: string;
  title: string;
  person: string;
  agent: string | null;
  createdAt: string | null;
}

/**
 * What somebody began; all of it opens below what one sees before. Which one is
 * open is in the address, so that one can send it.
 */
export const Opening = (props: {
  of: Made;
  /** Of the parameter that holds the id of the one that is open. */
  name: string;
  is: Goodness;
  state: string;
  /** What it is about. */
  about: ReactNode;
  children: ReactNode;
}) => {
  const { of } = props;
  const [opened, open] = useParam(props.name);
  const isOpen = opened === of.id;
  return (
    <Accordion
      isExpanded={isOpen}
      onExpandedChange={now => open(now ? of.id : undefined)}
    >
      <AccordionTrigger>
        <Flex direction="column" gap="1" align="start" className={styles.long}>
          <Row>
            <Text weight="bold">{of.title}</Text>
            <Mark is={props.is}>{props.state}</Mark>
          </Row>
          <Text variant="body-small" color="secondary">
            {props.about}
            {`, by ${nameOf(of.person)}`}
            {of.agent && ` with ${of.agent}`}
            {of.createdAt && (
              <>
                {' '}
                <When at={of.createdAt} />
              </>
            )}
          </Text>
        </Flex>
      </AccordionTrigger>
      <AccordionPanel>{isOpen && props.children}</AccordionPanel>
    </Accordion>
  );
};
