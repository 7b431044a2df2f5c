import { useEffect, useRef } from 'react';
import styles from './Focused.module.css';

/** A title that takes the focus when it comes, so that it is read out. */
export const Focused = (props: { title: string }) => {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  return (
    <h3 ref={title} tabIndex={-1} className={styles.title}>
      {props.title}
    </h3>
  );
};
