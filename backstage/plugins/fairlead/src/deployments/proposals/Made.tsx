import { ButtonLink, Flex, Text } from '@backstage/ui';
import { RiGitPullRequestLine } from '@remixicon/react';
import { Mark, type Goodness } from '../../parts';
import { Code, Fact, Facts, isWeb, Linked } from '../Facts';
import { Focused } from './Focused';
import { Notes } from './Plan';
import type { PlannedFragment } from './proposals.generated';

const states: Record<string, [Goodness, string]> = {
  preparing: ['busy', 'It is being prepared.'],
  pushed: ['good', 'Its branch is pushed.'],
  open: ['good', 'Its pull request is open.'],
  merged: ['good', 'It is merged already.'],
  unchanged: ['good', 'It is so already: there is nothing to propose.'],
  closed: ['warn', 'It is closed.'],
};

/** What has come of a proposal, when it was made. */
export const Made = ({ of }: { of: PlannedFragment }) => {
  const [good, words] = states[of.state] ?? ['unknown', of.state];
  return (
    <Flex direction="column" gap="3">
      <Focused title={of.title} />
      <Mark is={good}>{words}</Mark>
      <Facts>
        <Fact name="Proposal">{of.id && <Code>{of.id}</Code>}</Fact>
        <Fact name="Branch">{of.branch && <Code>{of.branch}</Code>}</Fact>
      </Facts>
      <Notes of={of.notes} />
      {of.next && of.state !== 'unchanged' && (
        <Text as="p">
          <strong>Next:</strong> <Linked text={of.next} />
        </Text>
      )}
      {isWeb(of.url) && (
        <div>
          <ButtonLink
            href={of.url}
            target="_blank"
            variant="secondary"
            iconStart={<RiGitPullRequestLine />}
          >
            Pull request
          </ButtonLink>
        </div>
      )}
    </Flex>
  );
};
