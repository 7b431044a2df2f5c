import {
  Button,
  Cell,
  CellText,
  Column,
  Flex,
  Row,
  TableBody,
  TableHeader,
  TableRoot,
  Text,
} from '@backstage/ui';
import { useState } from 'react';
import { useAct, useLiveQuery } from '../client';
import { Long, Answer, Notice, Scrolled, useSome, When } from '../parts';
import { ActDialog } from './ActDialog';
import {
  PreviewStraysDocument,
  SweepPreviewStraysDocument,
  type PreviewStraysQuery,
} from './figures.generated';
import { bytes } from './measures';
import styles from '../parts/long.module.css';

type Found = NonNullable<PreviewStraysQuery['previewStrays']>;
type Stray = Found['items'][number];

const most = 200; // that are swept at once

const StrayTable = (props: {
  items: Stray[];
  chosen: Set<string>;
  setChosen: (ids: Set<string>) => void;
}) => {
  const [some, more] = useSome(props.items, 100);
  return (
    <Scrolled>
      <TableRoot
        aria-label="Strays"
        selectionMode="multiple"
        selectionBehavior="toggle"
        selectedKeys={props.chosen}
        onSelectionChange={keys =>
          props.setChosen(
            new Set(
              keys === 'all' ? some.map(s => s.id) : [...keys].map(String),
            ),
          )
        }
      >
        <TableHeader>
          <Column isRowHeader>Preview</Column>
          <Column>What there is</Column>
          <Column>Why it is a stray</Column>
          <Column>Found by</Column>
          <Column>Since</Column>
        </TableHeader>
        <TableBody>
          {some.map(s => (
            <Row key={s.id} id={s.id}>
              <CellText
                title={s.id}
                description={[s.service, s.person, s.agent]
                  .filter(Boolean)
                  .join(', ')}
              />
              <Cell>
                <Text as="p">{s.what.join(', ')}</Text>
                {s.diskBytes ? (
                  <Text color="secondary">{bytes(s.diskBytes)}</Text>
                ) : null}
              </Cell>
              <Cell>{s.reason}</Cell>
              <CellText title={s.deployer} />
              <Cell>{s.since ? <When at={s.since} /> : 'not known'}</Cell>
            </Row>
          ))}
        </TableBody>
      </TableRoot>
      {more}
    </Scrolled>
  );
};

const SweepDialog = (props: {
  ids: string[];
  /** How many others are chosen that cannot be swept with them. */
  others: number;
  onClose: () => void;
  onDone: (left: string) => void;
}) => {
  const { ids, others, onClose, onDone } = props;
  const act = useAct(SweepPreviewStraysDocument);
  const sweep = async () => {
    const swept = (await act.run({ ids }))?.sweepPreviewStrays;
    if (!swept) return;
    const parts = [
      `Removed ${swept.removed.length}`,
      swept.remaining.length && `${swept.remaining.length} are not gone yet`,
      swept.skipped.length && `${swept.skipped.length} are strays no more`,
      ...swept.failed.map(f => `${f.deployer}: ${f.reason}`),
    ];
    onDone(`${parts.filter(Boolean).join('; ')}.`);
  };
  return (
    <ActDialog
      title="Sweep strays?"
      verb="Sweep"
      destructive
      act={act}
      onAct={sweep}
      onClose={onClose}
    >
      <Text className={styles.long}>
        What there is of these is removed for good: {ids.join(', ')}.
      </Text>
      {others > 0 && (
        <Text>
          At most {most} are swept at once; the other {others} stay chosen.
        </Text>
      )}
    </ActDialog>
  );
};

/** What there is of previews that are not known any more, and its removal. */
export const Strays = () => {
  const [chosen, setChosen] = useState<Set<string>>(new Set());
  const [sweeping, setSweeping] = useState(false);
  const [left, setLeft] = useState('');
  const strays = useLiveQuery({
    query: PreviewStraysDocument,
    variables: {},
    every: 60_000,
  });
  if (strays.fault?.code === 'forbidden') return null;
  const found = strays.data?.previewStrays;
  const ids = (found?.items ?? []).map(s => s.id).filter(id => chosen.has(id));
  return (
    <Answer of={strays}>
      {() =>
        found && (
          <Flex direction="column" gap="4" align="start">
            {found.unswept.map(u => (
              <Notice
                key={u.deployer}
                status="warning"
                icon
                title={
                  <Long>{`It could not be looked at ${u.deployer}: ${u.reason}`}</Long>
                }
              />
            ))}
            {left && <Notice role="status" status="info" icon title={left} />}
            {found.items.length ? (
              <>
                <StrayTable items={found.items} {...{ chosen, setChosen }} />
                <Button
                  destructive
                  isDisabled={!ids.length}
                  onPress={() => setSweeping(true)}
                >
                  Sweep…
                </Button>
              </>
            ) : (
              <Text color="secondary">Nothing is left of other previews.</Text>
            )}
            {sweeping && (
              <SweepDialog
                ids={ids.slice(0, most)}
                others={Math.max(ids.length - most, 0)}
                onClose={() => setSweeping(false)}
                onDone={text => {
                  setSweeping(false);
                  setChosen(new Set(ids.slice(most)));
                  setLeft(text);
                  strays.refresh();
                }}
              />
            )}
          </Flex>
        )
      }
    </Answer>
  );
};
