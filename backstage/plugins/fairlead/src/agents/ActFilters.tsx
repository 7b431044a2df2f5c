import { Select, TextField } from '@backstage/ui';
import { useEffect, useState } from 'react';
import { Filters, useAddress } from '../parts';

const names = [
  'subject',
  'agent',
  'action',
  'target',
  'status',
  'since',
] as const;

/** Narrows the record of acts; what is left out narrows nothing. */
export type ActFilter = Partial<Record<(typeof names)[number], string>>;

const prefix = 'act-'; // of the filter's names in the address

/** The filter as the page's address has it, and how to change it. */
export function useActFilter(): [ActFilter, (change: ActFilter) => void] {
  const [params, changeAddress] = useAddress();
  const filter: ActFilter = {};
  for (const name of names) {
    const value = params.get(prefix + name);
    if (value) filter[name] = value;
  }
  const change = (to: ActFilter) =>
    changeAddress(
      Object.fromEntries(
        Object.entries(to).map(([name, value]) => [prefix + name, value]),
      ),
    );
  return [filter, change];
}

/** A text that counts once it is whole: by Enter, or when it is left. */
const Whole = (props: {
  label: string;
  placeholder: string;
  value?: string;
  onChange: (value: string) => void;
}) => {
  const { label, placeholder, value = '', onChange } = props;
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const settle = () => {
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <TextField
      size="small"
      label={label}
      placeholder={placeholder}
      value={text}
      onChange={setText}
      onBlur={settle}
      onKeyDown={event => event.key === 'Enter' && settle()}
    />
  );
};

const texts = [
  ['subject', 'Person', 'user:default/alice'],
  ['agent', 'Agent', 'claude-code'],
  ['action', 'Action', 'gitops.propose'],
  ['target', 'On', 'component:default/checkout'],
] as const;

const choices = {
  status: [
    ['', 'any'],
    ['ok', 'ok'],
    ['refused', 'refused'],
    ['failed', 'failed'],
    ['unknown', 'not ended'],
  ],
  since: [
    ['', 'ever'],
    ['1h', 'last hour'],
    ['24h', 'last day'],
    ['168h', 'last week'],
    ['720h', 'last 30 days'],
  ],
};

/** Fields by which acts are chosen. */
export const ActFilters = (props: {
  filter: ActFilter;
  onChange: (change: ActFilter) => void;
  /** Fields that are settled otherwise. */
  hide: (keyof ActFilter)[];
}) => (
  <Filters label="Acts">
    {texts
      .filter(([name]) => !props.hide.includes(name))
      .map(([name, label, placeholder]) => (
        <Whole
          key={name}
          label={label}
          placeholder={placeholder}
          value={props.filter[name]}
          onChange={value => props.onChange({ [name]: value })}
        />
      ))}
    {(['status', 'since'] as const).map(name => (
      <Select
        key={name}
        size="small"
        label={name === 'status' ? 'Outcome' : 'Since'}
        value={props.filter[name] ?? 'all'}
        onChange={key =>
          props.onChange({ [name]: key === 'all' ? '' : String(key) })
        }
        options={choices[name].map(([value, label]) => ({
          value: value || 'all',
          label,
        }))}
      />
    ))}
  </Filters>
);
