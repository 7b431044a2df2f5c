import { Alert, type AlertProps } from '@backstage/ui';
import styles from './long.module.css';

/** Says something of weight, however long its words are. */
export const Notice = (props: AlertProps) => (
  <Alert {...props} className={styles.long} />
);
