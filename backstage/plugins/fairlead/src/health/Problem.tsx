import { Badge, Text } from '@backstage/ui';
import { Long, EntityLink, SourceLink, When } from '../parts';
import type { ProblemsQuery } from './health.generated';
import css from './health.module.css';
import { Mark } from './Mark';

export type Problem = NonNullable<
  ProblemsQuery['ingestionErrors']
>['items'][number];

/** Where each source is read, by its name. */
export type Repositories = Map<string, { url: string; commit?: string | null }>;

/** Where something is written, as of when it was last seen where that is known. */
export const placeOf = (
  of: Pick<Problem, 'source' | 'file' | 'line'> & Partial<Problem>,
  repositories: Repositories,
) => {
  const source = repositories.get(of.source);
  return {
    repo: source?.url,
    commit: of.lastSeen?.commit ?? source?.commit,
    path: of.file,
    line: of.line,
  };
};

/** One problem: what is wrong where, how to put it right, whose it is. */
export const ProblemItem = (props: {
  problem: Problem;
  repositories: Repositories;
}) => {
  const { problem, repositories } = props;
  const place = placeOf(problem, repositories);
  return (
    <li className={css.item}>
      <Mark of={problem.severity} />
      <div className={css.text}>
        <Text>
          <Long>{problem.message}</Long>
        </Text>
        {problem.fix && (
          <Text variant="body-small" color="secondary">
            <Long>{problem.fix}</Long>
          </Text>
        )}
        <div className={css.where}>
          <Text variant="body-small" color="secondary">
            {problem.source}
          </Text>
          {problem.file && (
            <SourceLink
              place={place}
              column={problem.column}
              like={problem.entity?.metadata.annotation}
            />
          )}
          {problem.name === 'ConflictError' && (
            <Badge size="small">conflict</Badge>
          )}
          {problem.ref &&
            (problem.entity ? (
              <EntityLink of={problem.ref} />
            ) : (
              <Text variant="body-small" color="secondary">
                {problem.ref}
              </Text>
            ))}
        </div>
      </div>
      <div className={css.side}>
        {problem.owner ? (
          <EntityLink of={problem.owner} />
        ) : (
          <Text variant="body-small" color="secondary">
            nobody’s
          </Text>
        )}
        <Text variant="body-small" color="secondary">
          {problem.firstSeen.at ? (
            <>
              since <When at={problem.firstSeen.at} />
            </>
          ) : null}
        </Text>
        <Text variant="body-small" color="secondary">
          {problem.lastSeen.at ? (
            <>
              last seen <When at={problem.lastSeen.at} />
            </>
          ) : null}
        </Text>
      </div>
    </li>
  );
};
