import { Text } from '@backstage/ui';
import { useLiveQuery } from '../client';
import { FaultPanel, Pager, usePaging, Waiting } from '../parts';
import { AgentTable } from './AgentTable';
import { ActingAgentsDocument, ActsChangeDocument } from './agents.generated';
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

/** What is said where not all that agents have has been counted. */
function uncounted(cut: Record<string, string | null | undefined>) {
  const kinds = Object.keys(cut).filter(kind => cut[kind]);
  return kinds.length
    ? `There are more ${kinds.join(
        ' and ',
      )} than are counted here: the newest alone are.`
    : undefined;
}

/** The agents that acted, hold something or wait for something. */
export const AgentsSeen = () => {
  const paging = usePaging();
  const acting = useLiveQuery({
    query: ActingAgentsDocument,
    variables: { first: 100, after: paging.after },
    changes: actsChanges,
  });
  const leases = useLeases({});
  const previews = useHeldPreviews({});
  const pending = usePending({});
  const proposals = useProposals({});
  const all = [acting, leases, previews, pending, proposals];
  const next = acting.data?.agents?.nextCursor;
  const whole = !paging.after && !next; // else others are on other pages
  const agents = gather({
    acting: acting.data?.agents?.items ?? [],
    leases: leases.data?.credentials?.items ?? [],
    previews: previews.data?.previewEnvironments?.items ?? [],
    requests: pending.data?.approvals?.items ?? [],
    proposals: proposals.data?.proposals?.items.filter(isOpen) ?? [],
  }).filter(agent => whole || agent.last);
  const failed = all.find(query => query.fault && !isAbsent(query));
  const loading = all.some(query => query.loading);
  const more = uncounted({
    leases: leases.data?.credentials?.nextCursor,
    previews: previews.data?.previewEnvironments?.nextCursor,
    approvals: pending.data?.approvals?.nextCursor,
    proposals: proposals.data?.proposals?.nextCursor,
  });
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
      {more && <Text color="secondary">{more}</Text>}
      <Pager of={paging} next={next} what="agents" />
    </Section>
  );
};
