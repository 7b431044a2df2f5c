import { TextField } from '@backstage/ui';
import { useEffect, useRef, useState } from 'react';

const calm = 300; // milliseconds after the last key

/** Asks for a text, which is told once nothing more is typed. */
export const TypedField = (props: {
  label: string;
  placeholder?: string;
  value: string;
  onChange: (value: string) => void;
}) => {
  const { value, onChange } = props;
  const tell = useRef(onChange); // another one does not begin the wait anew
  tell.current = onChange;
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return undefined;
    const timer = setTimeout(() => tell.current(text.trim()), calm);
    return () => clearTimeout(timer);
  }, [text, value]);
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
