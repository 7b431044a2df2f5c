import { Button, Flex, Select, Text, TextField } from '@backstage/ui';
import { RiShieldKeyholeLine } from '@remixicon/react';
import { useState } from 'react';
import { Notice } from '../parts';
import { useAct, useViewer } from '../client';
import { ActDialog } from '../previews/ActDialog';
import {
  RevokeAllLeasesDocument,
  RevokeLeaseDocument,
  type HeldLeaseFragment,
} from './agents.generated';
import { actorOf } from './words';

/** Ends one lease, once that is confirmed. */
export const RevokeDialog = (props: {
  lease: HeldLeaseFragment;
  onClose: () => void;
  onDone: () => void;
}) => {
  const { lease, onClose, onDone } = props;
  const act = useAct(RevokeLeaseDocument);
  const revoke = async () => {
    if (await act.run({ lease: lease.lease })) onDone();
  };
  return (
    <ActDialog
      title={`Revoke ${lease.name}?`}
      verb="Revoke"
      destructive
      act={act}
      onAct={revoke}
      onClose={onClose}
    >
      <Text>
        {`${actorOf({
          subject: lease.person,
          agent: lease.agent,
        })} cannot use it any more, from now on.`}
      </Text>
    </ActDialog>
  );
};

/** Whose leases are ended. */
export type Whose = { kind: 'agent' | 'person' | 'service'; name: string };

const kinds = [
  { value: 'agent', label: 'Agent' },
  { value: 'person', label: 'Person' },
  { value: 'service', label: 'Service' },
];

/** Asks whose leases to end, and why. */
const EndDialog = (props: {
  whose?: Whose;
  onClose: () => void;
  onDone: (what: string) => void;
}) => {
  const [kind, setKind] = useState(props.whose?.kind ?? 'agent');
  const [name, setName] = useState(props.whose?.name ?? '');
  const [reason, setReason] = useState('');
  const act = useAct(RevokeAllLeasesDocument);
  const end = async () => {
    const done = await act.run({ [kind]: name.trim(), reason: reason.trim() });
    const ended = done?.revokeAllCredentials;
    if (!ended) return;
    const count = `${ended.leases} ${ended.leases === 1 ? 'lease' : 'leases'}`;
    props.onDone(
      `${count} of ${name.trim()} ended${
        ended.done ? '.' : '; their issuer is still taking them back.'
      }`,
    );
  };
  return (
    <ActDialog
      title="End all leases"
      verb="End all"
      destructive
      act={act}
      incomplete={!name.trim() || !reason.trim()}
      onAct={end}
      onClose={props.onClose}
    >
      <Text>
        Every credential that is on loan to them stops working at once, whoever
        uses it. New ones can be asked for afterwards.
      </Text>
      <Flex gap="3" align="end">
        <Select
          label="Whose"
          value={kind}
          onChange={key => setKind(key as Whose['kind'])}
          options={kinds}
        />
        <TextField
          label="Name"
          placeholder={kind === 'person' ? 'user:default/alice' : undefined}
          value={name}
          onChange={setName}
          isRequired
        />
      </Flex>
      <TextField
        label="Reason"
        description="Kept in the audit, and with each lease."
        value={reason}
        onChange={setReason}
        maxLength={250}
        isRequired
      />
    </ActDialog>
  );
};

/**
 * Ends all leases of an agent, a person or a service, for those who may; shows
 * nothing to others.
 */
export const EndLeases = (props: { whose?: Whose; onDone?: () => void }) => {
  const [asking, ask] = useState(false);
  const [said, say] = useState('');
  const viewer = useViewer();
  const may = viewer.data?.whoami?.actions.some(
    a =>
      a.action === 'secrets.revoke' &&
      (a.on === 'everything' || props.whose?.kind === 'service'),
  );
  if (!may) return null;
  return (
    <Flex direction="column" gap="3" align="start">
      <Button
        size="small"
        variant="secondary"
        destructive
        iconStart={<RiShieldKeyholeLine />}
        onPress={() => ask(true)}
      >
        End all leases…
      </Button>
      <div role="status">
        {said && <Notice status="success" icon title={said} />}
      </div>
      {asking && (
        <EndDialog
          whose={props.whose}
          onClose={() => ask(false)}
          onDone={what => {
            ask(false);
            say(what);
            props.onDone?.();
          }}
        />
      )}
    </Flex>
  );
};
