import {
  RiAlertLine,
  RiCheckboxCircleLine,
  RiCloseCircleLine,
  RiLoader4Line,
  RiQuestionLine,
} from '@remixicon/react';
import type { ReactNode } from 'react';
import styles from './Mark.module.css';

/** How good a state is. */
export type Goodness = 'good' | 'busy' | 'warn' | 'bad' | 'unknown';

const icons = {
  good: RiCheckboxCircleLine,
  busy: RiLoader4Line,
  warn: RiAlertLine,
  bad: RiCloseCircleLine,
  unknown: RiQuestionLine,
};

/** A state in a word, with an icon whose shape and colour tell how good it is. */
export const Mark = (props: { is: Goodness; children: ReactNode }) => {
  const Icon = icons[props.is];
  return (
    <span className={`${styles.mark} ${styles[props.is]}`}>
      <Icon size={16} aria-hidden />
      {props.children}
    </span>
  );
};
