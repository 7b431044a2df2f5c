import { TextField } from '@backstage/ui';
import { useMemo, useState } from 'react';
import { useAct } from '../client';
import { ActDialog } from './ActDialog';
import { LifeField, type Life } from './LifeField';
import { nameOf } from './preview';
import { CreatePreviewDocument } from './previews.generated';
import { RevisionField } from './RevisionField';

interface CreateDialogProps {
  /** What is to run; asked for without. */
  service?: string;
  onClose: () => void;
  /** It was accepted. */
  onDone: () => void;
}

const usual = '';
const lives: Life[] = [
  [usual, 'As the service says'],
  ['30m', '30 minutes'],
  ['2h', '2 hours'],
  ['8h', '8 hours'],
];

/** A key by which the server knows a request that comes twice. */
const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), byte =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

/** Has a service run at a revision, for a while. */
export const CreateDialog = (props: CreateDialogProps) => {
  const [service, setService] = useState(props.service ?? '');
  const [revision, setRevision] = useState('');
  const [ttl, setTtl] = useState(usual);
  const act = useAct(CreatePreviewDocument);
  const wish = {
    service: service.trim(),
    ...(revision.trim() && { revision: revision.trim() }),
    ...(ttl.trim() && { ttl: ttl.trim() }),
  };
  const text = JSON.stringify(wish);
  // The same wish has the same key, however often it is sent.
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const key = useMemo(newKey, [text]);
  const create = async () => {
    if (await act.run({ ...wish, key })) props.onDone();
  };
  return (
    <ActDialog
      title={
        props.service
          ? `New preview of ${nameOf(props.service)}`
          : 'New preview'
      }
      verb="Create"
      act={act}
      incomplete={!wish.service}
      onAct={create}
      onClose={props.onClose}
    >
      {!props.service && (
        <TextField
          label="Service"
          description="A component's name or reference."
          value={service}
          onChange={setService}
          isRequired
        />
      )}
      <RevisionField service={wish.service} onChange={setRevision} />
      <LifeField
        label="How long it lives"
        choices={lives}
        value={ttl}
        onChange={setTtl}
      />
    </ActDialog>
  );
};
