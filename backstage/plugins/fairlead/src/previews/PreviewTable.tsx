import {
  Badge,
  Button,
  ButtonIcon,
  Cell,
  Column,
  Flex,
  Link,
  Menu,
  MenuItem,
  MenuTrigger,
  Row,
  TableBody,
  TableHeader,
  TableRoot,
  Text,
} from '@backstage/ui';
import {
  RiAlarmWarningLine,
  RiMore2Line,
  RiRobot2Line,
} from '@remixicon/react';
import { useAgentHref } from '../agents/links';
import { EntityLink, Countdown, When } from '../parts';
import { useHrefs } from './opened';
import { Phase } from './Phase';
import { called, ending, short, stuck, type Preview } from './preview';
import styles from './previews.module.css';
import breaking from '../parts/long.module.css';

/** What can be done with a preview of a list. */
export type ActName = 'details' | 'extend' | 'delete' | 'force';

/** Begins an act with a preview. */
export type OnAct = (name: ActName, preview: Preview) => void;

/** Where a preview answers. */
export const Address = (props: { url: string | null; className?: string }) =>
  props.url && /^https?:/.test(props.url) ? (
    <Link
      href={props.url}
      target="_blank"
      rel="noopener noreferrer"
      variant="body-small"
      className={props.className ?? breaking.long}
    >
      {props.url.replace(/^https?:\/\/|\/$/g, '')}
    </Link>
  ) : null;

const What = ({ preview: p, named }: { preview: Preview; named: boolean }) => {
  const hrefOf = useHrefs();
  return (
    <Flex direction="column" gap="1" align="start">
      {named && <EntityLink of={p.service} />}
      <Flex align="center" gap="2" className={styles.wrapping}>
        <Link
          href={hrefOf(p.id)}
          weight="bold"
          aria-label={`Details of ${called(p)}`}
          className={breaking.long}
        >
          {p.revision === p.commit ? short(p.commit) : p.revision}
        </Link>
        {p.revision !== p.commit && (
          <Text
            variant="body-small"
            color="secondary"
            className={styles.code}
            title={p.commit}
          >
            {short(p.commit)}
          </Text>
        )}
      </Flex>
      <Address url={p.url} className={styles.address} />
    </Flex>
  );
};

const Standing = ({ preview: p }: { preview: Preview }) => (
  <Flex direction="column" gap="1">
    <Phase phase={p.phase} />
    <Text variant="body-small" color="secondary" className={breaking.long}>
      {p.position ? `Number ${p.position} in the queue, ` : ''}
      <When at={p.since} />
    </Text>
    {p.reason && p.phase !== 'ready' && (
      <Text variant="body-small" className={styles.reason} title={p.reason}>
        {p.reason}
      </Text>
    )}
  </Flex>
);

const TimeLeft = ({ preview: p, onAct }: { preview: Preview; onAct: OnAct }) =>
  ending(p) ? (
    <Text color="secondary">ended</Text>
  ) : (
    <Flex direction="column" gap="1" align="start">
      <Countdown at={p.expiresAt} />
      {p.endsSoon && (
        <>
          <Badge icon={<RiAlarmWarningLine />}>Ends soon</Badge>
          <Button size="small" onPress={() => onAct('extend', p)}>
            Extend
          </Button>
        </>
      )}
    </Flex>
  );

/** Who had it made, and by which agent. */
export const Asker = ({ preview: p }: { preview: Preview }) => {
  const hrefOf = useAgentHref();
  return (
    <Flex direction="column" gap="1" align="start">
      <EntityLink of={p.person} kind="user" />
      {p.agent && (
        <Flex align="center" gap="1">
          <RiRobot2Line size={16} className={styles.icon} aria-hidden />
          <Link
            href={hrefOf(p.agent)}
            variant="body-small"
            className={breaking.long}
          >
            {p.agent}
          </Link>
        </Flex>
      )}
    </Flex>
  );
};

const Acts = (props: { preview: Preview; mayForce: boolean; onAct: OnAct }) => {
  const { preview: p, mayForce, onAct } = props;
  const act = (name: ActName) => () => onAct(name, p);
  return (
    <MenuTrigger>
      <ButtonIcon
        size="small"
        variant="tertiary"
        aria-label={`Acts on ${called(p)}`}
        icon={<RiMore2Line />}
      />
      <Menu>
        <MenuItem onAction={act('details')}>Details and logs</MenuItem>
        <MenuItem onAction={act('extend')} isDisabled={ending(p)}>
          Extend…
        </MenuItem>
        <MenuItem
          onAction={act('delete')}
          isDisabled={ending(p)}
          color="danger"
        >
          Delete…
        </MenuItem>
        {mayForce && stuck(p) ? (
          <MenuItem onAction={act('force')} color="danger">
            Remove by force…
          </MenuItem>
        ) : null}
      </Menu>
    </MenuTrigger>
  );
};

interface PreviewTableProps {
  previews: Preview[];
  /** Of one service, which need not be named then. */
  service?: string;
  mayForce: boolean;
  onAct: OnAct;
}

/** Previews, one in a row. */
export const PreviewTable = (props: PreviewTableProps) => (
  <div className={styles.previews}>
    <TableRoot aria-label="Previews">
      <TableHeader>
        <Column isRowHeader className={styles.most}>
          Preview
        </Column>
        <Column>Phase</Column>
        <Column className={styles.brief}>Time left</Column>
        <Column className={styles.wide}>Asked for by</Column>
        <Column className={`${styles.wide} ${styles.brief}`}>Age</Column>
        <Column className={styles.least}>Acts</Column>
      </TableHeader>
      <TableBody>
        {props.previews.map(p => (
          <Row key={p.id} id={p.id}>
            <Cell>
              <What preview={p} named={!props.service} />
            </Cell>
            <Cell>
              <Standing preview={p} />
            </Cell>
            <Cell>
              <TimeLeft preview={p} onAct={props.onAct} />
            </Cell>
            <Cell className={styles.wide}>
              <Asker preview={p} />
            </Cell>
            <Cell className={styles.wide}>
              <When at={p.createdAt} />
            </Cell>
            <Cell>
              <Acts preview={p} mayForce={props.mayForce} onAct={props.onAct} />
            </Cell>
          </Row>
        ))}
      </TableBody>
    </TableRoot>
  </div>
);
