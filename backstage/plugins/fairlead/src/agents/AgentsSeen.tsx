import { Text } from '@backstage/ui';
import { useLiveQuery } from '../client';
import { FaultPanel, Waiting } from '../parts';
import { AgentTable } from './AgentTable';
import { ActsChangeDocument, LatestActsDocument } from './agents.generated';
import { EndLeases } from './EndLeases';
import { gather } from './gather';
import { Section } from './Section';
import {
  isAbsent,
  isOpen,
  useHeldPreviews,
  useLeases,
  usePending,
  useProposals,
} from './useTraces';

const actsChanges = [{ query: ActsChangeDocument }];

/** The agents that acted lately, hold something or wait for something. */
export const AgentsSeen = () => {
  const acts = useLiveQuery({
    query: LatestActsDocument,
    variables: { agent: '*' },
    changes: actsChanges,
  });
  const leases = useLeases({});
  const previews = useHeldPreviews({});
  const pending = usePending({});
  const proposals = useProposals({});
  const all = [acts, leases, previews, pending, proposals];
  const agents = gather({
    acts: acts.data?.audit?.items ?? [],
    leases: leases.data?.credentials?.items ?? [],
    previews: previews.data?.previewEnvironments?.items ?? [],
    requests: pending.data?.approvals?.items ?? [],
    proposals: proposals.data?.proposals?.items.filter(isOpen) ?? [],
  });
  const failed = all.find(query => query.fault && !isAbsent(query));
  const loading = all.some(query => query.loading);
  const cut = Boolean(acts.data?.audit?.nextCursor);
  return (
    <Section title="Agents" action={<EndLeases onDone={leases.refresh} />}>
      {failed?.fault && (
        <FaultPanel fault={failed.fault} onRetry={failed.refresh} />
      )}
      {agents.length > 0 && <AgentTable of={agents} />}
      {agents.length === 0 && loading && <Waiting />}
      {agents.length === 0 && !loading && !failed && (
        <Text color="secondary">
          No agent has done anything yet that you may see.
        </Text>
      )}
      {cut && (
        <Text color="secondary">
          By the newest 500 acts of agents; older ones are in the record below.
        </Text>
      )}
    </Section>
  );
};
