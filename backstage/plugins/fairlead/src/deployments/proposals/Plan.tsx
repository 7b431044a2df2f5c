import { Flex, Text } from '@backstage/ui';
import { Long, Notice, Diff } from '../../parts';
import { Code, Fact, Facts, Heading, Items, Linked } from '../Facts';
import type { PlannedFragment } from './proposals.generated';

type Rendered = NonNullable<PlannedFragment['rendered']>;

const tools: Record<string, string> = { kustomize: 'Kustomize', helm: 'Helm' };

/** What a change makes of the manifests. */
const Manifests = ({ of }: { of: Rendered }) => (
  <Flex direction="column" gap="2">
    <Heading small>{`What ${tools[of.tool] ?? of.tool} makes of it`}</Heading>
    {!of.ok && (
      <Notice
        status={of.broken ? 'danger' : 'warning'}
        icon
        title={
          of.broken
            ? 'It could be rendered before the change, and not after'
            : 'It could not be rendered'
        }
        description={of.error && <Long>{of.error}</Long>}
      />
    )}
    <Facts>
      <Fact name="Changed">{of.changed.join(', ')}</Fact>
      <Fact name="Added">{of.added.join(', ')}</Fact>
      <Fact name="Removed">{of.removed.join(', ')}</Fact>
      <Fact name="Not compared">
        {of.unstable.length > 0 &&
          `${of.unstable.join(', ')}: they come out otherwise each time`}
      </Fact>
    </Facts>
    {of.note && <Text as="p">{of.note}</Text>}
    {of.diff && <Diff text={of.diff} omitted={of.omitted} />}
    {of.ok && !of.diff && (
      <Text as="p" color="secondary">
        The manifests stay as they are.
      </Text>
    )}
  </Flex>
);

/** What policy says of it, and what could not be done. */
export const Notes = (props: { of: string[] }) =>
  props.of.length > 0 ? (
    <Notice
      status="warning"
      icon
      title="What to know"
      description={
        <Items label="What to know">
          {props.of.map(note => (
            <li key={note}>
              <Linked text={note} />
            </li>
          ))}
        </Items>
      }
    />
  ) : null;

/** What a proposal changes: where, in the files, and in the manifests. */
export const Plan = ({ of }: { of: PlannedFragment }) => (
  <Flex direction="column" gap="4">
    <Facts>
      <Fact name="Repository">
        <Code>{of.repository}</Code>
      </Fact>
      <Fact name="Into">
        <Code>{of.base}</Code>
      </Fact>
    </Facts>
    <Flex direction="column" gap="2">
      <Heading small>What changes</Heading>
      <Diff text={of.plan.diff ?? ''} omitted={of.plan.omitted} />
    </Flex>
    {of.rendered && <Manifests of={of.rendered} />}
  </Flex>
);
