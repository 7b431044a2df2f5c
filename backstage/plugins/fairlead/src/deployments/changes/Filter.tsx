import { Select } from '@backstage/ui';
import { TypedField, useParam } from '../../parts';

/** A filter in the page's address that one types. */
export const TextFilter = (props: {
  name: string;
  label: string;
  placeholder: string;
}) => {
  const [value, set] = useParam(props.name);
  return (
    <TypedField
      label={props.label}
      placeholder={props.placeholder}
      value={value ?? ''}
      onChange={set}
    />
  );
};

/**
 * A filter in the page's address that one chooses; otherwise is what holds
 * without it, any by default.
 */
export const ChoiceFilter = (props: {
  name: string;
  label: string;
  choices: string[];
  otherwise?: string;
}) => {
  const [value, set] = useParam(props.name);
  const { otherwise = 'any', choices } = props;
  const all = choices.includes(otherwise) ? choices : [otherwise, ...choices];
  return (
    <Select
      size="small"
      label={props.label}
      selectedKey={value ?? otherwise}
      onSelectionChange={key =>
        set(key === otherwise || key === null ? undefined : String(key))
      }
      options={all.map(c => ({ value: c, label: c }))}
    />
  );
};
