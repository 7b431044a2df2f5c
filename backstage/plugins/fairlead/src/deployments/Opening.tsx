import { Accordion, AccordionPanel, AccordionTrigger } from '@backstage/ui';
import type { ReactNode } from 'react';
import { useParam } from '../parts';

/** Opens below its line. Which one is open is in the address, so that one can send it. */
export const Opening = (props: {
  /** Of the parameter that holds the id of the one that is open. */
  name: string;
  id: string;
  line: ReactNode;
  children: ReactNode;
}) => {
  const [opened, open] = useParam(props.name);
  const isOpen = opened === props.id;
  return (
    <Accordion
      isExpanded={isOpen}
      onExpandedChange={now => open(now ? props.id : undefined)}
    >
      <AccordionTrigger>{props.line}</AccordionTrigger>
      <AccordionPanel>{isOpen && props.children}</AccordionPanel>
    </Accordion>
  );
};
