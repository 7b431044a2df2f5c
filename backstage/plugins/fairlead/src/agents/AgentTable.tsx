import {
  Cell,
  CellText,
  Column,
  Flex,
  Link,
  Row,
  TableBody,
  TableHeader,
  TableRoot,
  Text,
} from '@backstage/ui';
import { Scrolled, When } from '../parts';
import { Ref } from './Fields';
import type { Agent, SeenAct } from './gather';
import { useAgentHref } from './links';
import { State } from './State';

const some = (count: number, one: string, many = `${one}s`) =>
  count ? [`${count} ${count === 1 ? one : many}`] : [];

const LastAct = ({ of: act }: { of?: SeenAct }) =>
  act ? (
    <Flex direction="column" gap="1">
      <Text>
        {act.action} <When at={act.time} />
      </Text>
      <State of={act.status} />
    </Flex>
  ) : (
    <Text color="secondary">none on record</Text>
  );

const few = 5; // persons that are named

/** Whom an agent acts for. */
export const Persons = ({ of: agent }: { of: Agent }) => {
  const more = agent.others + Math.max(0, agent.persons.length - few);
  return (
    <>
      {agent.persons.slice(0, few).map((person, n) => (
        <span key={person}>
          {n > 0 && ', '}
          <Ref of={person} />
        </span>
      ))}
      {more > 0 && ` and ${more} more`}
    </>
  );
};

/** Agents, each with whom it acts for and what it did, holds and waits for. */
export const AgentTable = ({ of }: { of: Agent[] }) => {
  const href = useAgentHref();
  return (
    <Scrolled>
      <TableRoot aria-label="Agents">
        <TableHeader>
          <Column isRowHeader>Agent</Column>
          <Column>Acts for</Column>
          <Column>Last act</Column>
          <Column>Did</Column>
          <Column>Holds</Column>
          <Column>Waits for</Column>
        </TableHeader>
        <TableBody>
          {of.map(agent => (
            <Row key={agent.name} id={agent.name}>
              <Cell>
                <Link href={href(agent.name)}>{agent.name}</Link>
              </Cell>
              <Cell>
                <Persons of={agent} />
              </Cell>
              <Cell>
                <LastAct of={agent.last} />
              </Cell>
              <CellText
                title={some(agent.acts, 'act').join('') || '—'}
                description={some(agent.refused, 'refused', 'refused').join('')}
              />
              <CellText
                title={
                  [
                    ...some(agent.leases, 'lease'),
                    ...some(agent.previews, 'preview'),
                  ].join(', ') || '—'
                }
              />
              <CellText
                title={
                  [
                    ...some(agent.requests, 'approval'),
                    ...some(agent.proposals, 'proposal'),
                  ].join(', ') || '—'
                }
              />
            </Row>
          ))}
        </TableBody>
      </TableRoot>
    </Scrolled>
  );
};
