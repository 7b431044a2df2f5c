import { proposal, type Came } from '../__testUtils__/show';
import type { FollowThroughFragment } from './proposals.generated';
import { standing, stepsOf } from './steps';

const at = '2026-11-30T09:00:00Z';
const merged: Came = { merged: 'b', mergedAt: at };
const synced: Came = { ...merged, synced: 'b', syncedAt: at };

type Case = [
  name: string,
  came: Came,
  more: object,
  steps: string,
  word: string,
];

const cases: Case[] = [
  [
    'being prepared',
    {},
    { state: 'preparing' },
    'Proposed current, Merged ahead, Synced ahead, Healthy ahead',
    'preparing',
  ],
  [
    'pushed',
    {},
    { state: 'pushed' },
    'Proposed done, Merged current, Synced ahead, Healthy ahead',
    'pushed',
  ],
  [
    'open',
    {},
    {},
    'Proposed done, Merged current, Synced ahead, Healthy ahead',
    'open',
  ],
  [
    'blocked',
    {},
    { blocking: [{ what: 'checks' }] },
    'Proposed done, Merged current, Synced ahead, Healthy ahead',
    'open, blocked: checks',
  ],
  [
    'closed',
    { closedAt: at, outcome: 'closed' },
    { state: 'closed' },
    'Proposed done, Closed failed',
    'closed',
  ],
  [
    'merged',
    merged,
    { state: 'merged' },
    'Proposed done, Merged done, Synced current, Healthy ahead',
    'merged',
  ],
  [
    'merged, and nobody tells',
    { ...merged, outcome: 'merged' },
    { state: 'merged' },
    'Proposed done, Merged done, Synced skipped, Healthy skipped',
    'merged',
  ],
  [
    'synced',
    synced,
    { state: 'merged' },
    'Proposed done, Merged done, Synced done, Healthy current',
    'synced',
  ],
  [
    'watched',
    { ...synced, healthyAt: at },
    { state: 'merged' },
    'Proposed done, Merged done, Synced done, Healthy current',
    'healthy, still watched',
  ],
  [
    'healthy',
    { ...synced, healthyAt: at, outcome: 'healthy' },
    { state: 'merged' },
    'Proposed done, Merged done, Synced done, Healthy done',
    'healthy',
  ],
  [
    'not well',
    { ...synced, degradedAt: at },
    { state: 'merged' },
    'Proposed done, Merged done, Synced done, Degraded current',
    'degraded',
  ],
  [
    'degraded for good',
    { ...synced, degradedAt: at, outcome: 'degraded' },
    { state: 'merged' },
    'Proposed done, Merged done, Synced done, Degraded failed',
    'degraded',
  ],
  [
    'rolled back',
    {
      ...synced,
      degradedAt: at,
      outcome: 'rolled_back',
      rolledBack: { at, proposal: 'p2' },
    },
    { state: 'merged' },
    'Proposed done, Merged done, Synced done, Degraded failed, Rolled back done',
    'rolled back',
  ],
  [
    'not known',
    { ...merged, outcome: 'unknown' },
    { state: 'merged' },
    'Proposed done, Merged done, Synced skipped, Healthy skipped',
    'not known how it ended',
  ],
];

describe('the steps of a proposal', () => {
  it.each(cases)('%s', (_, came, more, steps, word) => {
    const p = proposal(came, more) as unknown as FollowThroughFragment;
    expect(
      stepsOf(p)
        .map(s => `${s.name} ${s.state}`)
        .join(', '),
    ).toBe(steps);
    expect(standing(p)[1]).toBe(word);
  });
});
