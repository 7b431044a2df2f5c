import { Fragment, type ReactNode } from 'react';
import { EntityLink } from '../parts';
import styles from './agents.module.css';
import { hasPage } from './words';

/** A field and its value; wide ones take the whole line below their name. */
export type Field = [name: string, value: ReactNode, wide?: boolean];

/** Names and values, without those that have none. */
export const Fields = (props: { of: (Field | false | null | undefined)[] }) => (
  <dl className={styles.fields}>
    {props.of.map(
      field =>
        field &&
        field[1] !== null &&
        field[1] !== undefined &&
        field[1] !== '' && (
          <Fragment key={field[0]}>
            <dt>{field[0]}</dt>
            <dd className={field[2] ? styles.wide : undefined}>{field[1]}</dd>
          </Fragment>
        ),
    )}
  </dl>
);

/** What a text refers to, as a link where there is a page of it. */
export const Ref = ({ of }: { of: string }) =>
  hasPage(of) ? <EntityLink of={of} /> : <>{of}</>;

/** Who acts, and for whom. */
export const Who = (props: { subject: string; agent?: string | null }) => (
  <>
    {props.agent && <>{props.agent} for </>}
    {props.subject ? <Ref of={props.subject} /> : 'somebody unknown'}
  </>
);
