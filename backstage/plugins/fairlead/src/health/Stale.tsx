import { Card, CardBody, Text } from '@backstage/ui';
import { useLiveQuery } from '../client';
import {
  Long,
  EntityLink,
  Answer,
  Pager,
  SourceLink,
  usePaging,
  When,
} from '../parts';
import { changes, every } from './changes';
import { StaleDocument, type StaleQuery } from './health.generated';
import css from './health.module.css';
import { Mark } from './Mark';
import { placeOf, type Repositories } from './Problem';
import { counted } from './words';

type One = NonNullable<StaleQuery['staleEntities']>['items'][number];

const reasons = {
  file: 'Its file is wrong now:',
  source: 'Its source cannot be read:',
};

const Since = ({ of }: { of: One }) => {
  if (of.since) {
    return (
      <>
        since <When at={of.since} />
      </>
    );
  }
  return of.staleSince ? <>since commit {of.staleSince.slice(0, 12)}</> : null;
};

/** One entity: since when it is not as its file says, why, and whose it is. */
const StaleItem = (props: { of: One; repositories: Repositories }) => {
  const { of, repositories } = props;
  return (
    <li className={css.item}>
      <Mark of="stale" />
      <div className={css.text}>
        <EntityLink of={of.ref} />
        <Text>
          {reasons[of.reason]} <Long>{of.message}</Long>
        </Text>
        {of.fix && (
          <Text variant="body-small" color="secondary">
            {of.fix}
          </Text>
        )}
        <div className={css.where}>
          <Text variant="body-small" color="secondary">
            {of.source}
          </Text>
          <SourceLink place={placeOf(of, repositories)} />
        </div>
      </div>
      <div className={css.side}>
        {of.owner && <EntityLink of={of.owner} />}
        <Text variant="body-small" color="secondary">
          <Since of={of} />
        </Text>
      </div>
    </li>
  );
};

/** Entities that are shown as they were, for what they are now cannot be read. */
export const Stale = (props: { repositories: Repositories }) => {
  const paging = usePaging();
  const stale = useLiveQuery({
    query: StaleDocument,
    variables: { after: paging.after ?? null },
    changes,
    every,
  });
  return (
    <Card>
      <CardBody>
        <Answer
          of={stale}
          empty={{
            when: d => !d.staleEntities?.items.length && !paging.after,
            text: 'All entities are as their files say.',
          }}
        >
          {({ staleEntities: page }) => (
            <>
              <Text color="secondary">
                {counted(page?.total ?? 0, 'stale entity', 'stale entities')}
              </Text>
              <ul className={css.list} aria-label="Stale entities">
                {page?.items.map(one => (
                  <StaleItem
                    key={one.ref}
                    of={one}
                    repositories={props.repositories}
                  />
                ))}
              </ul>
              <Pager
                of={paging}
                next={page?.nextCursor}
                what="stale entities"
              />
            </>
          )}
        </Answer>
      </CardBody>
    </Card>
  );
};
