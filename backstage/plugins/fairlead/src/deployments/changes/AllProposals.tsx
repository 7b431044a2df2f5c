import { Flex } from '@backstage/ui';
import { Filters, useParam } from '../../parts';
import { Proposals } from '../proposals/Proposals';
import { ChoiceFilter, TextFilter } from './Filter';

const states = ['preparing', 'pushed', 'open', 'merged', 'closed'];

/** A person by name alone is one of the namespace default. */
const person = (text?: string) =>
  text && !text.includes(':') ? `user:${text}` : text;

/** The proposals that one may see, by state, service, person and agent. */
export const AllProposals = () => {
  const [state] = useParam('state');
  const [service] = useParam('service');
  const [by] = useParam('person');
  const [agent] = useParam('agent');
  const filters = { state, service, person: person(by), agent };
  return (
    <Flex direction="column" gap="4">
      <Filters>
        <ChoiceFilter name="state" label="State" choices={states} />
        <TextFilter name="service" label="Service" placeholder="checkout" />
        <TextFilter name="person" label="Person" placeholder="alice" />
        <TextFilter name="agent" label="Agent" placeholder="claude" />
      </Filters>
      <Proposals key={JSON.stringify(filters)} filters={filters} />
    </Flex>
  );
};
