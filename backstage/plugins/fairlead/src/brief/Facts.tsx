import { Badge, Button, Link, Text } from '@backstage/ui';
import { RiAlertLine } from '@remixicon/react';
import {
  createContext,
  useContext,
  useId,
  useState,
  type ReactNode,
} from 'react';
import { SourceLink, When } from '../parts';
import type { FactPartsFragment } from './brief.generated';
import css from './brief.module.css';

/** One thing known of the service, and where it stands. */
export type Fact = FactPartsFragment;

/** An address at the host of the service's repository. */
export const Like = createContext<string | undefined>(undefined);

const found = 'Fairlead found this in the repository; nobody has stated it.';

/** Where a fact is written, and how fresh that is. */
const Origin = ({ fact }: { fact: Fact }) => (
  <span className={css.origin}>
    {fact.kind === 'inferred' && (
      <>
        <span title={found}>found in</span>{' '}
      </>
    )}
    <SourceLink place={fact.source} like={useContext(Like)} />
    {fact.changedAt && (
      <>
        {' · '}
        <When at={fact.changedAt} />
      </>
    )}
  </span>
);

/** Something to be careful about. */
export const Note = (props: { children: ReactNode }) => (
  <Text variant="body-small" className={css.note}>
    <RiAlertLine aria-hidden />
    <span>{props.children}</span>
  </Text>
);

/** A fact under its name, with where it is written. */
export const Row = (props: {
  label: ReactNode;
  fact: Fact;
  children: ReactNode;
}) => (
  <>
    <dt className={css.label}>{props.label}</dt>
    <dd className={css.value}>
      <div className={css.fact}>
        <div className={css.what}>{props.children}</div>
        <Origin fact={props.fact} />
      </div>
      {props.fact.stale && <Note>May no longer hold: {props.fact.stale}</Note>}
      {props.fact.disagrees.map(other => (
        <Note key={other}>Disagrees: {other}</Note>
      ))}
    </dd>
  </>
);

/** Facts of one sort; nothing where there are none. */
export const Section = (props: { title: string; children: ReactNode }) => {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <Text
        as="h4"
        variant="body-medium"
        weight="bold"
        id={id}
        className={css.heading}
      >
        {props.title}
      </Text>
      <dl className={css.rows}>{props.children}</dl>
    </section>
  );
};

/** The first few of many, and the others when they are wanted. */
export function Few(props: {
  of: Fact[];
  most?: number;
  what: string;
  children: (fact: Fact, index: number) => ReactNode;
}) {
  const { of, most = 3, what, children } = props;
  const [all, setAll] = useState(false);
  const rest = of.length - most;
  return (
    <>
      {(all || rest <= 1 ? of : of.slice(0, most)).map(children)}
      {rest > 1 && (
        <>
          <dt className={css.label} />
          <dd className={css.value}>
            <Button
              size="small"
              variant="tertiary"
              aria-expanded={all}
              onPress={() => setAll(!all)}
            >
              {all ? `Fewer ${what}` : `${rest} more ${what}`}
            </Button>
          </dd>
        </>
      )}
    </>
  );
}

/** A text, which leads to where it points if that is a page of the web. */
export const Target = (props: { to?: string; children?: string }) => {
  const { to, children = to } = props;
  return to && /^https?:\/\//i.test(to) ? (
    <Link href={to} target="_blank" rel="noopener noreferrer">
      {children}
    </Link>
  ) : (
    <Text>{children}</Text>
  );
};

export const Mark = (props: { icon: ReactNode; children: string }) => (
  <Badge size="small" icon={props.icon}>
    {props.children}
  </Badge>
);
