import {
  MockEntityListContextProvider,
  useEntityList,
} from '@backstage/plugin-catalog-react';
import { render, screen } from '@testing-library/react';
import { Settled } from './Settled';

const component = (name: string) => ({
  apiVersion: 'backstage.io/v1alpha1',
  kind: 'Component',
  metadata: { name },
});

const drawn: string[] = [];

const Names = () => {
  const { entities, loading } = useEntityList();
  const text = `${entities.map(e => e.metadata.name)}${loading ? ' …' : ''}`;
  drawn.push(text);
  return <p>{text}</p>;
};

const names = <Names />;

const list = (value: { entities: string[]; loading: boolean }) => (
  <MockEntityListContextProvider
    value={{ ...value, entities: value.entities.map(component) }}
  >
    <Settled>{names}</Settled>
  </MockEntityListContextProvider>
);

describe('Settled', () => {
  it('leaves out the steps to a list', async () => {
    const { rerender } = render(list({ entities: [], loading: true }));
    rerender(list({ entities: ['all'], loading: true }));
    rerender(list({ entities: ['mine'], loading: true }));
    rerender(list({ entities: ['mine', 'yours'], loading: false }));
    expect(await screen.findByText('mine,yours')).toBeInTheDocument();
    expect(drawn.filter(text => text.includes('all'))).toEqual([]);
  });

  it('shows that one takes long', async () => {
    const { rerender } = render(list({ entities: ['old'], loading: false }));
    expect(await screen.findByText('old')).toBeInTheDocument();
    rerender(list({ entities: ['old'], loading: true }));
    expect(screen.getByText('old')).toBeInTheDocument();
    expect(await screen.findByText('old …')).toBeInTheDocument();
  });
});
