import { Button, Card, CardBody, Flex, Select, Text } from '@backstage/ui';
import { useLiveQuery } from '../client';
import {
  EntityLink,
  Answer,
  Filters,
  Pager,
  usePaging,
  useSome,
} from '../parts';
import { changes, every } from './changes';
import { ProblemsDocument, type SourcesQuery } from './health.generated';
import css from './health.module.css';
import { ProblemItem, type Repositories } from './Problem';
import { useChoice } from './useChoice';
import { counted, ownerName } from './words';

type Source = NonNullable<SourcesQuery['sources']>['items'][number];

const size = 25;

/** A page of the problems of one owner, or of all. */
const ProblemList = (props: {
  owner?: string;
  source?: string;
  kind?: string;
  repositories: Repositories;
}) => {
  const { owner, source, kind, repositories } = props;
  const paging = usePaging(`${owner} ${source} ${kind}`);
  const problems = useLiveQuery({
    query: ProblemsDocument,
    variables: {
      owner: owner ?? null,
      source: source || null,
      severity: kind && kind !== 'conflict' ? kind : null,
      class: kind === 'conflict' ? 'ConflictError' : null,
      first: size,
      after: paging.after ?? null,
    },
    changes,
    every,
  });
  return (
    <Card>
      <CardBody>
        <Answer
          of={problems}
          empty={{
            when: d => !d.ingestionErrors?.items.length && !paging.after,
            text: (
              <>
                {owner ? <EntityLink of={owner} /> : 'The catalog'}: no
                problems.
              </>
            ),
          }}
        >
          {({ ingestionErrors: page }) => (
            <>
              <Flex align="center" gap="2">
                {owner && <EntityLink of={owner} />}
                <Text color="secondary">
                  {counted(page?.total ?? 0, 'problem')}
                </Text>
              </Flex>
              <ul className={css.list}>
                {page?.items.map((problem, i) => (
                  <ProblemItem
                    key={`${problem.source} ${problem.file} ${problem.line} ${problem.column} ${i}`}
                    problem={problem}
                    repositories={repositories}
                  />
                ))}
              </ul>
              <Pager of={paging} next={page?.nextCursor} what="problems" />
            </>
          )}
        </Answer>
      </CardBody>
    </Card>
  );
};

/** What is wrong with catalog files and sources: first what is mine. */
export const Problems = (props: {
  groups: string[];
  owners: string[];
  sources: Source[];
}) => {
  const { groups, sources } = props;
  const [choice, choose] = useChoice();
  const repositories: Repositories = new Map(
    sources.map(({ name, url, commit }) => [name, { url, commit }]),
  );
  const mine = choice.owner === 'mine' && groups.length > 0;
  const of = mine
    ? groups
    : [['mine', 'all'].includes(choice.owner) ? undefined : choice.owner];
  const [some, more] = useSome(of, 10); // each asks for itself
  const named = new Set([...props.owners, ...of].filter(Boolean) as string[]);
  return (
    <Flex direction="column" gap="3">
      <Filters label="Problems">
        <Select
          label="Owner"
          search={{ placeholder: 'Find a team' }}
          options={[
            ...(groups.length ? [{ id: 'mine', label: 'My teams' }] : []),
            { id: 'all', label: 'Everybody' },
            ...[...named].sort().map(id => ({ id, label: ownerName(id) })),
          ]}
          value={mine ? 'mine' : of[0] ?? 'all'}
          onChange={owner => choose({ owner: String(owner) })}
        />
        <Select
          label="Source"
          search={{ placeholder: 'Find a source' }}
          options={[
            { id: 'any', label: 'Any' },
            ...sources.map(({ name, problems }) => ({
              id: name,
              label: problems ? `${name} (${problems})` : name,
            })),
          ]}
          value={choice.source || 'any'}
          onChange={source =>
            choose({ source: source === 'any' ? '' : String(source) })
          }
        />
        <Select
          label="Kind"
          options={[
            { id: 'any', label: 'Any' },
            { id: 'error', label: 'Errors' },
            { id: 'warning', label: 'Warnings' },
            { id: 'conflict', label: 'Conflicts' },
          ]}
          value={choice.kind || 'any'}
          onChange={kind =>
            choose({ kind: kind === 'any' ? '' : String(kind) })
          }
        />
        {mine && (
          <Flex>
            <Button variant="tertiary" onPress={() => choose({ owner: 'all' })}>
              Show everybody’s
            </Button>
          </Flex>
        )}
      </Filters>
      {some.map(owner => (
        <ProblemList
          key={owner ?? ''}
          owner={owner}
          source={choice.source}
          kind={choice.kind}
          repositories={repositories}
        />
      ))}
      {more}
    </Flex>
  );
};
