import { catalogApiMock } from '@backstage/plugin-catalog-react/testUtils';
import { bounded } from './Bounded';

const component = (name: string) => ({
  apiVersion: 'backstage.io/v1alpha1',
  kind: 'Component',
  metadata: { name, namespace: 'default' },
});
const ref = (name: string) => `component:default/${name}`;

describe('bounded', () => {
  it('tells of the first entities, and how many it leaves out', async () => {
    const told: number[] = [];
    const base = catalogApiMock({
      entities: ['a', 'b', 'c', 'd'].map(component),
    });
    const catalog = bounded(base, 2, left => told.push(left));
    const names = async (...asked: string[]) => {
      const { items } = await catalog.getEntitiesByRefs({
        entityRefs: asked.map(ref),
      });
      return items.map(item => item?.metadata.name);
    };
    expect(await names('a')).toEqual(['a']);
    expect(told).toEqual([]);
    expect(await names('c', 'a', 'b')).toEqual(['c', 'a', undefined]);
    expect(await names('d')).toEqual([undefined]);
    expect(await names('b', 'c')).toEqual([undefined, 'c']);
    expect(told).toEqual([1, 2, 2]);
  });

  it('leaves everything else as it is', async () => {
    const base = catalogApiMock({ entities: ['a', 'b'].map(component) });
    const { items } = await bounded(base, 1, () => {}).getEntities();
    expect(items).toHaveLength(2);
  });
});
