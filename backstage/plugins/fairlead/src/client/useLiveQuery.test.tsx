import { renderInTestApp } from '@backstage/frontend-test-utils';
import { screen, waitFor } from '@testing-library/react';
import { connectTo, type Answers } from '../testing/connection';
import { fairleadApiRef } from './api';
import { Connected } from './Connected';
import { useLiveQuery } from './useLiveQuery';
import { ViewerDocument } from './viewer.generated';

const Who = () => {
  const { data, fault } = useLiveQuery({
    query: ViewerDocument,
    variables: {},
    every: 30,
  });
  return (
    <p>
      {data?.whoami?.subject ?? 'nobody'}, {fault?.code ?? 'well'}
    </p>
  );
};

const whoami = {
  __typename: 'Identity',
  subject: 'user:default/a',
  groups: [],
};

function open() {
  const answer: { now: Answers[string] } = {
    now: () => ({ data: { whoami } }),
  };
  const connection = connectTo({ Viewer: v => answer.now(v) });
  renderInTestApp(
    <Connected>
      <Who />
    </Connected>,
    { apis: [[fairleadApiRef, connection]] },
  );
  return answer;
}

describe('useLiveQuery', () => {
  it('keeps what was answered while the server cannot be reached', async () => {
    const answer = open();
    expect(await screen.findByText('user:default/a, well')).toBeVisible();
    const { now } = answer;
    answer.now = () => {
      throw new Error('the network is down');
    };
    expect(
      await screen.findByText('user:default/a, unavailable'),
    ).toBeVisible();
    answer.now = now;
    expect(await screen.findByText('user:default/a, well')).toBeVisible();
  });

  it('shows nothing any more of what is refused', async () => {
    const answer = open();
    expect(await screen.findByText('user:default/a, well')).toBeVisible();
    answer.now = () => ({
      errors: [{ message: 'no', extensions: { code: 'forbidden' } }],
    });
    await waitFor(() =>
      expect(screen.getByText('nobody, forbidden')).toBeVisible(),
    );
  });
});
