import { ButtonLink, Flex, Link, Text } from '@backstage/ui';
import { RiGitPullRequestLine } from '@remixicon/react';
import { useEffect, useRef } from 'react';
import { useLiveQuery } from '../../client';
import { EntityLink, Answer, Mark, When, type Goodness } from '../../parts';
import { Code, Fact, Facts, isWeb, Items, Revision } from '../Facts';
import { By, Grounds } from '../Grounds';
import { Followed } from './Followed';
import { Measures } from './Measures';
import { Notes, Plan } from './Plan';
import {
  ProposalChangesDocument,
  ProposalDocument,
  type ProposalQuery,
} from './proposals.generated';
import styles from '../../parts/long.module.css';

export type Whole = NonNullable<ProposalQuery['proposal']>;

const checks: Record<string, Goodness> = {
  passed: 'good',
  failed: 'bad',
  pending: 'busy',
};

const Checked = ({ of }: { of: Whole['checks'] }) => (
  <Items label="Checks of its head">
    {of.map((c, i) => (
      <li key={`${i} ${c.name}`}>
        <Mark is={checks[c.state] ?? 'unknown'}>{c.state}</Mark>{' '}
        {isWeb(c.url) ? (
          <Link href={c.url} target="_blank" rel="noopener">
            {c.name}
          </Link>
        ) : (
          c.name
        )}
      </li>
    ))}
  </Items>
);

/** Who proposed it, why, and what shows that it is good. */
const About = ({ of }: { of: Whole }) => (
  <Facts>
    <Fact name="Proposed by">
      <By {...of} />
    </Fact>
    <Fact name="Of">
      {of.service && (
        <>
          <EntityLink of={of.service} />
          {of.environment && ` in ${of.environment}`}
        </>
      )}
    </Fact>
    <Grounds of={of} />
    <Fact name="Then">
      {of.stateThen &&
        `The environment was ${of.stateThen.verdict}${
          of.stateThen.grounds[0] ? `: ${of.stateThen.grounds[0]}` : ''
        }`}
    </Fact>
    <Fact name="Branch">{of.branch && <Code>{of.branch}</Code>}</Fact>
    <Fact name="Commit">
      {of.commit && <Revision of={of.commit} what="the commit" />}
    </Fact>
    <Fact name="Checks">
      {of.checks.length > 0 && <Checked of={of.checks} />}
    </Fact>
    <Fact name="Approved by">{of.approved.join(', ')}</Fact>
    <Fact name="Changes wanted by">{of.rejected.join(', ')}</Fact>
    <Fact name="Identifier">
      <Code>{of.id}</Code>
    </Fact>
  </Facts>
);

const All = ({ of }: { of: Whole }) => (
  <Flex direction="column" gap="4">
    <Followed of={of} />
    {isWeb(of.url) && (
      <ButtonLink
        href={of.url}
        target="_blank"
        variant="secondary"
        iconStart={<RiGitPullRequestLine />}
      >
        Pull request
      </ButtonLink>
    )}
    <Notes of={of.notes} />
    {of.follow.window && <Measures of={of.follow.window} />}
    <About of={of} />
    <Plan of={of} />
    {of.checkedAt && (
      <Text as="p" variant="body-x-small" color="secondary">
        The forge was asked <When at={of.checkedAt} />
      </Text>
    )}
  </Flex>
);

/** All of a proposal, as it comes along. */
export const ProposalDetails = ({ id }: { id: string }) => {
  const proposal = useLiveQuery({
    query: ProposalDocument,
    variables: { id },
    changes: [{ query: ProposalChangesDocument, variables: { id } }],
  });
  const place = useRef<HTMLDivElement>(null);
  const there = Boolean(proposal.data);
  useEffect(() => {
    if (there) place.current?.scrollIntoView?.({ block: 'nearest' });
  }, [there]);
  return (
    <div ref={place} className={styles.long}>
      <Answer of={proposal}>
        {d => d.proposal && <All of={d.proposal} />}
      </Answer>
    </div>
  );
};
