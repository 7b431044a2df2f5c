import {
  Button,
  Cell,
  CellText,
  Column,
  Flex,
  Row,
  TableBody,
  TableHeader,
  TableRoot,
  Text,
} from '@backstage/ui';
import { useState } from 'react';
import type { LiveQuery } from '../client';
import { Answer, Countdown } from '../parts';
import styles from './agents.module.css';
import type { HeldLeaseFragment, HeldLeasesQuery } from './agents.generated';
import { RevokeDialog } from './EndLeases';
import { Ref, Who } from './Fields';
import { State } from './State';
import { useRefreshAt } from './useRefreshAt';
import { isAbsent } from './useTraces';

const LeaseState = ({ of: lease }: { of: HeldLeaseFragment }) => (
  <Flex direction="column" gap="1">
    <State of={lease.state} />
    {lease.alarm && <strong>Somebody else opened it.</strong>}
    {lease.overdue && <strong>Its issuer has not taken it back.</strong>}
  </Flex>
);

const ends = new Set(['issuing', 'live']);

/** Credentials on loan: until when, for what, and a way to end each. */
export const Leases = (props: {
  of: LiveQuery<HeldLeasesQuery>;
  /** What is said where there is none. */
  none: string;
}) => {
  const { of, none } = props;
  const [ending, end] = useState<HeldLeaseFragment>();
  const items = of.data?.credentials?.items ?? [];
  useRefreshAt(
    items.map(lease => lease.expiresAt),
    of.refresh,
  );
  if (isAbsent(of)) {
    return <Text color="secondary">No credentials are lent here.</Text>;
  }
  return (
    <Answer of={of} empty={{ when: () => items.length === 0, text: none }}>
      {data => (
        <>
          <div className={styles.scroll}>
            <TableRoot aria-label="Credentials on loan">
              <TableHeader>
                <Column isRowHeader>Credential</Column>
                <Column>Of</Column>
                <Column>Held by</Column>
                <Column>For</Column>
                <Column>State</Column>
                <Column>Ends in</Column>
                <Column>Act</Column>
              </TableHeader>
              <TableBody>
                {items.map(lease => (
                  <Row key={lease.lease} id={lease.lease}>
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
                          onPress={() => end(lease)}
                        >
                          Revoke
                        </Button>
                      )}
                    </Cell>
                  </Row>
                ))}
              </TableBody>
            </TableRoot>
          </div>
          {data.credentials?.nextCursor && (
            <Text color="secondary">
              There are more; these are the newest 200.
            </Text>
          )}
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
      )}
    </Answer>
  );
};
