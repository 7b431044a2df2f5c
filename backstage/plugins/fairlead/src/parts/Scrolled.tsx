import type { ReactNode } from 'react';
import styles from './long.module.css';

/** Holds a table of many columns, which scrolls where there is no room. */
export const Scrolled = (props: { children: ReactNode }) => (
  <div className={styles.scrolled}>{props.children}</div>
);
