import { Text } from '@backstage/ui';
import { When } from '../../parts';
import { Code, isWeb, Items, Revision } from '../Facts';
import { short } from '../words';
import type { DeployedFragment } from './environments.generated';

/** A revision, and since when it is deployed. */
export const Deployed = (props: { of: DeployedFragment; what: string }) => {
  const { revision, at } = props.of;
  return (
    <>
      {revision ? <Revision of={revision} what={props.what} /> : 'not known'}
      {at && (
        <>
          {' '}
          synced <When at={at} />
        </>
      )}
    </>
  );
};

type Image = DeployedFragment['images'][number];

const versionOf = (i: Image) =>
  (i.tag ? `:${i.tag}` : '') +
  (i.digest ? `@${i.digest.slice(0, 'sha256:'.length + 12)}` : '');

const sourceOf = (i: Image) =>
  [
    i.commit && `from commit ${short(i.commit)}`,
    i.source && !isWeb(i.source) && `of ${i.source}`,
    i.builtBy && `built by ${i.builtBy}`,
  ]
    .filter(Boolean)
    .join(', ');

/** Images that run, and what is wanted where that is something else. */
export const Images = (props: {
  live?: DeployedFragment | null;
  wanted?: DeployedFragment | null;
}) => {
  const { live, wanted } = props;
  const of = live?.images.length ? live.images : wanted?.images ?? [];
  if (of.length === 0) return null;
  return (
    <Items label="Images">
      {of.map(i => {
        const other = wanted?.images.find(w => w.name === i.name);
        return (
          <li key={`${i.name} ${i.tag} ${i.digest}`}>
            <Code title={i.digest ?? undefined}>{i.name + versionOf(i)}</Code>
            {other?.tag && other.tag !== i.tag && (
              <>
                {' '}
                (wanted: <Code>{other.tag}</Code>)
              </>
            )}
            {sourceOf(i) && (
              <Text
                as="p"
                variant="body-small"
                color="secondary"
                title={i.source ?? undefined}
              >
                {sourceOf(i)}
              </Text>
            )}
          </li>
        );
      })}
    </Items>
  );
};
