import {
  Badge,
  Button,
  Dialog,
  DialogBody,
  DialogFooter,
  Flex,
  Tab,
  TabList,
  TabPanel,
  Tabs,
  Text,
} from '@backstage/ui';
import type { ReactNode } from 'react';
import { useLiveQuery } from '../client';
import {
  Long,
  EntityLink,
  DialogTitle,
  Answer,
  CopyButton,
  Countdown,
  When,
} from '../parts';
import { Logs } from './Logs';
import { Phase } from './Phase';
import { called, ending, stuck } from './preview';
import { Address, Asker, type OnAct } from './PreviewTable';
import styles from './previews.module.css';
import {
  PreviewChangesDocument,
  PreviewDetailsDocument,
  type PreviewDetailsQuery,
} from './previews.generated';

type Detailed = NonNullable<PreviewDetailsQuery['previewEnvironment']>;

const Fact = (props: { name: string; children: ReactNode }) => (
  <>
    <dt>{props.name}</dt>
    <dd>{props.children}</dd>
  </>
);

const Copied = (props: { text: string; what: string }) => (
  <Flex align="center" gap="1">
    <span className={styles.code}>{props.text}</span>
    <CopyButton text={props.text} what={props.what} />
  </Flex>
);

const Facts = ({ of: p }: { of: Detailed }) => (
  <dl className={styles.facts}>
    <Fact name="Phase">
      <Phase phase={p.phase} />
      <Text variant="body-small" color="secondary">
        since <When at={p.since} />
      </Text>
    </Fact>
    {p.reason && (
      <Fact name="Reason">
        <Long>{p.reason}</Long>
      </Fact>
    )}
    {p.position && <Fact name="Place in the queue">{p.position}</Fact>}
    {p.remains.length > 0 && (
      <Fact name="Still there">{p.remains.join(', ')}</Fact>
    )}
    {p.url && (
      <Fact name="Address">
        <Flex align="center" gap="1">
          <Address url={p.url} />
          <CopyButton text={p.url} what="the address" />
        </Flex>
      </Fact>
    )}
    {!ending(p) && (
      <Fact name="Time left">
        <Countdown at={p.expiresAt} />
        {p.endsSoon && <Badge>Ends soon</Badge>}
      </Fact>
    )}
    <Fact name="Service">
      <EntityLink of={p.service} />
    </Fact>
    <Fact name="Revision">
      <Copied text={p.revision} what="the revision" />
    </Fact>
    <Fact name="Commit">
      <Copied text={p.commit} what="the commit" />
    </Fact>
    <Fact name="Asked for by">
      <Asker preview={p} />
    </Fact>
    {p.owner && (
      <Fact name="Owner">
        <EntityLink of={p.owner} kind="group" />
      </Fact>
    )}
    <Fact name="Deployer">{p.deployer}</Fact>
    <Fact name="Created">
      <When at={p.createdAt} />
    </Fact>
    {p.readyAt && (
      <Fact name="First ready">
        <When at={p.readyAt} />
      </Fact>
    )}
    <Fact name="Id">
      <Copied text={p.id} what="the id" />
    </Fact>
  </dl>
);

const Events = ({ of }: { of: Detailed['events'] }) => (
  <ol className={styles.events} aria-label="Events, newest first">
    {[...of].reverse().map((event, i) => (
      <li key={of.length - i}>
        <Phase phase={event.phase} />
        <Text as="p">
          <Long>{event.text}</Long>
        </Text>
        <Text variant="body-small" color="secondary">
          {event.at && <When at={event.at} />}
          {event.by && `, by ${event.by}`}
        </Text>
      </li>
    ))}
  </ol>
);

interface DetailsProps {
  id: string;
  mayForce: boolean;
  onAct: OnAct;
  onClose: () => void;
}

/** Everything that is known of a preview: facts, events and logs. */
export const Details = ({ id, mayForce, onAct, onClose }: DetailsProps) => {
  const details = useLiveQuery({
    query: PreviewDetailsDocument,
    variables: { id },
    changes: [{ query: PreviewChangesDocument, variables: { id } }],
  });
  const preview = details.data?.previewEnvironment;
  const name = preview ? called(preview) : id;
  return (
    <Dialog isOpen onOpenChange={open => !open && onClose()} width={860}>
      <DialogTitle>{preview ? name : 'Preview'}</DialogTitle>
      <DialogBody>
        <Tabs>
          <TabList>
            <Tab id="facts">Facts</Tab>
            <Tab id="events">Events</Tab>
            <Tab id="logs">Logs</Tab>
          </TabList>
          <TabPanel id="facts">
            <Answer of={details}>
              {d => d.previewEnvironment && <Facts of={d.previewEnvironment} />}
            </Answer>
          </TabPanel>
          <TabPanel id="events">
            <Answer of={details}>
              {d =>
                d.previewEnvironment && (
                  <Events of={d.previewEnvironment.events} />
                )
              }
            </Answer>
          </TabPanel>
          <TabPanel id="logs">
            <Logs id={id} name={name} />
          </TabPanel>
        </Tabs>
      </DialogBody>
      {preview && !ending(preview) && (
        <DialogFooter>
          <Button
            variant="secondary"
            destructive
            onPress={() => onAct('delete', preview)}
          >
            Delete…
          </Button>
          <Button variant="primary" onPress={() => onAct('extend', preview)}>
            Extend…
          </Button>
        </DialogFooter>
      )}
      {preview && mayForce && stuck(preview) && (
        <DialogFooter>
          <Button
            variant="secondary"
            destructive
            onPress={() => onAct('force', preview)}
          >
            Remove by force…
          </Button>
        </DialogFooter>
      )}
    </Dialog>
  );
};
