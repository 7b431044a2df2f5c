import type { Entity } from '@backstage/catalog-model';
import { deferred } from './entities';
import { component } from './testing/fakes';

const origin = { url: 'https://fairlead.test', locationKey: 'key' };

describe('deferred', () => {
  it('leaves out what a catalog adds', () => {
    const served = {
      ...component('checkout', {
        uid: '1',
        etag: '2',
        annotations: {
          'backstage.io/managed-by-location': 'url:https://git.test/a.yaml',
          'backstage.io/managed-by-origin-location':
            'url:https://git.test/all.yaml',
        },
      }),
      relations: [{ type: 'ownedBy', targetRef: 'group:default/shop' }],
      status: { items: [] },
    } as Entity;
    expect(deferred(served, origin)).toEqual({
      locationKey: 'key',
      entity: component('checkout', {
        annotations: {
          'backstage.io/managed-by-location': 'url:https://git.test/a.yaml',
          'backstage.io/managed-by-origin-location':
            'url:https://git.test/all.yaml',
        },
      }),
    });
    expect(served.metadata.uid).toBe('1');
  });

  it('tells where an entity is served that says not where it was read', () => {
    const { entity } = deferred(component('checkout'), origin);
    const here =
      'url:https://fairlead.test/api/catalog/entities/by-name/Component/default/checkout';
    expect(entity.metadata.annotations).toEqual({
      'backstage.io/managed-by-location': here,
      'backstage.io/managed-by-origin-location': here,
    });
  });
});
