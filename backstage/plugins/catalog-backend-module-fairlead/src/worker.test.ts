import { logs, until } from './testing/fakes';
import { Worker } from './worker';

function setUp() {
  const done: string[] = [];
  let fail = 0;
  let during: (() => void) | undefined;
  const step = async (what: string) => {
    during?.();
    during = undefined;
    if (fail-- > 0) throw new Error('down');
    done.push(what);
  };
  const { logger, said } = logs();
  const work = {
    everything: () => step('all'),
    some: (refs: string[]) => step(refs.join()),
  };
  const worker = new Worker(work, logger, 1);
  const ending = new AbortController();
  const ended = worker.run(ending.signal);
  return {
    worker,
    done,
    said,
    failing: (times: number) => (fail = times),
    while: (f: () => void) => (during = f),
    end: () => {
      ending.abort();
      return ended;
    },
  };
}

describe('Worker', () => {
  it('does what came together at once, each thing once', async () => {
    const { worker, done, end } = setUp();
    worker.changed(['a', 'b']);
    worker.changed(['b', 'c']);
    await until(() => done.length > 0);
    await end();
    expect(done).toEqual(['a,b,c']);
  });

  it('reads no single entity where everything is to be read', async () => {
    const { worker, done, end } = setUp();
    worker.changed(['a']);
    worker.everything();
    worker.changed(['b']);
    await until(() => done.length > 0);
    await end();
    expect(done).toEqual(['all']);
  });

  it('reads what changes while everything is read after that', async () => {
    const set = setUp();
    set.while(() => set.worker.changed(['a']));
    set.worker.everything();
    await until(() => set.done.length > 1);
    await set.end();
    expect(set.done).toEqual(['all', 'a']);
  });

  it('tries again what failed, with what came meanwhile', async () => {
    const set = setUp();
    set.failing(3);
    set.while(() => set.worker.changed(['b']));
    set.worker.changed(['a']);
    await until(() => set.done.length > 0);
    await set.end();
    expect(set.done).toEqual(['b,a']);
    expect(set.said).toHaveLength(3);
    expect(set.said[0]).toMatch(/^warn: .*down/);
  });

  it('reads everything rather than very many', async () => {
    const { worker, done, end } = setUp();
    worker.changed(Array.from({ length: 2_001 }, (_, i) => `${i}`));
    await until(() => done.length > 0);
    await end();
    expect(done).toEqual(['all']);
  });

  it('ends while it waits, and complains of nothing then', async () => {
    const set = setUp();
    set.failing(1_000);
    set.worker.everything();
    await until(() => set.said.length > 3);
    await set.end();
    const said = set.said.length;
    set.worker.everything();
    await new Promise(resolve => setTimeout(resolve, 50));
    expect(set.said).toHaveLength(said);
  });
});
