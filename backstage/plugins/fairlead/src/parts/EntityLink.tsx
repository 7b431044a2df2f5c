import { parseEntityRef } from '@backstage/catalog-model';
import { EntityRefLink } from '@backstage/plugin-catalog-react';
import styles from './long.module.css';

/** The whole of a reference, which Backstage's link needs; nothing for what is none. */
function wholeOf(text: string, kind?: string): string | undefined {
  try {
    parseEntityRef(text, { defaultKind: kind });
    return text.includes(':') ? text : `${kind}:${text}`;
  } catch {
    return undefined;
  }
}

/** Leads to an entity's page by its reference; what is none is text. */
export const EntityLink = (props: {
  of: string;
  /** The kind where the reference has none. */
  kind?: string;
}) => {
  const whole = wholeOf(props.of, props.kind);
  return (
    <span className={styles.name}>
      {whole ? (
        <EntityRefLink entityRef={whole} defaultKind={props.kind} />
      ) : (
        props.of
      )}
    </span>
  );
};
