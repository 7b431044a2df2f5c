import { Flex, Radio, RadioGroup, TextField } from '@backstage/ui';
import { useState } from 'react';
import styles from './previews.module.css';

/** A time that can be chosen: what is sent, and what is read. */
export type Life = [sent: string, read: string];

interface LifeFieldProps {
  label: string;
  choices: Life[];
  value: string;
  onChange: (value: string) => void;
}

const other = 'other';

/** Asks for how long: one of some choices, or another time. */
export const LifeField = ({
  label,
  choices,
  value,
  onChange,
}: LifeFieldProps) => {
  const [own, setOwn] = useState(false);
  const choose = (chosen: string) => {
    setOwn(chosen === other);
    onChange(chosen === other ? '' : chosen);
  };
  return (
    <Flex direction="column" gap="3">
      <RadioGroup
        label={label}
        orientation="horizontal"
        className={styles.lives}
        value={own ? other : value}
        onChange={choose}
      >
        {[...choices, [other, 'Other'] as Life].map(([sent, read]) => (
          <Radio key={sent} value={sent}>
            {read}
          </Radio>
        ))}
      </RadioGroup>
      {own && (
        <TextField
          label="Time"
          description="For example 45m, 90m or 3h."
          value={value}
          onChange={onChange}
          isRequired
          autoFocus // eslint-disable-line jsx-a11y/no-autofocus -- it was asked for just now
        />
      )}
    </Flex>
  );
};
