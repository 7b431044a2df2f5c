import { Card, CardBody, Flex, Text } from '@backstage/ui';
import { useState } from 'react';
import { Long, More, When } from '../parts';
import type { SourcesQuery } from './health.generated';
import css from './health.module.css';
import { Mark } from './Mark';
import { counted } from './words';

type Source = NonNullable<SourcesQuery['sources']>['items'][number];

const size = 25;

const SourceItem = ({ source }: { source: Source }) => (
  <li className={css.item}>
    <Mark of={source.state} />
    <div className={css.text}>
      <Text weight="bold">{source.name}</Text>
      {source.error && (
        <Text>
          <Long>{source.error}</Long>
        </Text>
      )}
      {source.fix && (
        <Text variant="body-small" color="secondary">
          {source.fix}
        </Text>
      )}
      <Text variant="body-small" color="secondary">
        {source.type} {source.url}
        {source.commit && ` at ${source.commit.slice(0, 12)}`}
      </Text>
    </div>
    <div className={css.side}>
      <Text variant="body-small">
        {counted(source.entities, 'entity', 'entities')} in{' '}
        {counted(source.files, 'file')}
        {source.problems > 0 && `, ${counted(source.problems, 'problem')}`}
      </Text>
      <Text variant="body-small" color="secondary">
        {source.checked.at ? (
          <>
            {source.state === 'failing' ? 'served as of' : 'read'}{' '}
            <When at={source.checked.at} />
          </>
        ) : (
          'never read'
        )}
      </Text>
      {source.changed.at && (
        <Text variant="body-small" color="secondary">
          changed <When at={source.changed.at} />
        </Text>
      )}
    </div>
  </li>
);

const rank = (source: Source) =>
  ['failing', 'pending'].indexOf(source.state) + 1 || 3;

/** How each source is doing: those in trouble, and all when they are wanted. */
export const Sources = ({ sources }: { sources: Source[] }) => {
  const [shown, setShown] = useState(0);
  const ordered = [...sources].sort(
    (a, b) =>
      rank(a) - rank(b) ||
      b.problems - a.problems ||
      (a.name < b.name ? -1 : 1),
  );
  const troubled = ordered.filter(({ state }) => state !== 'ok');
  const visible = ordered.slice(
    0,
    Math.max(shown, Math.min(troubled.length, size)),
  );
  const rest = ordered.length - visible.length;
  return (
    <Card>
      <CardBody>
        <Flex direction="column" gap="2">
          {!troubled.length && (
            <Text color="secondary">
              {sources.length === 1
                ? '1 source, read as it should be.'
                : `${sources.length} sources, read as they should be.`}
            </Text>
          )}
          <ul className={css.list} aria-label="Sources">
            {visible.map(source => (
              <SourceItem key={source.name} source={source} />
            ))}
          </ul>
          <More
            rest={rest}
            size={size}
            onMore={() => setShown(visible.length + size)}
          />
        </Flex>
      </CardBody>
    </Card>
  );
};
