import { Text } from '@backstage/ui';
import { Mark, type Goodness } from '../../parts';
import { Items } from '../Facts';
import { number } from '../words';
import type { HealthAnswer } from './Health';

const states: Record<string, Goodness> = {
  met: 'good',
  burning: 'warn',
  missed: 'bad',
};

type Objective = HealthAnswer['slo'][number];

/** What is left of the budget, and how fast it goes, in words. */
function budget(o: Objective): string {
  const out = [];
  if (o.budgetLeft !== null) {
    out.push(
      o.budgetLeft > 0
        ? `${number(o.budgetLeft)} % of the error budget left`
        : `error budget overdrawn by ${number(-o.budgetLeft)} %`,
    );
  }
  if (o.burn !== null) {
    out.push(
      o.burn > 0
        ? `burning ${number(o.burn)} times as fast as it may`
        : 'nothing burned in the last hour',
    );
  }
  return out.join(', ') || (o.why ?? '');
}

/** How the objectives of a service stand. */
export const Objectives = (props: { of: Objective[] }) => (
  <Items label="Objectives">
    {props.of.map(o => (
      <li key={o.name}>
        <Mark is={states[o.state] ?? 'unknown'}>{o.state}</Mark> {o.name}:{' '}
        {number(o.objective, 4)} %{o.window && ` over ${o.window}`}
        {budget(o) && (
          <Text as="p" variant="body-small" color="secondary">
            {budget(o)}
          </Text>
        )}
      </li>
    ))}
  </Items>
);
