import { FairleadEntityProvider } from './provider';
import {
  component,
  FakeCatalog,
  FakeSource,
  logs,
  memory,
  refOf,
  until,
} from './testing/fakes';

async function setUp(options: { patience?: number; margin?: number } = {}) {
  const source = new FakeSource();
  source.entities = [component('a')];
  const catalog = new FakeCatalog();
  const { logger, said } = logs();
  let tick = async () => {};
  const provider = new FairleadEntityProvider({
    id: 'main',
    url: 'https://fairlead.test',
    source,
    provided: async () => memory(),
    schedule: {
      run: async task => {
        tick = async () => task.fn(new AbortController().signal);
      },
    },
    logger,
    patience: 10_000,
    ...options,
  });
  await provider.connect(catalog);
  await until(() => catalog.names().join() === 'a');
  return { source, catalog, said, provider, tick: () => tick() };
}

describe('FairleadEntityProvider', () => {
  it('listens, reads everything, and then what changes', async () => {
    const { source, catalog, provider } = await setUp();
    expect(source.readBefore).toBe(0);
    source.entities = [component('b')];
    source.listener!.changed([refOf('a'), refOf('b')]);
    await until(() => catalog.names().join() === 'b');
    expect(source.reads).toBe(1);
    await provider.stop();
    expect(source.listener).toBeUndefined();
  });

  it('reads after a break what it is told of alone', async () => {
    const { source, catalog, said, provider } = await setUp();
    source.listener!.live(true);
    source.listener!.live(false);
    source.entities = [component('a'), component('b'), component('c')];
    source.listener!.live(true);
    source.listener!.changed([refOf('b')]);
    await until(() => catalog.names().join() === 'a,b');
    expect(source.reads).toBe(1);
    expect(said).toContainEqual(expect.stringMatching(/^warn: .*broke/));
    await provider.stop();
  });

  it('reads everything where anything may have changed', async () => {
    const { source, catalog, provider } = await setUp();
    source.entities = [component('b')];
    source.listener!.everything();
    await until(() => catalog.names().join() === 'b');
    expect(source.reads).toBe(2);
    await provider.stop();
  });

  it('reads again after a break what it could not read before', async () => {
    const { source, catalog, said, provider } = await setUp();
    source.entities = [component('a'), component('b'), component('c')];
    source.failing = new Error('down');
    source.listener!.changed([refOf('b')]);
    await until(() => said.some(line => line.includes('down')));
    source.listener!.live(false);
    source.listener!.live(true);
    source.failing = undefined;
    source.listener!.changed([refOf('c')]);
    await until(() => catalog.names().join() === 'a,b,c');
    expect(source.reads).toBe(1);
    await provider.stop();
  });

  it('reads again what a server answered that was behind', async () => {
    const { source, catalog, provider } = await setUp({ margin: 50 });
    source.listener!.changed([refOf('b')]);
    await until(() => source.asked.length === 1);
    source.entities = [component('a'), component('b')];
    await until(() => catalog.names().join() === 'a,b');
    expect(source.asked).toEqual([[refOf('b')], [refOf('b')]]);
    await provider.stop();
  });

  it('reads by the schedule where no changes arrive', async () => {
    const { source, catalog, said, provider, tick } = await setUp({
      patience: 1,
    });
    await until(() => said.some(line => /^warn: .*do not arrive/.test(line)));
    source.entities = [component('b')];
    await tick();
    await until(() => catalog.names().join() === 'b');
    expect(source.reads).toBe(2);
    await provider.stop();
  });

  it('tells why it is not told of changes', async () => {
    const { source, said, provider } = await setUp();
    source.listener!.refused(new Error('of another release'));
    expect(said).toContainEqual(
      'warn: https://fairlead.test does not tell of changes: of another release',
    );
    await provider.stop();
  });
});
