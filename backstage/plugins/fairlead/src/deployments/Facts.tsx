import { Flex, Link, Text } from '@backstage/ui';
import type { ReactNode } from 'react';
import { CopyButton } from '../parts';
import styles from './Facts.module.css';
import breaking from '../parts/long.module.css';
import { short } from './words';

/** Names and values beside each other; below each other where it is narrow. */
export const Facts = (props: { children: ReactNode }) => (
  <dl className={styles.facts}>{props.children}</dl>
);

/** One name with its value; nothing where there is no value. */
export const Fact = (props: { name: string; children: ReactNode }) =>
  props.children ? (
    <>
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </>
  ) : null;

/** Things beside each other, on as many lines as they need. */
export const Row = (props: { children: ReactNode; apart?: boolean }) => (
  <div className={`${styles.row} ${props.apart ? styles.apart : ''}`}>
    {props.children}
  </div>
);

/** Text as a machine has it. */
export const Code = (props: { children: string; title?: string }) => (
  <code className={styles.code} title={props.title}>
    {props.children}
  </code>
);

/** A revision, short; whole to be copied. */
export const Revision = (props: { of: string; what?: string }) => (
  <span className={styles.inline}>
    <Code title={props.of}>{short(props.of)}</Code>
    {props.what && <CopyButton text={props.of} what={props.what} />}
  </span>
);

/** What stands below each other. */
export const Items = (props: { label?: string; children: ReactNode }) => (
  // The role is lost in some browsers where a list has no bullets.
  // eslint-disable-next-line jsx-a11y/no-redundant-roles
  <ul className={styles.list} role="list" aria-label={props.label}>
    {props.children}
  </ul>
);

const address = /(https?:\/\/[^\s<>"]*[^\s<>"'.,;:!?)\]])/;

/** A text in which addresses of the web lead there. */
export const Linked = (props: { text: string }) => (
  <>
    {props.text.split(address).map((part, i) =>
      i % 2 ? (
        <Link key={i} href={part} target="_blank" rel="noopener">
          {part}
        </Link>
      ) : (
        part
      ),
    )}
  </>
);

/** Tells whether one may have a browser go there. */
export function isWeb(url?: string | null): url is string {
  try {
    return /^https?:$/.test(new URL(url ?? '').protocol);
  } catch {
    return false;
  }
}

/** Lines to copy, such as a command. */
export const Snippet = (props: { text: string; what: string }) => (
  <Flex align="start" gap="1">
    <pre
      className={styles.pre}
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what can be scrolled has to be reached by the keyboard
      tabIndex={0}
    >
      {props.text}
    </pre>
    <CopyButton text={props.text} what={props.what} />
  </Flex>
);

/** The title of a part of a page. */
export const Heading = (props: { children: ReactNode; small?: boolean }) => (
  <Text
    as={props.small ? 'h3' : 'h2'}
    variant={props.small ? 'body-medium' : 'title-x-small'}
    weight="bold"
    className={breaking.long}
  >
    {props.children}
  </Text>
);
