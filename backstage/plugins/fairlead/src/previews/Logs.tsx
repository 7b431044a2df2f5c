import { Flex, Select, Switch, Text } from '@backstage/ui';
import { useLayoutEffect, useRef, useState } from 'react';
import { useLiveQuery } from '../client';
import { Answer, CopyButton } from '../parts';
import styles from './previews.module.css';
import { PreviewLogsDocument } from './previews.generated';

const tails = ['100', '300', '1000'];
const never = 2 ** 31 - 1;

/** A moment without the fractions of its second. */
const second = (at: string) => at.replace(/\.\d+/, '');

/** The last lines that a preview wrote, followed while they are shown. */
export const Logs = (props: { id: string; name: string }) => {
  const [tail, setTail] = useState(tails[0]);
  const [follow, setFollow] = useState(true);
  const logs = useLiveQuery({
    query: PreviewLogsDocument,
    variables: { id: props.id, tail: Number(tail) },
    every: follow ? 2_000 : never,
  });
  const lines = logs.data?.previewLogs?.lines ?? [];
  const text = lines
    .map(line => (line.at ? `${second(line.at)} ${line.text}` : line.text))
    .join('\n');
  const box = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (follow && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [follow, text]);
  return (
    <Flex direction="column" gap="3">
      <Flex align="center" gap="3" className={styles.wrapping}>
        <Select
          className={styles.select}
          aria-label="Last lines"
          options={tails.map(t => ({ id: t, label: `Last ${t} lines` }))}
          value={tail}
          onChange={chosen => setTail(String(chosen))}
        />
        <Switch label="Follow" isSelected={follow} onChange={setFollow} />
        <CopyButton text={text} what="the lines" />
      </Flex>
      <Answer
        of={logs}
        empty={{
          when: () => lines.length === 0,
          text: 'It has written nothing that is kept.',
        }}
      >
        {() => (
          // Scrolled by the keyboard too, and too much to be read out as it grows.
          // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          <pre
            ref={box}
            className={styles.log}
            role="log"
            aria-live="off"
            aria-label={`What ${props.name} wrote`}
            tabIndex={0} // eslint-disable-line jsx-a11y/no-noninteractive-tabindex
          >
            {text}
          </pre>
        )}
      </Answer>
      <Text variant="body-small" color="secondary">
        Lines come from the service, as it wrote them.
      </Text>
    </Flex>
  );
};
