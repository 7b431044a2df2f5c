import { waitFor } from '@testing-library/react';
import { changed, component, openCatalog } from '../testing/catalog';
import { LiveCatalog } from './LiveCatalog';

const pace = { together: 5, apart: 20, handing: 200, again: 10, shared: 0 };
const checkout = 'component:default/checkout';
const billing = 'component:default/billing';
const services = { filter: { kind: 'Component' } };

function open(visible = () => true) {
  const catalog = openCatalog(component('checkout'), component('billing'));
  const live = new LiveCatalog(catalog.api, pace, visible);
  return { ...catalog, live, requests: catalog.state.requests };
}

const news = (live: LiveCatalog, version: number) =>
  waitFor(() => expect(live.version()).toBe(version));

/** Waits until a look at something else has shown that nothing more comes. */
const rest = () => new Promise(done => setTimeout(done, 150));

describe('LiveCatalog', () => {
  it('answers at once with what has changed, without another request', async () => {
    const { live, put, requests } = open();
    await live.api().getEntityByRef(checkout);
    await live.api().getEntitiesByRefs({ entityRefs: [billing] });
    put(component('checkout', 'new'), component('billing'));
    live.changed(changed(checkout));
    await news(live, 1);
    expect(requests).toEqual([
      'getEntityByRef',
      'getEntitiesByRefs',
      'getEntityByRef',
    ]);
    const entity = await live.api().getEntityByRef(checkout);
    const { items } = await live.api().getEntitiesByRefs({
      entityRefs: [billing],
    });
    expect(entity?.metadata.description).toBe('new');
    expect(items[0]?.metadata.name).toBe('billing');
    expect(requests).toHaveLength(3);
  });

  it('gives each who asks an object of their own', async () => {
    const { live, put } = open();
    await live.api().getEntityByRef(checkout);
    put(component('checkout', 'new'));
    live.changed(changed(checkout));
    await news(live, 1);
    const [one, other] = await Promise.all([
      live.api().getEntityByRef(checkout),
      live.api().getEntityByRef(checkout),
    ]);
    expect(one).toEqual(other);
    expect(one).not.toBe(other);
  });

  it('asks for nothing that the change does not concern', async () => {
    const { live, requests } = open();
    await live.api().getEntityByRef(checkout);
    await live.api().getEntities({ filter: { kind: 'User' } });
    live.changed(changed('component:default/other'));
    await rest();
    expect(requests).toHaveLength(2);
    expect(live.version()).toBe(0);
  });

  it('finds what is new in lists, counts and streams', async () => {
    const { live, put } = open();
    await live.api().queryEntities(services);
    await live
      .api()
      .getEntityFacets({ ...services, facets: ['metadata.name'] });
    for await (const page of live.api().streamEntities(services))
      expect(page).toHaveLength(2);
    put(component('checkout'), component('billing'), component('cart'));
    live.changed(changed('component:default/cart'));
    await news(live, 1);
    const list = await live.api().queryEntities(services);
    expect(list.totalItems).toBe(3);
    const { facets } = await live
      .api()
      .getEntityFacets({ ...services, facets: ['metadata.name'] });
    expect(facets['metadata.name']).toHaveLength(3);
    for await (const page of live.api().streamEntities(services))
      expect(page).toHaveLength(3);
  });

  it('looks at many changes at once, and not for each', async () => {
    const { live, put, requests } = open();
    await live.api().getEntityByRef(checkout);
    put(component('checkout', 'new'));
    for (let i = 0; i < 100; i++) live.changed(changed(checkout));
    live.changed({ changed: [], removed: [], many: true });
    await news(live, 1);
    await rest();
    expect(requests).toHaveLength(2);
  });

  it('looks again for what does not show at once', async () => {
    const { live, put, state, requests } = open();
    await live.api().getEntityByRef(checkout);
    state.before = () => {
      // a replica that is behind answers the first look
      if (requests.length === 3) put(component('checkout', 'new'));
    };
    live.changed(changed(checkout));
    await news(live, 1);
    expect(requests).toHaveLength(3);
  });

  it('does not look for ever for what does not show', async () => {
    const { live, requests } = open();
    await live.api().getEntityByRef(checkout);
    live.changed(changed(checkout));
    await waitFor(() => expect(requests).toHaveLength(4));
    await rest();
    expect(requests).toHaveLength(4);
  });

  it('keeps what it has while the catalog fails', async () => {
    const { live, put, state } = open();
    await live.api().getEntityByRef(checkout);
    put(component('checkout', 'new'));
    state.fails = true;
    live.changed(changed(checkout));
    await waitFor(() => expect(state.requests.length).toBeGreaterThan(2));
    expect(live.version()).toBe(0);
    state.fails = false;
    await news(live, 1);
  });

  it('asks no more for what is refused', async () => {
    const { live, state, requests } = open();
    await live.api().getEntityAncestors({ entityRef: checkout });
    state.before = () => {
      throw Object.assign(new Error('gone'), { response: { status: 404 } });
    };
    live.changed({ changed: [], removed: [checkout], many: false });
    await rest();
    expect(requests).toHaveLength(2);
  });

  it('waits until the page is seen', async () => {
    let visible = false;
    const { live, put, requests } = open(() => visible);
    await live.api().getEntityByRef(checkout);
    put(component('checkout', 'new'));
    live.changed(changed(checkout));
    await rest();
    expect(requests).toHaveLength(1);
    visible = true;
    live.shown();
    await news(live, 1);
  });

  it('doubts an answer that was on its way while the change came', async () => {
    const { live, put } = open();
    const asked = live.api().getEntityByRef(checkout); // still the old one
    put(component('checkout', 'new'));
    live.changed(changed(checkout));
    expect((await asked)?.metadata.description).toBe('old');
    await news(live, 1);
  });

  it('forgets what the page asks for no more', async () => {
    const { live, put, requests } = open();
    await live.api().getEntityByRef(checkout);
    await live.api().getEntityByRef(billing);
    put(component('checkout', 'new'), component('billing'));
    live.changed(changed(checkout));
    await news(live, 1);
    await live.api().getEntityByRef(checkout);
    await new Promise(done => setTimeout(done, pace.handing + 50));
    const before = requests.length;
    live.changed(changed(billing));
    await rest();
    expect(requests).toHaveLength(before);
  });

  it('sees that an entity is gone', async () => {
    const { live, put } = open();
    await live.api().getEntityByRef(checkout);
    put();
    live.changed({ changed: [], removed: [checkout], many: false });
    await news(live, 1);
    expect(await live.api().getEntityByRef(checkout)).toBeUndefined();
  });

  it('leaves what changes the catalog to the catalog', async () => {
    const { live, requests } = open();
    await live.api().refreshEntity(checkout);
    expect(requests).toEqual(['refreshEntity']);
  });
});
