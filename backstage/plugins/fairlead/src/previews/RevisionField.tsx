import { Combobox } from '@backstage/ui';
import { useEffect, useState } from 'react';
import { useLiveQuery } from '../client';
import { short } from './preview';
import { RevisionsDocument, type RevisionsQuery } from './revisions.generated';

type Found = RevisionsQuery['revisions'];

interface RevisionFieldProps {
  /** Whose revisions can be chosen from; none while it is empty. */
  service: string;
  onChange: (revision: string) => void;
}

const calm = 250; // milliseconds after the last key
const shown = 10; // of each kind
const words = 60; // characters of a commit's title; the list is as wide as its widest

/** The value as it was when it had not changed for a while. */
function useCalm(value: string): string {
  const [calmed, setCalmed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setCalmed(value), calm);
    return () => clearTimeout(timer);
  }, [value]);
  return calmed;
}

const cut = (title: string) =>
  title.length > words ? `${title.slice(0, words - 1).trimEnd()}…` : title;

/** Commits by the beginnings of their ids, the others by their names. */
const sections = (found?: Found) =>
  (
    [
      ['Branches', 'branches'],
      ['Tags', 'tags'],
      ['Last commits', 'commits'],
    ] as const
  )
    .map(([title, kind]) => ({
      title,
      options: (found?.[kind].items ?? []).map(r => ({
        id: `${kind}:${r.name}`,
        name: r.name,
        label: kind === 'commits' ? short(r.name) : r.name,
        description: [cut(r.title ?? ''), r.author].filter(Boolean).join(' · '),
      })),
    }))
    .filter(section => section.options.length);

/** Asks for a branch, a tag or a commit: one of those that are there, or typed. */
export const RevisionField = ({ service, onChange }: RevisionFieldProps) => {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState('');
  const of = useCalm(service);
  const query = useCalm(text === chosen ? '' : text.trim());
  const revisions = useLiveQuery({
    query: RevisionsDocument,
    variables: { service: of, query, first: shown },
    pause: !of,
    every: 60_000,
  });
  const options = sections(revisions.data?.revisions);
  const change = (now: string) => {
    const option = options
      .flatMap(section => section.options)
      .find(o => o.label === now);
    setText(now);
    setChosen(option ? now : '');
    onChange(option?.name ?? now.trim());
  };
  return (
    <Combobox
      label="Revision"
      description={
        revisions.fault?.message ??
        'A branch, a tag or a commit; without one, what the catalog reads.'
      }
      size="medium"
      allowsCustomValue
      menuTrigger="focus"
      options={options}
      search={{
        inputValue: text,
        onInputChange: change,
        filter: () => true, // the server has chosen
      }}
    />
  );
};
