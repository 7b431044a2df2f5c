import { Text } from '@backstage/ui';
import {
  RiAlertLine,
  RiCheckboxCircleLine,
  RiErrorWarningLine,
  RiHourglassLine,
} from '@remixicon/react';
import type { ReactElement } from 'react';
import css from './health.module.css';

type Color = 'danger' | 'warning' | 'success' | 'secondary';

const looks: Record<string, [ReactElement, Color]> = {
  error: [<RiErrorWarningLine aria-hidden />, 'danger'],
  failing: [<RiErrorWarningLine aria-hidden />, 'danger'],
  warning: [<RiAlertLine aria-hidden />, 'warning'],
  ok: [<RiCheckboxCircleLine aria-hidden />, 'success'],
  pending: [<RiHourglassLine aria-hidden />, 'secondary'],
};

/** A state in a word, with its icon. */
export const Mark = ({ of }: { of: string }) => {
  const [icon, color] = looks[of] ?? looks.pending;
  return (
    <Text color={color} weight="bold" className={css.mark}>
      {icon}
      {of}
    </Text>
  );
};
