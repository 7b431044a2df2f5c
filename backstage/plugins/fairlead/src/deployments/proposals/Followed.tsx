import { Flex, Text } from '@backstage/ui';
import { Long, Notice, When } from '../../parts';
import { Items, Linked } from '../Facts';
import type { FollowThroughFragment } from './proposals.generated';
import { Steps } from './Steps';
import { stepsOf } from './steps';

const Blocking = ({ of }: { of: FollowThroughFragment['blocking'] }) => (
  <Notice
    status="warning"
    icon
    title={
      of.length === 1 ? 'One thing blocks it' : `${of.length} things block it`
    }
    description={
      <Items label="What blocks it">
        {of.map(b => (
          <li key={`${b.what} ${b.detail}`}>
            <strong>{b.what}</strong>: <Long>{b.detail}</Long>
            {b.since && (
              <>
                {' '}
                (since <When at={b.since} />)
              </>
            )}
            <Text as="p">
              <Linked text={b.next} />
            </Text>
          </li>
        ))}
      </Items>
    }
  />
);

/** How far a proposal has come, what blocks it, and what to do next. */
export const Followed = ({ of }: { of: FollowThroughFragment }) => (
  <Flex direction="column" gap="3">
    <Steps of={stepsOf(of)} />
    {of.blocking.length > 0 && <Blocking of={of.blocking} />}
    {of.follow.waits && (
      <Text as="p">
        Waits: <Linked text={of.follow.waits} />
      </Text>
    )}
    {of.next && !of.blocking.some(b => b.next === of.next) && (
      <Text as="p">
        <strong>Next:</strong> <Linked text={of.next} />
      </Text>
    )}
  </Flex>
);
