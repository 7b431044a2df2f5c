import {
  EntityUserFilter,
  MockEntityListContextProvider,
  useEntityList,
} from '@backstage/plugin-catalog-react';
import { render, screen } from '@testing-library/react';
import { useEffect } from 'react';
import { Settled } from './Settled';

const component = (name: string) => ({
  apiVersion: 'backstage.io/v1alpha1',
  kind: 'Component',
  metadata: { name },
});

let drawn: string[] = [];

const Names = () => {
  const { entities, loading } = useEntityList();
  const text = `${entities.map(e => e.metadata.name)}${loading ? ' …' : ''}`;
  drawn.push(text);
  return <p>{text}</p>;
};

const names = <Names />;

const all = EntityUserFilter.all();
const owned = EntityUserFilter.owned(['group:default/a']);

/** Chooses what Backstage's picker does, once it knows. */
const Choice = (props: { user?: EntityUserFilter }) => {
  const { updateFilters } = useEntityList();
  useEffect(
    () => updateFilters({ user: props.user }),
    [props.user, updateFilters],
  );
  return null;
};

const list = (value: {
  entities: string[];
  loading: boolean;
  user?: EntityUserFilter;
}) => (
  <MockEntityListContextProvider
    value={{ ...value, entities: value.entities.map(component) }}
  >
    <Choice user={'user' in value ? value.user : all} />
    <Settled>{names}</Settled>
  </MockEntityListContextProvider>
);

describe('Settled', () => {
  beforeEach(() => {
    drawn = [];
  });

  it('leaves out the steps to a list', async () => {
    const { rerender } = render(list({ entities: [], loading: true }));
    rerender(list({ entities: ['all'], loading: true }));
    rerender(list({ entities: ['mine'], loading: true }));
    rerender(list({ entities: ['mine', 'yours'], loading: false }));
    expect(await screen.findByText('mine,yours')).toBeInTheDocument();
    expect(drawn.filter(text => text.includes('all'))).toEqual([]);
  });

  it("waits until the choice of one's own is made, and fetched", async () => {
    const undecided = { entities: ['all'], user: undefined };
    const { rerender } = render(list({ ...undecided, loading: true }));
    rerender(list({ ...undecided, loading: false }));
    await new Promise(done => setTimeout(done, 100));
    const chosen = { ...undecided, user: owned };
    rerender(list({ ...chosen, loading: false }));
    rerender(list({ ...chosen, loading: true }));
    rerender(list({ ...chosen, entities: ['mine'], loading: false }));
    expect(await screen.findByText('mine')).toBeInTheDocument();
    expect(drawn.slice(1).filter(text => text.includes('all'))).toEqual([]);
  });

  it('shows that one takes long', async () => {
    const { rerender } = render(list({ entities: ['old'], loading: false }));
    expect(await screen.findByText('old')).toBeInTheDocument();
    rerender(list({ entities: ['old'], loading: true }));
    expect(screen.getByText('old')).toBeInTheDocument();
    expect(
      await screen.findByText('old …', {}, { timeout: 5_000 }),
    ).toBeInTheDocument();
  });
});
