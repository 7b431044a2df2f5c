import { Text } from '@backstage/ui';
import { CopyButton, SourceLink } from '../parts';
import type { BriefQuery } from './brief.generated';
import css from './brief.module.css';
import breaking from '../parts/long.module.css';

type Addition = NonNullable<
  BriefQuery['coverage']
>['items'][number]['add'][number];

const words: Record<string, string> = {
  oncall: 'on-call',
  slo: 'objectives',
  slos: 'objectives',
  runbook: 'runbooks',
  deploy: 'where it is deployed',
  build: 'how to build it',
  test: 'how to test it',
  rules: 'rules for agents',
};

/** Says what a section or thing is about. */
export const wordFor = (name: string) => words[name] ?? name;

const list = new Intl.ListFormat('en');

/** The lines that would state what is missing. */
export const AddLines = ({ add }: { add: Addition }) => {
  const what = list.format(add.things.map(wordFor));
  const where = add.column ? 'into' : 'below';
  return (
    <div className={breaking.long}>
      <Text variant="body-small" color="secondary">
        To state {what}, add {where}{' '}
        <SourceLink
          place={{ path: add.file ?? 'catalog-info.yaml', line: add.line }}
          column={add.column}
        />
        :
      </Text>
      <div className={css.add}>
        <pre aria-label={`Lines for ${what}`}>{add.lines}</pre>
        <CopyButton text={add.lines} what={`the lines for ${what}`} />
      </div>
    </div>
  );
};

/** What nobody has said or found, and what to write so that it is known. */
export const Unknown = (props: { unknown: string[]; add: Addition[] }) => {
  if (!props.unknown.length && !props.add.length) return null;
  return (
    <section aria-label="Not known">
      <Text as="h4" variant="body-medium" weight="bold" className={css.heading}>
        Not known
      </Text>
      {props.unknown.length > 0 && (
        <Text as="p" color="secondary">
          Nothing is known of {list.format(props.unknown.map(wordFor))}.
        </Text>
      )}
      {props.add.map(add => (
        <AddLines key={`${add.file} ${add.things}`} add={add} />
      ))}
    </section>
  );
};
