import { Column, TableBody, TableHeader, TableRoot, Text } from '@backstage/ui';
import type { ReactNode } from 'react';
import type { LiveQuery } from '../client';
import { Scrolled, Answer } from '../parts';
import { isAbsent } from './useTraces';

/** How what agents hold is asked for, and what is said where there is none. */
export interface HeldProps<D> {
  of: LiveQuery<D>;
  none: string;
}

/** What agents hold of one kind, in a table: as much of it as was asked for. */
export function Held<D, T>(
  props: HeldProps<D> & {
    label: string;
    columns: string[];
    /** What is said where the server has no such thing. */
    absent: string;
    page(data: D): { items: T[]; nextCursor: string | null } | null;
    /** The row of one. */
    children(item: T): ReactNode;
  },
) {
  const { of, columns, page } = props;
  if (isAbsent(of)) return <Text color="secondary">{props.absent}</Text>;
  return (
    <Answer
      of={of}
      empty={{ when: data => !page(data)?.items.length, text: props.none }}
    >
      {data => (
        <>
          <Scrolled>
            <TableRoot aria-label={props.label}>
              <TableHeader>
                {columns.map((name, i) => (
                  <Column key={name} isRowHeader={i === 0}>
                    {name}
                  </Column>
                ))}
              </TableHeader>
              <TableBody>{page(data)?.items.map(props.children)}</TableBody>
            </TableRoot>
          </Scrolled>
          {page(data)?.nextCursor && (
            <Text color="secondary">
              There are more; these are the newest 200.
            </Text>
          )}
        </>
      )}
    </Answer>
  );
}
