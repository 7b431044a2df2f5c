import { Select, TextField } from '@backstage/ui';
import { useEffect, useState } from 'react';
import { useParam } from './useParam';

/** A filter in the page's address that one types. */
export const TextFilter = (props: {
  name: string;
  label: string;
  placeholder: string;
}) => {
  const [value, set] = useParam(props.name);
  const [text, setText] = useState(value ?? '');
  useEffect(() => setText(value ?? ''), [value]);
  useEffect(() => {
    if (text.trim() === (value ?? '')) return undefined;
    const timer = setTimeout(() => set(text.trim()), 500); // typing is over
    return () => clearTimeout(timer);
  }, [text, value, set]);
  return (
    <TextField
      size="small"
      label={props.label}
      placeholder={props.placeholder}
      value={text}
      onChange={setText}
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
