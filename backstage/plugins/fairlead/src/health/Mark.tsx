import { Mark as OfGoodness, type Goodness } from '../parts';

const states: Record<string, Goodness> = {
  error: 'bad',
  failing: 'bad',
  stale: 'warn',
  warning: 'warn',
  ok: 'good',
  pending: 'busy',
};

/** The state of a source, or how bad a problem is, in a word with its icon. */
export const Mark = ({ of }: { of: string }) => (
  <OfGoodness is={states[of] ?? 'unknown'}>{of}</OfGoodness>
);
