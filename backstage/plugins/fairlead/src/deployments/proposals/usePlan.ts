import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import type { Fault } from '@fairlead/backstage-plugin-common';
import { useRef, useState } from 'react';
import { useAct } from '../../client';
import type { PlannedFragment } from './proposals.generated';

/** What proposes something; a dry run gives the plan alone. */
export type Proposing<V> = TypedDocumentNode<
  { proposal: PlannedFragment | null },
  V & { key?: string; planHash?: string; dryRun?: boolean }
>;

/** A change from its plan to its proposal. */
export interface Planning<V> {
  /** What it would do, once that was worked out. */
  plan?: PlannedFragment;
  /** What has come of it. */
  made?: PlannedFragment;
  running: boolean;
  fault?: Fault;
  /** Works out the plan. */
  look(input: V): Promise<void>;
  /**
   * Proposes just what was shown. Clicks meanwhile count as one, and so does
   * doing it again: the server has one proposal for one change. With anew it is
   * another one, though people have closed or taken back the last.
   */
  propose(anew?: boolean): Promise<void>;
  /** Goes back to what was asked for. */
  back(): void;
}

/** A key that nobody else has. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, b => b.toString(16).padStart(2, '0')).join('');
}

/** Has a change planned first, and the same plan proposed. */
export function usePlan<V extends object>(by: Proposing<V>): Planning<V> {
  const act = useAct(by);
  const [asked, setAsked] = useState<V>();
  const [plan, setPlan] = useState<PlannedFragment>();
  const [made, setMade] = useState<PlannedFragment>();
  const busy = useRef(false);
  const key = useRef<string>();

  const once = async (
    variables: Parameters<typeof act.run>[0],
    then: (p: PlannedFragment) => void,
  ) => {
    if (busy.current) return;
    busy.current = true;
    try {
      const done = await act.run(variables);
      if (done?.proposal) then(done.proposal);
    } finally {
      busy.current = false;
    }
  };
  return {
    plan,
    made,
    running: act.running,
    fault: act.fault,
    look: input => {
      setAsked(input);
      return once({ ...input, dryRun: true }, setPlan);
    },
    propose: async anew => {
      if (!asked || !plan) return;
      if (anew) key.current ??= newKey();
      await once(
        { ...asked, planHash: plan.plan.hash, key: key.current },
        setMade,
      );
    },
    back: () => {
      act.forget();
      setPlan(undefined);
    },
  };
}
