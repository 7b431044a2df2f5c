import { Button, Cell, CellText, Flex, Row } from '@backstage/ui';
import { useState } from 'react';
import { Countdown } from '../parts';
import type { HeldLeaseFragment, HeldLeasesQuery } from './agents.generated';
import { RevokeDialog } from './EndLeases';
import { Ref, Who } from './Fields';
import { Held, type HeldProps } from './Held';
import { State } from './State';
import { useRefreshAt } from './useRefreshAt';

const LeaseState = ({ of: lease }: { of: HeldLeaseFragment }) => (
  <Flex direction="column" gap="1">
    <State of={lease.state} />
    {lease.alarm && <strong>Somebody else opened it.</strong>}
    {lease.overdue && <strong>Its issuer has not taken it back.</strong>}
  </Flex>
);

const ends = new Set(['issuing', 'live']);

const LeaseRow = (props: { of: HeldLeaseFragment; onRevoke(): void }) => {
  const { of: lease, onRevoke } = props;
  return (
    <Row id={lease.lease}>
      <CellText
        title={lease.name}
        description={lease.environment ?? undefined}
      />
      <Cell>
        <Ref of={lease.service} />
      </Cell>
      <Cell>
        <Who subject={lease.person} agent={lease.agent} />
      </Cell>
      <CellText
        title={lease.purpose ?? ''}
        description={lease.boundTo ?? undefined}
      />
      <Cell>
        <LeaseState of={lease} />
      </Cell>
      <Cell>
        <Countdown at={lease.expiresAt} />
      </Cell>
      <Cell>
        {ends.has(lease.state) && (
          <Button
            size="small"
            variant="secondary"
            destructive
            aria-label={`Revoke ${lease.name} of ${lease.service}`}
            onPress={onRevoke}
          >
            Revoke
          </Button>
        )}
      </Cell>
    </Row>
  );
};

/** Credentials on loan: until when, for what, and a way to end each. */
export const Leases = (props: HeldProps<HeldLeasesQuery>) => {
  const { of } = props;
  const [ending, end] = useState<HeldLeaseFragment>();
  useRefreshAt(
    of.data?.credentials?.items.map(lease => lease.expiresAt) ?? [],
    of.refresh,
  );
  return (
    <>
      <Held
        {...props}
        label="Credentials on loan"
        columns={[
          'Credential',
          'Of',
          'Held by',
          'For',
          'State',
          'Ends in',
          'Act',
        ]}
        absent="No credentials are lent here."
        page={data => data.credentials}
      >
        {lease => (
          <LeaseRow key={lease.lease} of={lease} onRevoke={() => end(lease)} />
        )}
      </Held>
      {ending && (
        <RevokeDialog
          lease={ending}
          onClose={() => end(undefined)}
          onDone={() => {
            end(undefined);
            of.refresh();
          }}
        />
      )}
    </>
  );
};
