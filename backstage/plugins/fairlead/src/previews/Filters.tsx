import { Select, Switch, TextField } from '@backstage/ui';
import { useEffect, useState } from 'react';
import { useAppSearchParams } from '@backstage/frontend-plugin-api';
import { phases } from './Phase';
import type { Filter } from './preview';

const texts = ['service', 'person', 'agent'] as const;
const calm = 300; // milliseconds after the last key

/** Which previews are listed, which the address of the page tells. */
export function useFilter(): [Filter, (change: Filter) => void] {
  const [params, setParams] = useAppSearchParams();
  const given = (name: string) => params.get(name) || undefined;
  const filter: Filter = {
    service: given('service'),
    person: given('person'),
    agent: given('agent'),
    phase: given('phase'),
    gone: params.has('gone') || undefined,
  };
  const change = (to: Filter) =>
    setParams(
      now => {
        const next = new URLSearchParams(now);
        for (const [name, value] of Object.entries(to)) {
          if (value) next.set(name, String(value));
          else next.delete(name);
        }
        return next;
      },
      { replace: true },
    );
  return [filter, change];
}

/** A text that is told once nothing more is typed. */
const Typed = (props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) => {
  const { label, value, onChange } = props;
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return undefined;
    const timer = setTimeout(() => onChange(text.trim()), calm);
    return () => clearTimeout(timer);
    // Another onChange is no reason to begin the wait anew.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [text, value]);
  return (
    <TextField label={label} size="small" value={text} onChange={setText} />
  );
};

interface FiltersProps {
  filter: Filter;
  onChange: (change: Filter) => void;
}

/** Chooses among previews by service, person, agent and phase. */
export const Filters = ({ filter, onChange }: FiltersProps) => (
  <>
    {texts.map(name => (
      <Typed
        key={name}
        label={name[0].toUpperCase() + name.slice(1)}
        value={filter[name] ?? ''}
        onChange={value => onChange({ [name]: value })}
      />
    ))}
    <Select
      label="Phase"
      options={[
        { id: 'any', label: 'Any' },
        ...phases.map(phase => ({ id: phase, label: phase })),
      ]}
      value={filter.phase ?? 'any'}
      onChange={chosen =>
        onChange({ phase: chosen === 'any' ? '' : String(chosen) })
      }
    />
    <Switch
      label="Show those that are gone"
      isSelected={!!filter.gone}
      onChange={gone => onChange({ gone })}
    />
  </>
);
