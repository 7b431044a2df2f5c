import type { Goodness } from '../../parts';
import type { FollowThroughFragment } from './proposals.generated';

/** What a proposal goes through. */
export interface Step {
  name: string;
  /** failed ends it; skipped does not come to be known. */
  state: 'done' | 'current' | 'ahead' | 'failed' | 'skipped';
  at?: string | null;
  text?: string | null;
}

type Through = FollowThroughFragment;

function merging(p: Through): Step {
  const { mergedAt, closedAt } = p.follow;
  if (p.state === 'closed') {
    const text = 'without being merged';
    return { name: 'Closed', state: 'failed', at: closedAt, text };
  }
  const state = p.state === 'merged' ? 'done' : 'current';
  return { name: 'Merged', state, at: mergedAt };
}

function syncing(p: Through): Step {
  const { syncedAt, outcome } = p.follow;
  const name = 'Synced';
  if (syncedAt) return { name, state: 'done', at: syncedAt };
  if (p.state !== 'merged') return { name, state: 'ahead' };
  if (outcome === 'merged') {
    return { name, state: 'skipped', text: 'nobody tells what runs' };
  }
  return { name, state: outcome ? 'skipped' : 'current' };
}

function living(p: Through): Step {
  const { syncedAt, healthyAt, degradedAt, grounds, outcome } = p.follow;
  const why = grounds.join('; ');
  if (outcome === 'degraded' || (degradedAt && !healthyAt)) {
    const state = outcome ? 'failed' : 'current';
    return { name: 'Degraded', state, at: degradedAt, text: why };
  }
  const name = 'Healthy';
  if (healthyAt) {
    const state = outcome ? 'done' : 'current';
    const text = outcome ? null : 'it is still watched';
    return { name, state, at: healthyAt, text };
  }
  if (outcome) return { name, state: 'skipped', text: why };
  return { name, state: syncedAt ? 'current' : 'ahead' };
}

/** The steps of a proposal, from proposed to healthy or rolled back. */
export function stepsOf(p: Through): Step[] {
  const pushed =
    p.state === 'pushed' && p.branch ? `as branch ${p.branch}` : '';
  const first: Step = {
    name: 'Proposed',
    state: p.state === 'preparing' ? 'current' : 'done',
    at: p.createdAt,
    text: p.state === 'preparing' ? 'it is being prepared' : pushed,
  };
  const merged = merging(p);
  if (first.state === 'current') merged.state = 'ahead';
  const steps = [first, merged];
  if (merged.state === 'failed') return steps;
  steps.push(syncing(p), living(p));
  const back = p.follow.rolledBack;
  if (back) {
    const text = back.proposal && `by proposal ${back.proposal}`;
    steps.push({ name: 'Rolled back', state: 'done', at: back.at, text });
  }
  return steps;
}

const outcomes: Record<string, [Goodness, string]> = {
  healthy: ['good', 'healthy'],
  degraded: ['bad', 'degraded'],
  rolled_back: ['warn', 'rolled back'],
  closed: ['unknown', 'closed'],
  merged: ['good', 'merged'],
  unknown: ['unknown', 'not known how it ended'],
};

/** How a proposal stands, in a word. */
export function standing(p: Through): [Goodness, string] {
  const { outcome, syncedAt, healthyAt, degradedAt, rolledBack } = p.follow;
  if (rolledBack) return outcomes.rolled_back;
  if (outcome) return outcomes[outcome] ?? ['unknown', outcome];
  if (degradedAt && !healthyAt) return outcomes.degraded;
  if (healthyAt) return ['busy', 'healthy, still watched'];
  if (syncedAt) return ['busy', 'synced'];
  if (p.state === 'closed') return outcomes.closed;
  if (p.blocking.length > 0) {
    return ['warn', `${p.state}, blocked: ${p.blocking[0].what}`];
  }
  return ['busy', p.state];
}
