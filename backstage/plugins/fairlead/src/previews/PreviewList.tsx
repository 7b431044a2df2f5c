import { Button, Flex, VisuallyHidden } from '@backstage/ui';
import { RiAddLine } from '@remixicon/react';
import { useState, type ReactNode } from 'react';
import { useLiveQuery } from '../client';
import { Answer, Pager, usePaging } from '../parts';
import { CreateDialog } from './CreateDialog';
import { Details } from './Details';
import { DeleteDialog, ExtendDialog, ForceDialog } from './EndDialogs';
import { useOpened } from './opened';
import { useMay, type Filter, type Preview } from './preview';
import { PreviewTable, type ActName } from './PreviewTable';
import styles from './previews.module.css';
import { PreviewChangesDocument, PreviewsDocument } from './previews.generated';
import { useNews } from './useNews';

const dialogs = {
  extend: ExtendDialog,
  delete: DeleteDialog,
  force: ForceDialog,
};

type Begun = { name: 'create' } | { name: keyof typeof dialogs; of: Preview };

/** The dialog of the act that was begun. */
const ActOn = (props: {
  act: Begun;
  service?: string;
  items: Preview[];
  onClose: () => void;
  onDone: () => void;
}) => {
  const { act, service, items, ...ends } = props;
  if (act.name === 'create')
    return <CreateDialog service={service} {...ends} />;
  const Dialog = dialogs[act.name];
  return (
    <Dialog preview={items.find(p => p.id === act.of.id) ?? act.of} {...ends} />
  );
};

interface PreviewListProps {
  filter: Filter;
  /** The service that all are of, and new ones are, where it is one. */
  service?: string;
  /** What is said where there is none. */
  empty: ReactNode;
  /** What chooses among previews; stands beside the button for a new one. */
  children: ReactNode;
}

/** Previews page by page, as they change, and what can be done with them. */
export const PreviewList = (props: PreviewListProps) => {
  const { filter, service } = props;
  const paging = usePaging(JSON.stringify(filter));
  const [opened, open] = useOpened();
  const [act, setAct] = useState<Begun>();
  const mayForce = useMay('previews.force');
  const previews = useLiveQuery({
    query: PreviewsDocument,
    variables: { ...filter, first: 50, after: paging.after },
    changes: [
      { query: PreviewChangesDocument, variables: { service: filter.service } },
    ],
  });
  const page = previews.data?.previewEnvironments;
  const items = page?.items ?? [];
  const news = useNews(page?.items);
  const onAct = (name: ActName, of: Preview) =>
    name === 'details' ? open(of.id) : setAct({ name, of });
  return (
    <Flex direction="column" gap="4">
      <Flex align="end" gap="4" className={styles.bar}>
        {props.children}
        <Button
          variant="primary"
          iconStart={<RiAddLine />}
          onPress={() => setAct({ name: 'create' })}
        >
          New preview
        </Button>
      </Flex>
      <Answer
        of={previews}
        empty={{
          when: () => !items.length && !paging.newer,
          text: props.empty,
        }}
      >
        {() => (
          <>
            <PreviewTable {...{ service, mayForce, onAct }} previews={items} />
            <Pager of={paging} next={page?.nextCursor} what="previews" />
          </>
        )}
      </Answer>
      <VisuallyHidden role="status">{news}</VisuallyHidden>
      {opened && (
        <Details
          key={opened}
          id={opened}
          mayForce={mayForce}
          onAct={onAct}
          onClose={() => open()}
        />
      )}
      {act && (
        <ActOn
          {...{ act, service, items }}
          onClose={() => setAct(undefined)}
          onDone={() => {
            setAct(undefined);
            previews.refresh();
          }}
        />
      )}
    </Flex>
  );
};
