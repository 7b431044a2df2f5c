import { stringifyEntityRef } from '@backstage/catalog-model';
import { EntityInfoCard, useEntity } from '@backstage/plugin-catalog-react';
import { Flex, Text } from '@backstage/ui';
import { RiLockLine } from '@remixicon/react';
import { Connected, useLiveQuery } from '../client';
import { useEntityChanges } from '../live';
import { Long, EntityLink, Answer, CopyButton, sourceUrl } from '../parts';
import { BriefDocument, type BriefQuery } from './brief.generated';
import css from './brief.module.css';
import {
  Few,
  Like,
  Mark,
  Note,
  Row,
  Section,
  Target,
  type Fact,
} from './Facts';
import { Objectives } from './Objectives';
import { Unknown } from './Unknown';

type Brief = NonNullable<BriefQuery['serviceBrief']>;

const commands = [
  ['setup', 'Set up'],
  ['build', 'Build'],
  ['test', 'Test'],
  ['testOne', 'Test one'],
  ['lint', 'Lint'],
  ['run', 'Run'],
] as const;

const Commands = ({ brief }: { brief: Brief }) => {
  const known = commands.flatMap(([key, label]) => {
    const fact = brief.commands?.[key];
    return fact ? [{ fact, label }] : [];
  });
  if (!known.length && !brief.rules.length) return null;
  return (
    <Section title="Work on it">
      {known.map(({ fact, label }) => (
        <Row key={label} label={label} fact={fact}>
          <code className={css.command}>{fact.value}</code>
          <CopyButton text={fact.value} what={`${label}: ${fact.value}`} />
          {fact.path && <Text variant="body-small">in {fact.path}</Text>}
        </Row>
      ))}
      <Few of={brief.rules} what="rules">
        {fact => (
          <Row key={fact.value} label="Rules for agents" fact={fact}>
            <Text>{fact.value}</Text>
          </Row>
        )}
      </Few>
    </Section>
  );
};

const Environment = ({ fact }: { fact: Fact }) => (
  <Row label={fact.name} fact={fact}>
    <Target to={fact.value || undefined}>
      {fact.value || fact.path || ''}
    </Target>
    {fact.protected && <Mark icon={<RiLockLine aria-hidden />}>protected</Mark>}
    {fact.app && (
      <Text variant="body-small" color="secondary">
        Argo CD {fact.app}
      </Text>
    )}
  </Row>
);

const Deployment = ({ brief }: { brief: Brief }) =>
  brief.deployRepo || brief.environments.length ? (
    <Section title="Deployment">
      {brief.deployRepo && (
        <Row label="Repository" fact={brief.deployRepo}>
          <Target to={brief.deployRepo.value} />
        </Row>
      )}
      <Few of={brief.environments} most={5} what="environments">
        {fact => <Environment key={fact.name ?? fact.path} fact={fact} />}
      </Few>
    </Section>
  ) : null;

const Runbook = ({ fact }: { fact: Fact }) => {
  const file = fact.handle
    ? sourceUrl({ ...fact.source, path: fact.value, line: null })
    : undefined;
  return (
    <Row label="Runbook" fact={fact}>
      <Target to={file ?? fact.value}>{fact.name ?? fact.value}</Target>
    </Row>
  );
};

const Operation = ({ brief }: { brief: Brief }) => {
  const { oncall, slos, runbooks, dashboards } = brief;
  if (!oncall && !slos.length && !runbooks.length && !dashboards.length)
    return null;
  return (
    <Section title="Operation">
      {oncall && (
        <Row label="On call" fact={oncall}>
          <Target to={oncall.value}>{oncall.name ?? oncall.value}</Target>
        </Row>
      )}
      <Objectives
        service={brief.ref}
        environments={brief.environments}
        slos={slos}
      />
      <Few of={runbooks} what="runbooks">
        {fact => <Runbook key={fact.value} fact={fact} />}
      </Few>
      <Few of={dashboards} what="dashboards">
        {fact => (
          <Row key={fact.value} label="Dashboard" fact={fact}>
            <Target to={fact.value}>{fact.name ?? fact.value}</Target>
          </Row>
        )}
      </Few>
    </Section>
  );
};

const Dependencies = ({ brief }: { brief: Brief }) => {
  const sides = [
    { label: 'Depends on', facts: brief.dependsOn },
    { label: 'Used by', facts: brief.dependencyOf },
  ].filter(({ facts }) => facts.length > 0);
  if (!sides.length) return null;
  return (
    <Section title="Dependencies">
      {sides.map(({ label, facts }) => (
        <Few
          key={label}
          of={facts}
          most={2}
          what={`that it ${label === 'Used by' ? 'is used by' : 'depends on'}`}
        >
          {(fact, i) => (
            <Row
              key={`${fact.name} ${fact.value}`}
              label={i === 0 ? `${label} ${facts.length}` : ''}
              fact={fact}
            >
              <EntityLink of={fact.value} />
            </Row>
          )}
        </Few>
      ))}
    </Section>
  );
};

const Everything = ({ data }: { data: BriefQuery }) => {
  const brief = data.serviceBrief;
  if (!brief) return null;
  return (
    <div className={css.sections}>
      {brief.problems.length > 0 && (
        <Flex direction="column" gap="1">
          {brief.problems.map(problem => (
            <Note key={problem}>
              <Long>{problem}</Long>
            </Note>
          ))}
        </Flex>
      )}
      <Commands brief={brief} />
      <Deployment brief={brief} />
      <Operation brief={brief} />
      <Dependencies brief={brief} />
      <Unknown
        unknown={brief.unknown}
        add={data.coverage?.items.flatMap(item => item.add) ?? []}
      />
      {brief.omitted.length > 0 && (
        <Text variant="body-small" color="secondary">
          Left out for size: {brief.omitted.join(', ')}.
        </Text>
      )}
    </div>
  );
};

const LiveBrief = () => {
  const { entity } = useEntity();
  const service = stringifyEntityRef(entity);
  const brief = useLiveQuery({
    query: BriefDocument,
    variables: { service },
    every: 30_000, // for what is found outside of the catalog
  });
  useEntityChanges(service, brief.refresh);
  const like =
    entity.metadata.annotations?.['backstage.io/view-url'] ??
    entity.metadata.annotations?.['backstage.io/source-location'];
  return (
    <Like.Provider value={like}>
      <Answer of={brief}>{data => <Everything data={data} />}</Answer>
    </Like.Provider>
  );
};

/** What one needs to know before touching a service. */
export const BriefCard = () => (
  <EntityInfoCard title="Service brief" className={css.card}>
    <Connected>
      <Flex direction="column">
        <LiveBrief />
      </Flex>
    </Connected>
  </EntityInfoCard>
);
