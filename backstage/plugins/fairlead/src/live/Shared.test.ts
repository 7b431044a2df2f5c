import { component, openCatalog } from '../testing/catalog';
import { LiveCatalog } from './LiveCatalog';
import { Shared } from './Shared';

const checkout = 'component:default/checkout';

describe('Shared', () => {
  it('has those share an answer who ask the same', async () => {
    let asked = 0;
    const shared = new Shared(10_000);
    const ask = async () => ({ asked: ++asked });
    const [one, two] = await Promise.all([
      shared.get('a', ask),
      shared.get('a', ask),
    ]);
    expect(one).toEqual({ asked: 1 });
    expect(two).toEqual({ asked: 1 });
    expect(two).not.toBe(one);
    expect(await shared.get('b', ask)).toEqual({ asked: 2 });
    shared.clear();
    expect(await shared.get('a', ask)).toEqual({ asked: 3 });
  });

  it('keeps no failure', async () => {
    const shared = new Shared(10_000);
    const failing = shared.get('a', () => Promise.reject(new Error('down')));
    await expect(failing).rejects.toThrow('down');
    expect(await shared.get('a', async () => 'up')).toBe('up');
  });

  it('asks anew after a while', async () => {
    jest.useFakeTimers();
    const shared = new Shared(1_000);
    await shared.get('a', async () => 'old');
    jest.advanceTimersByTime(999);
    expect(await shared.get('a', async () => 'new')).toBe('old');
    jest.advanceTimersByTime(1);
    expect(await shared.get('a', async () => 'new')).toBe('new');
    jest.useRealTimers();
  });
});

describe('LiveCatalog', () => {
  const open = () => {
    const { api, state, put } = openCatalog(component('checkout'));
    return { live: new LiveCatalog(api), requests: state.requests, put };
  };

  it('asks once for what several cards ask', async () => {
    const { live, requests } = open();
    await Promise.all([
      live.api().getEntityByRef(checkout),
      live.api().getEntityByRef(checkout),
    ]);
    await live.api().getEntityByRef(checkout);
    expect(requests).toEqual(['getEntityByRef']);
    live.dispose();
  });

  it('asks anew after an act', async () => {
    const { live, requests, put } = open();
    await live.api().getEntityByRef(checkout);
    put(component('checkout', 'new'));
    await live.api().refreshEntity(checkout);
    const entity = await live.api().getEntityByRef(checkout);
    expect(entity?.metadata.description).toBe('new');
    expect(requests).toHaveLength(3);
    live.dispose();
  });
});
