import {
  Button,
  Dialog,
  DialogBody,
  DialogFooter,
  Flex,
  Text,
  TextField,
} from '@backstage/ui';
import { useState } from 'react';
import { useAct, useViewer } from '../../client';
import { DialogTitle, FaultPanel } from '../../parts';
import { Row } from '../Facts';
import { Requested } from '../proposals/Requested';
import {
  StartFleetDocument,
  StopFleetDocument,
  type FleetStatusFragment,
} from './changes.generated';
import facts from '../Facts.module.css';

type Verb = 'start' | 'resume' | 'pause' | 'cancel';

const verbs: Record<string, Verb[]> = {
  planned: ['start', 'cancel'],
  running: ['pause', 'cancel'],
  paused: ['resume', 'cancel'],
  stopped: ['resume', 'cancel'],
};

const titles: Record<Verb, string> = {
  start: 'Start',
  resume: 'Resume',
  pause: 'Pause',
  cancel: 'Cancel for good',
};

const says: Record<Verb, string> = {
  start: 'Its first wave is proposed from now on, as it was planned.',
  resume: 'It goes on with what is left, as it was planned.',
  pause:
    'Nothing more is proposed until it is resumed. Pull requests that are open stay so.',
  cancel:
    'Nothing more is proposed, for good. Pull requests that are open stay so.',
};

/** Asks once more, with why, and does it. */
const ActDialog = (props: {
  of: FleetStatusFragment;
  verb: Verb;
  onClose(done: boolean): void;
}) => {
  const { of, verb, onClose } = props;
  const [reason, setReason] = useState('');
  const starting = useAct(StartFleetDocument);
  const stopping = useAct(StopFleetDocument);
  const stops = verb === 'pause' || verb === 'cancel';
  const act = stops ? stopping : starting;
  const approval = act.fault?.details?.approval;
  const go = async () => {
    const { id, planHash } = of;
    const cancel = verb === 'cancel';
    const done = stops
      ? await stopping.run({ id, cancel, reason: reason.trim() || null })
      : await starting.run({ id, planHash });
    if (done) onClose(true);
  };
  return (
    <Dialog isOpen onOpenChange={open => open || onClose(false)} width={520}>
      <DialogTitle>{`${titles[verb]}: ${of.title}`}</DialogTitle>
      <DialogBody className={facts.long}>
        <Flex direction="column" gap="4">
          <Text as="p">{says[verb]}</Text>
          {stops && (
            <TextField
              label="Reason"
              description="For the record."
              value={reason}
              onChange={setReason}
            />
          )}
          {act.fault && <FaultPanel fault={act.fault} />}
          {typeof approval === 'string' && <Requested id={approval} />}
        </Flex>
      </DialogBody>
      <DialogFooter>
        <Button variant="secondary" onPress={() => onClose(false)}>
          Back
        </Button>
        <Button
          destructive={verb === 'cancel'}
          isPending={act.running}
          onPress={() => act.running || go()}
        >
          {titles[verb]}
        </Button>
      </DialogFooter>
    </Dialog>
  );
};

/** What may be done about a fleet by who looks at it. */
export const FleetActs = (props: {
  of: FleetStatusFragment;
  changed(): void;
}) => {
  const { of, changed } = props;
  const [verb, setVerb] = useState<Verb>();
  const { data } = useViewer();
  const mine = data?.whoami?.subject === of.person;
  const may = data?.whoami?.actions.some(
    a => a.action === 'gitops.fleet' && (mine || a.on === 'everything'),
  );
  if (!may || !verbs[of.state]) return null;
  return (
    <Row>
      {verbs[of.state].map(v => (
        <Button
          key={v}
          size="small"
          variant={v === 'cancel' ? 'tertiary' : 'secondary'}
          onPress={() => setVerb(v)}
        >
          {titles[v]}
        </Button>
      ))}
      {verb && (
        <ActDialog
          of={of}
          verb={verb}
          onClose={done => {
            setVerb(undefined);
            if (done) changed();
          }}
        />
      )}
    </Row>
  );
};
