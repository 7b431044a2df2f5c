import { Button, Flex, Link, Text } from '@backstage/ui';
import { RiArrowLeftLine } from '@remixicon/react';
import { useLiveQuery } from '../client';
import { Answer } from '../parts';
import { Acts } from './Acts';
import { ActingAgentsDocument, ActsChangeDocument } from './agents.generated';
import { EndLeases } from './EndLeases';
import { Persons } from './AgentTable';
import { Fields } from './Fields';
import { gather } from './gather';
import { useProposalHref } from './links';
import { HeldPreviews } from './HeldPreviews';
import { Leases } from './Leases';
import { Pending } from './Pending';
import { Section } from './Section';
import {
  isOpen,
  useHeldPreviews,
  useLeases,
  usePending,
  useProposals,
} from './useTraces';
import styles from '../parts/long.module.css';

/** The proposals of an agent that are neither merged nor closed. */
const Proposals = ({ agent }: { agent: string }) => {
  const proposals = useProposals({ agent });
  const href = useProposalHref();
  return (
    <Answer
      of={proposals}
      empty={{
        when: d => !d.proposals?.items.some(isOpen) && !d.proposals?.nextCursor,
        text: 'None of its proposals is open.',
      }}
    >
      {data => (
        <>
          <ul>
            {data.proposals?.items.filter(isOpen).map(p => (
              <li key={p.id}>
                <Link href={href(p.id)}>{p.title}</Link> ({p.state})
              </li>
            ))}
          </ul>
          {data.proposals?.nextCursor && (
            <Text color="secondary">
              Those open of its newest {data.proposals.items.length} proposals;
              there are older ones.
            </Text>
          )}
        </>
      )}
    </Answer>
  );
};

/** One agent: what it waits for, holds and did. */
export const AgentView = (props: { agent: string; onBack: () => void }) => {
  const { agent, onBack } = props;
  const leases = useLeases({ agent });
  const previews = useHeldPreviews({ agent });
  const pending = usePending({ agent });
  const acting = useLiveQuery({
    query: ActingAgentsDocument,
    variables: { agent, first: 1 },
    changes: [{ query: ActsChangeDocument, variables: { agent } }],
  });
  const [known] = gather({
    acting: acting.data?.agents?.items ?? [],
    leases: leases.data?.credentials?.items ?? [],
    previews: previews.data?.previewEnvironments?.items ?? [],
    requests: pending.data?.approvals?.items ?? [],
    proposals: [],
  });
  return (
    <Flex direction="column" gap="6">
      <Flex direction="column" gap="3" align="start">
        <Button
          size="small"
          variant="tertiary"
          iconStart={<RiArrowLeftLine />}
          onPress={onBack}
        >
          All agents
        </Button>
        <Text as="h2" variant="title-medium" className={styles.long}>
          {agent}
        </Text>
        <Fields
          of={[
            ['Acts for', known ? <Persons of={known} /> : 'nobody on record'],
          ]}
        />
      </Flex>
      <Section title="What it waits for">
        <Pending of={pending} none="No request for approval is pending." />
        <Proposals agent={agent} />
      </Section>
      <Section
        title="Credentials on loan"
        action={
          <EndLeases
            whose={{ kind: 'agent', name: agent }}
            onDone={leases.refresh}
          />
        }
      >
        <Leases of={leases} none="It holds no credentials." />
      </Section>
      <Section title="Previews">
        <HeldPreviews of={previews} none="It has no previews running." />
      </Section>
      <Acts agent={agent} />
    </Flex>
  );
};
