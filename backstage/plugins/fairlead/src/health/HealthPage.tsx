import { Container, Flex, Text } from '@backstage/ui';
import { useId, type ReactNode } from 'react';
import { Connected, useLiveQuery, useViewer } from '../client';
import { Answer } from '../parts';
import { changes, every } from './changes';
import {
  HealthDocument,
  KnownDocument,
  SourcesDocument,
  type SourcesQuery,
} from './health.generated';
import { Broken } from './Broken';
import css from './health.module.css';
import { Known } from './Known';
import { Problems } from './Problems';
import { Sources } from './Sources';
import { Stale } from './Stale';

const Part = (props: { title: string; children: ReactNode }) => {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <Flex direction="column" gap="3">
        <Text as="h2" variant="title-small" weight="bold" id={id}>
          {props.title}
        </Text>
        {props.children}
      </Flex>
    </section>
  );
};

const Figure = (props: { title: string; children: string }) => (
  <div className={css.figure}>
    <Text variant="body-small" color="secondary">
      {props.title}
    </Text>
    <Text variant="title-small" weight="bold">
      {props.children}
    </Text>
  </div>
);

const stateOf = (data: SourcesQuery) => {
  const all = data.sources?.items ?? [];
  const bad = all.filter(({ state }) => state === 'failing').length;
  return bad ? `${bad} of ${all.length} failing` : `${all.length} read`;
};

const Health = () => {
  const me = useViewer();
  const sources = useLiveQuery({
    query: SourcesDocument,
    variables: {},
    changes,
    every,
  });
  const known = useLiveQuery({
    query: KnownDocument,
    variables: {},
    every: 30_000,
  });
  const health = useLiveQuery({
    query: HealthDocument,
    variables: {},
    changes,
    every,
  });
  const figures = health.data?.catalogHealth;
  const groups = me.data?.whoami?.groups ?? [];
  const coverage = known.data?.coverage;
  const items = sources.data?.sources?.items ?? [];
  const repositories = new Map(
    items.map(({ name, url, commit }) => [name, { url, commit }]),
  );
  return (
    <Flex direction="column" gap="6">
      <div className={css.figures}>
        {figures && (
          <>
            <Figure title="Errors">{String(figures.errors)}</Figure>
            <Figure title="Warnings">{String(figures.warnings)}</Figure>
            <Figure title="Conflicts">{String(figures.conflicts)}</Figure>
            <Figure title="Stale">{String(figures.stale)}</Figure>
            <Figure title="Broken relations">{String(figures.broken)}</Figure>
          </>
        )}
        {sources.data && (
          <Figure title="Sources">{stateOf(sources.data)}</Figure>
        )}
        {coverage && (
          <Figure title="Facts known">{`${coverage.all.percent}%`}</Figure>
        )}
      </div>
      <Part title="Problems">
        <Answer of={me}>
          {() => (
            <Problems
              groups={groups}
              owners={coverage?.teams.flatMap(({ owner }) => owner ?? []) ?? []}
              sources={items}
            />
          )}
        </Answer>
      </Part>
      <Part title="Stale entities">
        <Stale repositories={repositories} />
      </Part>
      <Part title="Broken relations">
        <Broken repositories={repositories} />
      </Part>
      <Part title="Sources">
        <Answer
          of={sources}
          empty={{
            when: d => !d.sources?.items.length,
            text: 'There are no sources that you may see.',
          }}
        >
          {() => <Sources sources={items} />}
        </Answer>
      </Part>
      <Part title="What is known of services">
        <Answer
          of={known}
          empty={{
            when: d => !d.coverage?.teams.length,
            text: 'There are no services.',
          }}
        >
          {data => <Known teams={data.coverage?.teams ?? []} groups={groups} />}
        </Answer>
      </Part>
    </Flex>
  );
};

/** What is wrong with the catalog, whose it is, and how to put it right. */
export const HealthPage = () => (
  <Connected>
    <Container py="4">
      <Health />
    </Container>
  </Connected>
);
