import { Text } from '@backstage/ui';
import type { LiveQuery } from '../client';
import { Answer } from '../parts';
import type { ApprovalsQuery } from './approvals.generated';
import { ApprovalTable } from './ApprovalTable';

/** Requests that are pending; each leads to where it is decided on. */
export const Pending = (props: {
  of: LiveQuery<ApprovalsQuery>;
  /** What is said where there is none. */
  none: string;
}) => (
  <Answer
    of={props.of}
    empty={{ when: d => d.approvals?.items.length === 0, text: props.none }}
  >
    {data => (
      <>
        <ApprovalTable
          of={data.approvals?.items ?? []}
          label="Pending requests for approval"
        />
        {data.approvals?.nextCursor && (
          <Text color="secondary">
            There are more; these are the newest {data.approvals.items.length}.
          </Text>
        )}
      </>
    )}
  </Answer>
);
