import { Flex, Text } from '@backstage/ui';
import { Mark, type Goodness } from '../../parts';
import { Heading, Items } from '../Facts';
import { number } from '../words';
import type { MeasuredFragment } from './proposals.generated';

type Window = NonNullable<MeasuredFragment['follow']['window']>;

const outcomes: Record<string, Goodness> = {
  verified: 'good',
  regressed: 'bad',
};

/** A figure with its unit; "not known" where there is none. */
function figure(value: number | null, unit: string): string {
  if (value === null) return 'not known';
  if (unit === 'ratio') return `${number(value * 100, 2)} %`;
  if (unit === 'seconds') {
    return value < 1
      ? `${number(value * 1000, 0)} ms`
      : `${number(value, 2)} s`;
  }
  return number(value);
}

/** What was measured before a change and after it. */
export const Measures = ({ of }: { of: Window }) => (
  <Flex direction="column" gap="2">
    <Heading small>Measured before and after</Heading>
    <Mark is={outcomes[of.outcome] ?? 'unknown'}>{of.outcome}</Mark>
    {of.grounds.map(ground => (
      <Text key={ground} as="p" variant="body-small" color="secondary">
        {ground}
      </Text>
    ))}
    <Items label="Measured before and after">
      {of.figures.map(f => (
        <li key={f.name}>
          {f.name}: {figure(f.before, f.unit)} → {figure(f.after, f.unit)}{' '}
          {f.worse && <Mark is="bad">worse</Mark>}
        </li>
      ))}
    </Items>
  </Flex>
);
