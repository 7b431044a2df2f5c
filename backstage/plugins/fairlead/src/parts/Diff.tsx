import { Button, Flex, Text, VisuallyHidden } from '@backstage/ui';
import { RiArrowDownSLine, RiArrowRightSLine } from '@remixicon/react';
import { memo, useId, useMemo, useState } from 'react';
import { CopyButton } from './CopyButton';
import { useSome } from './More';
import styles from './Diff.module.css';
import { readDiff, type DiffFile, type DiffLine } from './unified';

/** What a diff viewer shows. */
export interface DiffProps {
  /** A unified diff of any number of files. */
  text: string;
  /** Bytes of the diff that are left out, which is said below it. */
  omitted?: number | null;
  /** How many lines are shown before one asks for more; default 300. */
  most?: number;
}

const step = 1_000; // lines that are added at once; more take a browser long
const manyFiles = 50; // whose names are shown at once

const signs = { added: '+', removed: '-', kept: ' ', note: '' };

const lengthOf = (file: DiffFile) =>
  file.hunks.reduce((n, h) => n + h.lines.length, file.notes.length);

const count = (file: DiffFile, kind: DiffLine['kind']) =>
  file.hunks.reduce(
    (n, h) => n + h.lines.filter(l => l.kind === kind).length,
    0,
  );

function titleOf({ from, to }: DiffFile): string {
  if (from && to) return from === to ? to : `${from} → ${to}`;
  if (to) return `${to} (added)`;
  return from ? `${from} (removed)` : 'Changes';
}

/** One of thousands, perhaps: those that are there stay as they are. */
const Line = memo(({ line }: { line: DiffLine }) => (
  <tr className={styles[line.kind]}>
    <td className={styles.number}>{line.old}</td>
    <td className={styles.number}>{line.new}</td>
    <td className={styles.sign}>
      <span aria-hidden>{signs[line.kind]}</span>
      {line.kind === 'kept' || line.kind === 'note' || (
        <VisuallyHidden>{line.kind}</VisuallyHidden>
      )}
    </td>
    <td className={styles.text}>{line.text}</td>
  </tr>
));

/** The lines of a file, no more than so many of them. */
const Lines = ({ file, most }: { file: DiffFile; most: number }) => {
  let room = most;
  return (
    <table className={styles.lines}>
      <thead>
        <tr>
          {['Line before', 'Line after', 'Change', 'Text'].map(title => (
            <th key={title} scope="col">
              <VisuallyHidden>{title}</VisuallyHidden>
            </th>
          ))}
        </tr>
      </thead>
      {file.hunks.map((hunk, h) => {
        const lines = hunk.lines.slice(0, Math.max(0, room));
        room -= lines.length;
        return lines.length === 0 ? null : (
          <tbody key={h}>
            <tr className={styles.hunk}>
              <th colSpan={4} scope="rowgroup">
                {hunk.header}
              </th>
            </tr>
            {lines.map((line, l) => (
              <Line key={l} line={line} />
            ))}
          </tbody>
        );
      })}
    </table>
  );
};

/** What is shown of a file below its head. */
const Body = (props: { file: DiffFile; title: string; most: number }) => {
  const { file, title, most } = props;
  const [shown, setShown] = useState(most);
  const length = lengthOf(file);
  const rest = length - shown;
  return (
    <>
      {file.notes.map((note, n) => (
        <div key={n} className={styles.aside}>
          <Text variant="body-small">{note}</Text>
        </div>
      ))}
      {file.hunks.length > 0 && (
        <div
          className={styles.scroll}
          role="region"
          aria-label={title}
          // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what can be scrolled has to be reached by the keyboard
          tabIndex={0}
        >
          <Lines file={file} most={shown} />
        </div>
      )}
      {rest > 0 && (
        <div className={styles.aside}>
          <Button
            size="small"
            variant="secondary"
            onPress={() => setShown(shown + step)}
          >
            {rest > step
              ? `Show ${step} of ${rest} more lines`
              : `Show all ${length} lines`}
          </Button>
        </div>
      )}
    </>
  );
};

const File = (props: { file: DiffFile; open: boolean; most: number }) => {
  const { file, most } = props;
  const [open, setOpen] = useState(props.open);
  const id = useId();
  const title = titleOf(file);
  const [added, removed] = [count(file, 'added'), count(file, 'removed')];
  return (
    <div className={styles.file}>
      <div className={styles.head}>
        <button
          type="button"
          className={styles.name}
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setOpen(!open)}
        >
          {open ? <RiArrowDownSLine /> : <RiArrowRightSLine />}
          {title}
        </button>
        <span className={styles.count}>
          <VisuallyHidden>{`${added} added, ${removed} removed`}</VisuallyHidden>
          <span aria-hidden>
            <span className={styles.plus}>+{added}</span>{' '}
            <span className={styles.minus}>-{removed}</span>
          </span>
        </span>
        <CopyButton text={file.text} what={`the diff of ${title}`} />
      </div>
      <div id={id} hidden={!open}>
        {open && <Body file={file} title={title} most={most} />}
      </div>
    </div>
  );
};

/**
 * Shows a unified diff file by file: lines with their numbers and signs, what
 * is long only as far as one asks for it.
 */
export const Diff = ({ text, omitted, most = 300 }: DiffProps) => {
  const files = useMemo(() => readDiff(text), [text]);
  const [some, more] = useSome(files, manyFiles);
  let shown = 0;
  return (
    <Flex direction="column" gap="2">
      {some.map((file, n) => {
        const open = shown < most;
        shown += lengthOf(file);
        return (
          <File key={`${n} ${file.text}`} file={file} open={open} most={most} />
        );
      })}
      {more}
      {files.length === 0 && <Text color="secondary">Nothing changes.</Text>}
      {Boolean(omitted) && (
        <Text color="secondary">
          {`${omitted!.toLocaleString(
            'en',
          )} more bytes of the diff are left out.`}
        </Text>
      )}
    </Flex>
  );
};
