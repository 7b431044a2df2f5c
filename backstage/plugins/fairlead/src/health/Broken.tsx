import { Card, CardBody, Text } from '@backstage/ui';
import { useLiveQuery } from '../client';
import { EntityLink, Answer, Pager, SourceLink, usePaging } from '../parts';
import { changes, every } from './changes';
import { BrokenDocument } from './health.generated';
import css from './health.module.css';
import { Mark } from './Mark';
import { placeOf, type Repositories } from './Problem';
import { counted } from './words';

/** Relations that lead to what the catalog does not hold. */
export const Broken = (props: { repositories: Repositories }) => {
  const paging = usePaging();
  const broken = useLiveQuery({
    query: BrokenDocument,
    variables: { after: paging.after ?? null },
    changes,
    every,
  });
  return (
    <Card>
      <CardBody>
        <Answer
          of={broken}
          empty={{
            when: d => !d.brokenRelations?.items.length && !paging.after,
            text: 'All relations lead to what the catalog holds.',
          }}
        >
          {({ brokenRelations: page }) => (
            <>
              <Text color="secondary">
                {counted(page?.total ?? 0, 'broken relation')}
              </Text>
              <ul className={css.list} aria-label="Broken relations">
                {page?.items.map(one => (
                  <li
                    key={`${one.ref} ${one.type} ${one.target}`}
                    className={css.item}
                  >
                    <Mark of="warning" />
                    <div className={css.text}>
                      <div className={css.where}>
                        <EntityLink of={one.ref} />
                        <Text>
                          {one.type} {one.target}
                        </Text>
                      </div>
                      <Text variant="body-small" color="secondary">
                        {one.fix}
                      </Text>
                      <div className={css.where}>
                        <Text variant="body-small" color="secondary">
                          {one.source}
                        </Text>
                        <SourceLink place={placeOf(one, props.repositories)} />
                      </div>
                    </div>
                    <div className={css.side}>
                      {one.owner && <EntityLink of={one.owner} />}
                    </div>
                  </li>
                ))}
              </ul>
              <Pager of={paging} next={page?.nextCursor} what="relations" />
            </>
          )}
        </Answer>
      </CardBody>
    </Card>
  );
};
