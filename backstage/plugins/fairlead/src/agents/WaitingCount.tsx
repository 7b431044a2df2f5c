import { ButtonLink } from '@backstage/ui';
import { RiCheckboxMultipleLine } from '@remixicon/react';
import { Connected, useLiveQuery } from '../client';
import { WaitingCountDocument } from './approvals.generated';
import { useApprovalHref } from './links';
import { approvalChanges } from './requests';

const Count = () => {
  const waiting = useLiveQuery({
    query: WaitingCountDocument,
    variables: {},
    changes: approvalChanges,
    every: 30_000,
  });
  const href = useApprovalHref();
  const { items, nextCursor } = waiting.data?.approvals ?? {};
  if (!items?.length) return null;
  const count = `${items.length}${nextCursor ? '+' : ''}`;
  return (
    <ButtonLink
      size="small"
      variant="secondary"
      href={href()}
      iconStart={<RiCheckboxMultipleLine />}
    >
      {`${count} to approve`}
    </ButtonLink>
  );
};

/** How many requests wait for the viewer; nothing where none does. */
export const WaitingCount = () => (
  <Connected>
    <Count />
  </Connected>
);
