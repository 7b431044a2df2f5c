import { Flex, Text } from '@backstage/ui';
import type { ReactNode } from 'react';
import { Diff, useSome } from '../parts';
import styles from './agents.module.css';
import { Fields, Ref, type Field } from './Fields';
import { titleOf } from './words';

const deep = 6; // levels that are shown as fields
const many = 50; // items of a list, or fields, that are shown unasked

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isDiff = (key: string, value: unknown): value is string =>
  typeof value === 'string' &&
  (/diff$/i.test(key) || /^--- .*\n\+\+\+ .*\n@@ /m.test(value)) &&
  /^(@@ |Binary files |diff )/m.test(value);

const holdsDiff = (value: unknown) => isDiff('', value);

const isEmpty = (value: unknown) =>
  value === null ||
  value === undefined ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

/** A value as text, however deep it is. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value, undefined, 2);
  } catch {
    return 'It is nested too deeply to be shown here.';
  }
}

/** Why comes first, then the diff, then small things, then lists and objects. */
function rank([key, value]: [string, unknown]): number {
  if (key === 'reason' || key === 'evidence') return 0;
  if (isDiff(key, value)) return 1;
  return typeof value === 'object' ? 3 : 2;
}

/** Shows a value that is part of another. */
type Show = (part: unknown) => ReactNode;

const Items = (props: { of: unknown[]; show: Show }) => {
  const [some, more] = useSome(props.of, many);
  return (
    <Flex direction="column" gap="2" align="start">
      <ul className={styles.list}>
        {some.map((item, n) => (
          <li key={n}>{props.show(item)}</li>
        ))}
      </ul>
      {more}
    </Flex>
  );
};

const Parts = (props: { of: Record<string, unknown>; show: Show }) => {
  const fields = Object.entries(props.of)
    .filter(([, value]) => !isEmpty(value))
    .sort((a, b) => rank(a) - rank(b));
  const [some, more] = useSome(fields, many);
  return (
    <>
      <Fields
        of={some.map(([key, value]): Field => {
          if (isDiff(key, value)) {
            return [titleOf(key), <Diff key={key} text={value} />, true];
          }
          const wide = isObject(value) && Object.values(value).some(holdsDiff);
          return [titleOf(key), props.show(value), wide];
        })}
      />
      {more}
    </>
  );
};

const Value = (props: { of: unknown; depth: number }) => {
  const { of: value, depth } = props;
  const show = (part: unknown) => <Value of={part} depth={depth + 1} />;
  if (isEmpty(value)) return <Text color="secondary">none</Text>;
  if (typeof value === 'string') {
    return value.includes('\n') ? (
      <pre className={styles.text}>{value}</pre>
    ) : (
      <Ref of={value} />
    );
  }
  if (typeof value !== 'object') return <>{String(value)}</>;
  if (depth > deep) return <pre className={styles.text}>{textOf(value)}</pre>;
  if (Array.isArray(value)) return <Items of={value} show={show} />;
  return <Parts of={value as Record<string, unknown>} show={show} />;
};

/**
 * A plan of any act as people read it: its fields by name, what it changes as
 * diffs. Nothing of it is left out but what is empty; of very much the rest is
 * shown when it is asked for.
 */
export const Plan = ({ of }: { of: unknown }) => <Value of={of} depth={0} />;
