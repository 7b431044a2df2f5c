import { Select, Switch } from '@backstage/ui';
import { TypedField, useAddress } from '../parts';
import { phases } from './Phase';
import type { Filter } from './preview';

const texts = ['service', 'person', 'agent'] as const;

/** Which previews are listed, which the address of the page tells. */
export function useFilter(): [Filter, (change: Partial<Filter>) => void] {
  const [params, change] = useAddress();
  const given = (name: string) => params.get(name) || undefined;
  const filter: Filter = {
    service: given('service'),
    person: given('person'),
    agent: given('agent'),
    phase: given('phase'),
    gone: params.has('gone') || undefined,
  };
  return [filter, change];
}

interface FiltersProps {
  filter: Filter;
  onChange: (change: Filter) => void;
}

/** Chooses among previews by service, person, agent and phase. */
export const Filters = ({ filter, onChange }: FiltersProps) => (
  <>
    {texts.map(name => (
      <TypedField
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
