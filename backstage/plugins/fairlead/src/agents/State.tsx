import { Mark, type Goodness } from '../parts';

const states: Record<string, Goodness> = {
  // of requests for approval; what has expired is neither good nor bad
  pending: 'busy',
  granted: 'good',
  denied: 'bad',
  used: 'good',
  // of acts
  ok: 'good',
  refused: 'bad',
  failed: 'bad',
  unknown: 'unknown',
  // of credentials on loan
  issuing: 'busy',
  live: 'good',
  revoking: 'busy',
  // of previews
  creating: 'busy',
  ready: 'good',
  degraded: 'bad',
  deleting: 'busy',
};

/** A state as a word with a sign of how good it is, where it is either. */
export const State = ({ of }: { of: string }) =>
  states[of] ? <Mark is={states[of]}>{of}</Mark> : <span>{of}</span>;
