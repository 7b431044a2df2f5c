import { Flex, Skeleton, Text, VisuallyHidden } from '@backstage/ui';
import type { ReactNode } from 'react';
import type { LiveQuery } from '../client';
import { FaultPanel } from './FaultPanel';

interface AnswerProps<D> {
  of: LiveQuery<D>;
  /** Whether there is nothing to show, and what is said then. */
  empty?: { when: (data: D) => boolean; text: ReactNode };
  children: (data: D) => ReactNode;
}

/** Stands for what is on its way. */
export const Waiting = () => (
  <Flex direction="column" gap="2" aria-busy>
    <VisuallyHidden role="status">Loading</VisuallyHidden>
    {['80%', '60%', '70%'].map(width => (
      <Skeleton key={width} width={width} height={16} />
    ))}
  </Flex>
);

/** Shows an answer, or that it is on its way, empty, or failed. */
export function Answer<D>({ of, empty, children }: AnswerProps<D>) {
  if (of.loading) return <Waiting />;
  return (
    <Flex direction="column" gap="3">
      {of.fault && <FaultPanel fault={of.fault} onRetry={of.refresh} />}
      {of.data &&
        (empty?.when(of.data) ? (
          <Text color="secondary">{empty.text}</Text>
        ) : (
          children(of.data)
        ))}
    </Flex>
  );
}
