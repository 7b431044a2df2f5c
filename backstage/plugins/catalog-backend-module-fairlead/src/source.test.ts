import { connectSource } from './source';
import { refOf } from './testing/fakes';
import { TestSocket } from './testing/sockets';

const open = () => connectSource({ url: 'https://fairlead.test', token: 't' });

const pass = (seconds: number) =>
  jest.advanceTimersByTimeAsync(seconds * 1_000);

/** What the last socket was asked for in the last place. */
const recent = () =>
  TestSocket.opened.at(-1)!.subscribed.at(-1).payload.variables.recent;

const event = (more: object) => ({
  data: { catalogChanged: { changed: [], removed: [], many: false, ...more } },
});

/** Follows what a test's server tells; all that is heard is kept. */
function follow() {
  const heard: unknown[] = [];
  const end = open().follow({
    changed: refs => heard.push(refs),
    everything: () => heard.push('everything'),
    live: now => heard.push(now),
    refused: error => heard.push(error.message),
  });
  const last = () => TestSocket.opened.at(-1)!;
  return { heard, end, last };
}

describe('follow', () => {
  const { WebSocket: real } = globalThis;
  beforeEach(() => {
    jest.useFakeTimers();
    TestSocket.opened = [];
    Object.assign(globalThis, { WebSocket: TestSocket });
  });
  afterEach(() => {
    jest.useRealTimers();
    Object.assign(globalThis, { WebSocket: real });
  });

  it('tells of what changes, and of everything where that is not known', async () => {
    const { heard, end, last } = follow();
    await pass(1);
    last().says(
      'next',
      event({ changed: [refOf('a')], removed: [refOf('b')] }),
    );
    last().says('next', event({ many: true }));
    expect(heard).toEqual([true, [refOf('a'), refOf('b')], 'everything']);
    end();
  });

  it('asks for what has changed since it began, and two minutes before', async () => {
    const { end, last } = follow();
    await pass(1);
    expect(recent()).toBeGreaterThanOrEqual(120);
    expect(recent()).toBeLessThanOrEqual(122);
    await pass(10); // before a ping, so that nothing was heard
    last().breaks();
    await pass(2);
    expect(recent()).toBeGreaterThanOrEqual(131);
    expect(recent()).toBeLessThanOrEqual(133);
    end();
  });

  it('asks after a break for what has changed since it heard last', async () => {
    const { heard, end, last } = follow();
    await pass(300); // a ping is answered every half minute
    last().breaks();
    await pass(2);
    expect(recent()).toBeGreaterThanOrEqual(120);
    expect(recent()).toBeLessThanOrEqual(155);
    expect(heard).toEqual([true, false, true]);
    end();
  });

  it('says why it is refused, and asks again for all it missed', async () => {
    const { heard, end, last } = follow();
    await pass(1);
    last().says('error', [{ message: 'Unknown argument "recent".' }]);
    expect(heard).toEqual([true, '[GraphQL] Unknown argument "recent".']);
    await pass(60);
    expect(recent()).toBeGreaterThanOrEqual(121);
    last().says('next', event({ changed: [refOf('a')] }));
    expect(heard).toContainEqual([refOf('a')]);
    end();
  });
});

describe('ready', () => {
  const { signal } = new AbortController();
  const answers = (status: number, text: string) =>
    jest
      .spyOn(globalThis, 'fetch')
      .mockResolvedValue(new Response(text, { status }));
  afterEach(() => jest.restoreAllMocks());

  it('fails while the server has not read all itself', async () => {
    const asked = answers(503, 'sources are still being read\n');
    await expect(open().ready(signal)).rejects.toThrow('still being read');
    expect(asked.mock.calls[0][0]).toBe('https://fairlead.test/readyz');
    answers(200, 'serving a catalog\n');
    await expect(open().ready(signal)).resolves.toBeUndefined();
  });
});
