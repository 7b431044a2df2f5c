import type { ReactNode } from 'react';
import { DialogHeader } from '@backstage/ui';
import styles from './long.module.css';

/** The head of a dialog, in which a long title leaves the button room. */
export const DialogTitle = (props: { children: ReactNode }) => (
  <DialogHeader className={styles.heading}>{props.children}</DialogHeader>
);
