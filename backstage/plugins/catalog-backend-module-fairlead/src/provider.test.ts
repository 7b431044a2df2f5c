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

async function setUp(patience: number) {
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
    patience,
  });
  await provider.connect(catalog);
  return { source, catalog, said, provider, tick: () => tick() };
}

describe('FairleadEntityProvider', () => {
  it('reads everything once changes arrive, and then what changes', async () => {
    const { source, catalog, provider } = await setUp(10_000);
    source.listener!.live(true);
    await until(() => catalog.names().length === 1);
    source.entities = [component('b')];
    source.listener!.changed([refOf('a'), refOf('b')]);
    await until(() => catalog.names().join() === 'b');
    expect(source.reads).toBe(1);
    await provider.stop();
    expect(source.listener).toBeUndefined();
  });

  it('reads everything after the connection broke', async () => {
    const { source, catalog, said, provider } = await setUp(10_000);
    source.listener!.live(true);
    await until(() => catalog.names().length === 1);
    source.listener!.live(false);
    source.entities = [component('b')];
    source.listener!.live(true);
    await until(() => catalog.names().join() === 'b');
    expect(said).toContainEqual(expect.stringMatching(/^warn: .*broke/));
    await provider.stop();
  });

  it('reads by the schedule where no changes arrive', async () => {
    const { source, catalog, said, provider, tick } = await setUp(1);
    await until(() => catalog.names().length === 1);
    expect(said).toContainEqual(
      expect.stringMatching(/^warn: .*do not arrive/),
    );
    source.entities = [component('b')];
    await tick();
    await until(() => catalog.names().join() === 'b');
    await provider.stop();
  });
});
