import {
  Accordion,
  AccordionPanel,
  AccordionTrigger,
  Card,
  CardBody,
  Flex,
  Text,
} from '@backstage/ui';
import { useState } from 'react';
import { AddLines, wordFor } from '../brief/Unknown';
import { useLiveQuery } from '../client';
import { Answer, EntityLink, Pager, usePaging, useSome } from '../parts';
import {
  MissingDocument,
  type KnownQuery,
  type MissingQuery,
} from './health.generated';
import css from './health.module.css';
import { counted, ownerName } from './words';

type Team = NonNullable<KnownQuery['coverage']>['teams'][number];
type Service = NonNullable<MissingQuery['coverage']>['items'][number];

const list = new Intl.ListFormat('en');

const ServiceItem = ({ service }: { service: Service }) => {
  const missing = service.things.filter(({ state }) => state === 'missing');
  return (
    <Flex direction="column" gap="1">
      <div className={css.where}>
        <EntityLink of={service.ref} />
        <Text color="secondary">
          {list.format(missing.map(({ name }) => wordFor(name)))} not known
        </Text>
      </div>
      {service.add.map(add => (
        <AddLines key={`${add.file} ${add.things}`} add={add} />
      ))}
    </Flex>
  );
};

/** The services of a team of which something is missing, and what to add. */
const MissingList = ({ owner }: { owner: string }) => {
  const paging = usePaging(owner);
  const missing = useLiveQuery({
    query: MissingDocument,
    variables: { owner, after: paging.after ?? null },
    every: 30_000,
  });
  return (
    <Answer
      of={missing}
      empty={{
        when: d => !d.coverage?.items.length && !paging.after,
        text: 'Nothing is missing.',
      }}
    >
      {({ coverage }) => (
        <Flex direction="column" gap="4">
          {coverage?.items.map(service => (
            <ServiceItem key={service.ref} service={service} />
          ))}
          <Pager of={paging} next={coverage?.nextCursor} what="services" />
        </Flex>
      )}
    </Answer>
  );
};

const TeamItem = ({ team }: { team: Team }) => {
  const [open, setOpen] = useState(false);
  return (
    <li>
      <Accordion isExpanded={open} onExpandedChange={setOpen}>
        <AccordionTrigger
          title={`${ownerName(team.owner)}: ${team.percent}% known`}
          subtitle={[
            counted(team.services, 'service'),
            `${team.missing} of ${team.things} facts missing`,
            team.stale ? `${team.stale} may no longer hold` : '',
          ]
            .filter(Boolean)
            .join(', ')}
        />
        <AccordionPanel>
          {open && team.owner && <MissingList owner={team.owner} />}
        </AccordionPanel>
      </Accordion>
    </li>
  );
};

const size = 10;

/** What is known of the services of each team: mine first, then the least. */
export const Known = (props: { teams: Team[]; groups: string[] }) => {
  const { groups, teams } = props;
  const isMine = (team: Team) => groups.includes(team.owner ?? '');
  const ordered = [...teams].sort(
    (a, b) => Number(isMine(b)) - Number(isMine(a)) || a.percent - b.percent,
  );
  const [some, more] = useSome(ordered, size);
  return (
    <Card>
      <CardBody>
        <ul className={css.list} aria-label="Teams">
          {some.map(team => (
            <TeamItem key={team.owner ?? ''} team={team} />
          ))}
        </ul>
        {more}
      </CardBody>
    </Card>
  );
};
