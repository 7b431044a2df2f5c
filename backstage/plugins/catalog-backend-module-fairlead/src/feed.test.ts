import { Feed } from './feed';
import {
  component,
  FakeCatalog,
  FakeSource,
  logs,
  memory,
  refOf,
} from './testing/fakes';

function setUp(...known: string[]) {
  const source = new FakeSource();
  const catalog = new FakeCatalog();
  const provided = memory(...known.map(refOf));
  const { logger, said } = logs();
  const origin = { url: 'https://fairlead.test', locationKey: 'key' };
  const feed = new Feed({ source, catalog, provided, origin, logger });
  return { source, catalog, provided, said, feed };
}
const { signal } = new AbortController();
const numbered = (n: number) =>
  Array.from({ length: n }, (_, i) => component(`c${i}`));

describe('Feed', () => {
  it('gives everything by pages and takes away what is gone', async () => {
    const { source, catalog, provided, feed } = setUp('old', 'c1');
    source.entities = numbered(1_234);
    await feed.everything(signal);
    expect(catalog.names()).toHaveLength(1_234);
    expect(
      catalog.mutations.map(m => m.type === 'delta' && m.added.length),
    ).toEqual([500, 500, 234, 0]);
    expect(catalog.mutations[3]).toEqual({
      type: 'delta',
      added: [],
      removed: [{ entityRef: refOf('old'), locationKey: 'key' }],
    });
    expect(provided.refs.size).toBe(1_234);
  });

  it('takes nothing away where reading fails', async () => {
    const { source, catalog, feed } = setUp('old');
    source.failing = new Error('down');
    await expect(feed.everything(signal)).rejects.toThrow('down');
    expect(catalog.mutations).toEqual([]);
  });

  it('gives those that changed and takes those that went', async () => {
    const { source, catalog, provided, feed } = setUp();
    source.entities = [component('a'), component('b')];
    await feed.everything(signal);
    source.entities = [component('b', { title: 'New' }), component('c')];
    await feed.some(['a', 'b', 'c'].map(refOf), signal);
    expect(catalog.names()).toEqual(['b', 'c']);
    expect(catalog.entities.get(refOf('b'))?.metadata.title).toBe('New');
    expect([...provided.refs].sort()).toEqual([refOf('b'), refOf('c')]);
  });

  it('leaves out what the catalog refuses, and says so once', async () => {
    const { source, catalog, said, feed } = setUp();
    catalog.refuses = e => ['c3', 'c77'].includes(e.metadata.name);
    source.entities = [...numbered(100), component('no name', { name: '' })];
    await feed.everything(signal);
    await feed.everything(signal);
    expect(catalog.names()).toHaveLength(98);
    const warned = said.filter(line => line.startsWith('warn'));
    expect(warned).toHaveLength(3);
    expect(warned).toEqual(
      expect.arrayContaining([
        expect.stringContaining('Component:default/c3: Error: refused'),
        expect.stringContaining('Component:default/c77: Error: refused'),
        expect.stringContaining('Component:default/: TypeError'),
      ]),
    );
  });

  it('blames no entity where the catalog takes nothing at all', async () => {
    const { source, catalog, said, feed } = setUp();
    source.entities = numbered(10);
    catalog.down = true;
    await expect(feed.everything(signal)).rejects.toThrow('is down');
    expect(said).toEqual([]);
  });

  it('takes nothing for gone that a server does not know yet', async () => {
    const { source, catalog, feed } = setUp();
    source.entities = [component('a'), component('b')];
    await feed.everything(signal);
    source.entities = [component('c')];
    source.unready = new Error('still being read');
    const some = () => feed.some(['a', 'c', 'hidden'].map(refOf), signal);
    await expect(some()).rejects.toThrow('still being read');
    await expect(feed.everything(signal)).rejects.toThrow('still being read');
    await feed.some(['c', 'hidden'].map(refOf), signal);
    expect(catalog.names()).toEqual(['a', 'b', 'c']);
    source.unready = undefined;
    await some();
    expect(catalog.names()).toEqual(['b', 'c']);
  });

  it('believes that most is gone when it is still so after a while', async () => {
    jest.useFakeTimers();
    const { source, catalog, said, feed } = setUp();
    source.entities = numbered(300);
    await feed.everything(signal);
    source.entities = [];
    await feed.everything(signal);
    jest.setSystemTime(Date.now() + 299_000);
    await feed.everything(signal);
    expect(catalog.names()).toHaveLength(300);
    expect(said).toContainEqual(expect.stringMatching(/^warn: 300 of 300/));
    jest.setSystemTime(Date.now() + 1_000);
    await feed.everything(signal);
    expect(catalog.names()).toEqual([]);
    jest.useRealTimers();
  });
});
