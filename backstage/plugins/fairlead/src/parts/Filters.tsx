import type { ReactNode } from 'react';
import css from './Filters.module.css';

/** Fields that narrow what is listed, as many in a row as there is room for. */
export const Filters = (props: { label?: string; children: ReactNode }) => (
  <div
    className={css.filters}
    role="search"
    aria-label={props.label ?? 'Filter'}
  >
    {props.children}
  </div>
);
