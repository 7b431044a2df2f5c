import {
  Accordion,
  AccordionPanel,
  AccordionTrigger,
  Flex,
} from '@backstage/ui';
import { useState, type ReactNode } from 'react';
import { Resources } from './Resources';
import { Strays } from './Strays';
import { Usage } from './Usage';
import { useMay } from './preview';

/** A part of the page that asks for what it shows once it is opened. */
const Part = (props: { title: string; children: ReactNode }) => {
  const [open, setOpen] = useState(false);
  return (
    <Accordion isExpanded={open} onExpandedChange={setOpen}>
      <AccordionTrigger title={props.title} level={2} />
      <AccordionPanel>{open && props.children}</AccordionPanel>
    </Accordion>
  );
};

/**
 * What previews take now and took in a period, and what is left of others, for
 * those who may see that.
 */
export const Figures = (props: { service?: string }) => {
  const mayStrays = useMay('previews.strays');
  return (
    <Flex direction="column" gap="2">
      <Part title="Resources">
        <Resources {...props} />
      </Part>
      <Part title="Usage">
        <Usage {...props} />
      </Part>
      {mayStrays && (
        <Part title="Strays">
          <Strays />
        </Part>
      )}
    </Flex>
  );
};
