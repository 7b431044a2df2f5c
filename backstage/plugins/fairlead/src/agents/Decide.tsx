import { Button, Flex, TextAreaField } from '@backstage/ui';
import { RiCheckLine, RiCloseLine } from '@remixicon/react';
import { useEffect, useRef, useState } from 'react';
import { useAct } from '../client';
import { FaultPanel } from '../parts';
import {
  DenyApprovalDocument,
  GrantApprovalDocument,
} from './approvals.generated';

/** Approves or denies a request, with the reason that who asked is told. */
export const Decide = (props: {
  id: string;
  summary: string;
  /** Is called with what was done, when it has been done. */
  onDone: (what: string) => void;
}) => {
  const { id, summary, onDone } = props;
  const [reason, setReason] = useState('');
  const [missing, setMissing] = useState(false);
  const grant = useAct(GrantApprovalDocument);
  const deny = useAct(DenyApprovalDocument);
  const field = useRef<HTMLDivElement>(null);
  const running = grant.running || deny.running;
  const fault = grant.fault ?? deny.fault;

  useEffect(() => {
    if (missing) field.current?.querySelector('textarea')?.focus();
  }, [missing]);

  const onGrant = async () => {
    setMissing(false);
    deny.forget();
    const done = await grant.run({ id, reason: reason.trim() || undefined });
    if (done) onDone(`Approved: ${summary}`);
  };
  const onDeny = async () => {
    if (!reason.trim()) {
      setMissing(true);
      return;
    }
    grant.forget();
    const done = await deny.run({ id, reason: reason.trim() });
    if (done) onDone(`Denied: ${summary}`);
  };

  return (
    <Flex direction="column" gap="3">
      <TextAreaField
        ref={field}
        label="Reason"
        description={
          missing
            ? 'Say why: whoever asked is told, so that they know what to change.'
            : 'Told to whoever asked. To deny, one is needed.'
        }
        isInvalid={missing}
        value={reason}
        onChange={text => {
          setReason(text);
          setMissing(false);
        }}
        maxLength={500}
        rows={2}
      />
      {fault && <FaultPanel fault={fault} />}
      <Flex gap="2">
        <Button
          variant="primary"
          iconStart={<RiCheckLine />}
          isPending={grant.running}
          isDisabled={running}
          aria-label={`Approve: ${summary}`}
          onPress={onGrant}
        >
          Approve
        </Button>
        <Button
          variant="secondary"
          destructive
          iconStart={<RiCloseLine />}
          isPending={deny.running}
          isDisabled={running}
          aria-label={`Deny: ${summary}`}
          onPress={onDeny}
        >
          Deny
        </Button>
      </Flex>
    </Flex>
  );
};
