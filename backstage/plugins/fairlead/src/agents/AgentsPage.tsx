import { useAppSearchParams } from '@backstage/frontend-plugin-api';
import { Container, Flex } from '@backstage/ui';
import { Connected } from '../client';
import { Acts } from './Acts';
import { AgentsSeen } from './AgentsSeen';
import { AgentView } from './AgentView';

const Agents = () => {
  const [params, setParams] = useAppSearchParams();
  const agent = params.get('agent');
  if (agent) {
    return <AgentView key={agent} agent={agent} onBack={() => setParams({})} />;
  }
  return (
    <Flex direction="column" gap="6">
      <AgentsSeen />
      <Acts />
    </Flex>
  );
};

/** The agents that acted lately, and what they did; or one of them. */
export const AgentsPage = () => (
  <Connected>
    <Container py="4">
      <Agents />
    </Container>
  </Connected>
);
