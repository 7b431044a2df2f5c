import { chunkOf, Chunks } from './chunks';

function open(build = 'one') {
  const loaded: string[] = [];
  const chunks = new Chunks(window.localStorage, build, async id => {
    loaded.push(id);
  });
  return { chunks, loaded };
}

describe('Chunks', () => {
  beforeEach(() => window.localStorage.clear());

  it('fetches what a page of the kind asked for before', () => {
    const before = open().chunks;
    before.note('/catalog/default/component/checkout', '7');
    before.note('/catalog/default/component/checkout', '8');
    before.note('/', '9');
    before.keep();
    const { chunks, loaded } = open();
    chunks.fetch('/catalog/default/group/payments');
    expect(loaded).toEqual(['7', '8']);
    chunks.fetch('/catalog/default/component/checkout');
    chunks.fetch('/');
    chunks.fetch('/settings');
    expect(loaded).toEqual(['7', '8', '9']);
  });

  it('learns what else a page asks for, but not what it was fetched itself', () => {
    const before = open().chunks;
    before.note('/catalog/a', '7');
    before.keep();
    const between = open().chunks;
    between.fetch('/catalog/a');
    between.note('/', '7');
    between.note('/catalog/a', '8');
    between.keep();
    const { chunks, loaded } = open();
    chunks.fetch('/');
    expect(loaded).toEqual([]);
    chunks.fetch('/catalog/a');
    expect(loaded).toEqual(['7', '8']);
  });

  it('forgets another build, and what cannot be read', () => {
    const before = open().chunks;
    before.note('/', '7');
    before.keep();
    const other = open('two');
    other.chunks.fetch('/');
    expect(other.loaded).toEqual([]);
    for (const wrong of [
      '[',
      'null',
      '{"build":"one"}',
      '{"build":"one","pages":{"":7}}',
    ]) {
      window.localStorage.setItem('fairlead.chunks', wrong);
      const { chunks, loaded } = open();
      chunks.fetch('/');
      chunks.note('/', '8');
      expect(loaded).toEqual([]);
    }
  });

  it('bears that a chunk does not come and that nothing is kept', async () => {
    const storage = {
      getItem: () =>
        JSON.stringify({ build: 'one', pages: { catalog: ['7'] } }),
      setItem() {
        throw new Error('full');
      },
    } as unknown as Storage;
    const chunks = new Chunks(storage, 'one', () =>
      Promise.reject(new Error('gone')),
    );
    chunks.fetch('/catalog/a');
    await Promise.resolve();
    expect(() => chunks.keep()).not.toThrow();
  });
});

describe('chunkOf', () => {
  it('knows chunks by their addresses', () => {
    const at = 'https://fairlead.example/static';
    expect(chunkOf(`${at}/7831.8c0131a4e828.chunk.js`)).toBe('7831');
    expect(chunkOf(`${at}/vendor.84afba45e623.js`)).toBeUndefined();
    expect(chunkOf(`${at}/2971.2971.f75fe82f9b37.css`)).toBeUndefined();
  });
});
