import { Text, TextAreaField } from '@backstage/ui';
import { useState } from 'react';
import { useAct } from '../client';
import { ActDialog } from './ActDialog';
import { LifeField, type Life } from './LifeField';
import { called, type Preview } from './preview';
import {
  DeletePreviewDocument,
  ExtendPreviewDocument,
  ForceRemovePreviewDocument,
} from './previews.generated';

interface DialogProps {
  preview: Preview;
  onClose: () => void;
  /** It was done. */
  onDone: () => void;
}

const longer: Life[] = [
  ['15m', '15 minutes'],
  ['30m', '30 minutes'],
  ['1h', '1 hour'],
];
const minutes: Record<string, number> = { '15m': 15, '30m': 30, '1h': 60 };

const time = (at: number) =>
  new Date(at).toLocaleString(undefined, {
    dateStyle: 'medium',
    timeStyle: 'short',
  });

/** Has a preview live longer. */
export const ExtendDialog = ({ preview, onClose, onDone }: DialogProps) => {
  const [ttl, setTtl] = useState('30m');
  const act = useAct(ExtendPreviewDocument);
  const ends = Date.parse(preview.expiresAt);
  const extend = async () => {
    if (await act.run({ id: preview.id, ttl: ttl.trim() })) onDone();
  };
  return (
    <ActDialog
      title={`Extend ${called(preview)}`}
      verb="Extend"
      act={act}
      incomplete={!ttl.trim()}
      onAct={extend}
      onClose={onClose}
    >
      <LifeField
        label="How much longer"
        choices={longer}
        value={ttl}
        onChange={setTtl}
      />
      <Text color="secondary" role="status">
        It ends {time(ends)}
        {minutes[ttl] && `, and then ${time(ends + minutes[ttl] * 60_000)}`}.
      </Text>
    </ActDialog>
  );
};

/** Has a preview removed before its end, once that is confirmed. */
export const DeleteDialog = ({ preview, onClose, onDone }: DialogProps) => {
  const act = useAct(DeletePreviewDocument);
  const remove = async () => {
    if (await act.run({ id: preview.id })) onDone();
  };
  return (
    <ActDialog
      title={`Delete ${called(preview)}?`}
      verb="Delete"
      destructive
      act={act}
      onAct={remove}
      onClose={onClose}
    >
      <Text>
        It stops answering at once, and what it has stored is lost. Its events
        stay on record.
      </Text>
    </ActDialog>
  );
};

/** Removes what keeps a preview from going, for those who may. */
export const ForceDialog = ({ preview, onClose, onDone }: DialogProps) => {
  const [why, setWhy] = useState('');
  const act = useAct(ForceRemovePreviewDocument);
  const force = async () => {
    if (await act.run({ id: preview.id, why: why.trim() })) onDone();
  };
  return (
    <ActDialog
      title={`Remove ${called(preview)} by force?`}
      verb="Remove by force"
      destructive
      act={act}
      incomplete={!why.trim()}
      onAct={force}
      onClose={onClose}
    >
      <Text>{preview.reason}</Text>
      {preview.remains.length > 0 && (
        <Text>Still there: {preview.remains.join(', ')}.</Text>
      )}
      <Text>What that stands for is then not cleared up.</Text>
      <TextAreaField
        label="Why"
        description="Kept in the audit, for those who ask later."
        value={why}
        onChange={setWhy}
        maxLength={300}
        isRequired
      />
    </ActDialog>
  );
};
