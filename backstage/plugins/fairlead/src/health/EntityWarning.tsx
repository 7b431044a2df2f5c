import { stringifyEntityRef } from '@backstage/catalog-model';
import { useEntity } from '@backstage/plugin-catalog-react';
import { useRouteRef } from '@backstage/frontend-plugin-api';
import { Flex, Link, Text } from '@backstage/ui';
import { useMemo } from 'react';
import { Connected, useLiveQuery } from '../client';
import { useEntityChanges } from '../live';
import { Long, Notice, SourceLink, When } from '../parts';
import { rootRouteRef } from '../routes';
import {
  EntityStateDocument,
  ProblemsDocument,
  type EntityStateQuery,
} from './health.generated';
import { placeOf } from './Problem';

type State = NonNullable<EntityStateQuery['entity']>;

const old = 3_600_000; // milliseconds after which a source is late

/** What is wrong with the entity's file, where, and how to put it right. */
const FileProblems = ({ state }: { state: State }) => {
  const { source, path, repo } = state.source;
  const { data, loading } = useLiveQuery({
    query: ProblemsDocument,
    variables: { source, first: 500 },
    every: 30_000,
  });
  const found = data?.ingestionErrors?.items.filter(
    problem => problem.file === path || problem.ref === state.ref,
  );
  if (loading) return null;
  if (!found?.length) {
    return (
      <>
        {state.status.map(({ message }) => (
          <Text key={message}>
            <Long>{message}</Long>
          </Text>
        ))}
      </>
    );
  }
  const repositories = new Map([[source, { url: repo ?? '', commit: null }]]);
  return (
    <>
      {found.slice(0, 5).map((problem, i) => (
        <Flex key={`${problem.line} ${i}`} direction="column" gap="0.5">
          <Text>
            <Long>{problem.message}</Long>
          </Text>
          <Text variant="body-small">{problem.fix}</Text>
          <SourceLink
            place={placeOf(problem, repositories)}
            column={problem.column}
            like={state.metadata.annotation}
            color="primary"
          />
        </Flex>
      ))}
      {found.length > 5 && <Text>and {found.length - 5} more</Text>}
    </>
  );
};

const Warning = () => {
  const { entity } = useEntity();
  const ref = stringifyEntityRef(entity);
  const { data, refresh } = useLiveQuery({
    query: EntityStateDocument,
    variables: { ref },
    every: 60_000,
  });
  useEntityChanges(ref, refresh);
  const asked = useMemo(() => (data ? Date.now() : 0), [data]);
  const page = useRouteRef(rootRouteRef)?.();
  const state = data?.entity;
  if (!state) return null;
  const { verifiedAt, staleSince, source } = state.source;
  const more = (text: string) =>
    page && (
      <Link
        href={`${page}/health?owner=all&source=${encodeURIComponent(source)}`}
      >
        {text}
      </Link>
    );
  if (state.status.length || staleSince) {
    return (
      <Notice
        status="warning"
        icon
        role="status"
        title={
          staleSince
            ? 'Its catalog file has errors. What you see is its last good state.'
            : 'Its catalog file has problems.'
        }
        description={
          <Flex direction="column" gap="2">
            <FileProblems state={state} />
            {more('All problems of this source')}
          </Flex>
        }
      />
    );
  }
  if (verifiedAt && asked - Date.parse(verifiedAt) > old) {
    return (
      <Notice
        status="warning"
        icon
        role="status"
        title={
          <>
            Its source {source} was last read <When at={verifiedAt} />.
          </>
        }
        description={more('See why')}
      />
    );
  }
  return null;
};

/** Warns where an entity is not what its file says, or may not be. */
export const EntityWarning = () => (
  <Connected>
    <Warning />
  </Connected>
);
