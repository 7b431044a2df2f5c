import { connect } from './client';

/** What sockets do is up to each test; all that were opened are kept. */
let opened: TestSocket[] = [];
let behave = (_: TestSocket) => {};

class TestSocket {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSING = 2;
  static readonly CLOSED = 3;
  readyState = 0;
  sent: any[] = [];
  onopen?: () => void;
  onerror?: (event: object) => void;
  onclose?: (event: object) => void;
  onmessage?: (event: { data: string }) => void;

  constructor() {
    opened.push(this);
    setTimeout(() => behave(this));
  }
  open() {
    this.readyState = 1;
    this.onopen?.();
  }
  breaks() {
    this.readyState = 3;
    this.onerror?.({ type: 'error' });
    this.onclose?.({ code: 1006, reason: '', wasClean: false });
  }
  say(message: object) {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
  send(text: string) {
    const message = JSON.parse(text);
    this.sent.push(message);
    if (message.type === 'connection_init') {
      this.say({ type: 'connection_ack' });
    }
  }
  close() {
    this.readyState = 3;
  }
  subscribed() {
    return this.sent.filter(({ type }) => type === 'subscribe');
  }
}

const query = 'subscription { catalogChanged { many } }';
const start = () => {
  const connection = connect({
    url: async () => 'https://fairlead.test/',
    token: async () => 'secret',
    webSocket: TestSocket,
  });
  const heard: any[] = [];
  const { unsubscribe } = connection.client
    .subscription(query, {})
    .subscribe(result => heard.push(result.data ?? result.error?.message));
  return { connection, heard, unsubscribe };
};
const pass = (seconds: number) =>
  jest.advanceTimersByTimeAsync(seconds * 1_000);

describe('connect', () => {
  beforeEach(() => {
    jest.useFakeTimers();
    opened = [];
    behave = socket => socket.open();
  });
  afterEach(() => jest.useRealTimers());

  it('is live while the socket stands, and shows the token to it', async () => {
    const { connection, heard } = start();
    expect(connection.isLive()).toBe(false);
    await pass(1);
    expect(connection.isLive()).toBe(true);
    const [init, { id }] = opened[0].sent;
    expect(init.payload).toEqual({ Authorization: 'Bearer secret' });
    opened[0].say({
      id,
      type: 'next',
      payload: { data: { catalogChanged: { many: true } } },
    });
    expect(heard).toEqual([{ catalogChanged: { many: true } }]);
    opened[0].breaks();
    expect(connection.isLive()).toBe(false);
    await pass(2);
    expect(connection.isLive()).toBe(true);
    expect(opened[1].subscribed()).toHaveLength(1);
    connection.dispose();
  });

  it('tries ever less often where there is no socket, for as long as somebody listens', async () => {
    behave = socket => socket.breaks();
    const { connection, unsubscribe } = start();
    await pass(600);
    expect(connection.isLive()).toBe(false);
    expect(opened.length).toBeGreaterThan(10);
    expect(opened.length).toBeLessThan(20);
    const { length } = opened;
    await pass(76);
    expect(opened.length).toBeGreaterThan(length);
    unsubscribe();
    await pass(76);
    const last = opened.length;
    await pass(600);
    expect(opened).toHaveLength(last);
    connection.dispose();
  });

  it.each(['complete', 'error'])(
    'subscribes again where the server ends a subscription by %s',
    async type => {
      const { connection, heard, unsubscribe } = start();
      await pass(1);
      const payload = type === 'error' ? [{ message: 'no more' }] : undefined;
      opened[0].say({ id: opened[0].subscribed()[0].id, type, payload });
      await pass(2);
      expect(opened.flatMap(one => one.subscribed())).toHaveLength(2);
      expect(heard).toEqual(type === 'error' ? ['[GraphQL] no more'] : []);
      unsubscribe();
      await pass(100);
      expect(opened.flatMap(one => one.subscribed())).toHaveLength(2);
      connection.dispose();
    },
  );
});
