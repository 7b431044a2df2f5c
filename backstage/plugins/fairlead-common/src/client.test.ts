import { gql } from '@urql/core';
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
  answers = false;
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
      setTimeout(() => this.say({ type: 'connection_ack' }));
    }
    if (message.type === 'ping' && this.answers) {
      setTimeout(() => this.say({ type: 'pong' }));
    }
  }
  close() {
    this.readyState = 3;
  }
  heards() {
    return this.subscribed().map(({ payload }) => payload.variables.heard);
  }
  next() {
    const { id } = this.subscribed().at(-1);
    const payload = { data: { catalogChanged: { many: true } } };
    this.say({ id, type: 'next', payload });
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
/** Listens to a query that tells until when all was heard. */
const listen = () => {
  const connection = connect({
    url: async () => 'https://fairlead.test/',
    token: async () => undefined,
    webSocket: TestSocket,
  });
  const data: any[] = [];
  const end = connection.listen(
    gql(query),
    heard => ({ heard: heard && Math.round(heard / 1000) }),
    one => data.push(one),
  );
  return { connection, data, end };
};
const now = () => Math.round(Date.now() / 1000);
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

  it('tells until when all was heard as it subscribes again', async () => {
    const { connection, data, end } = listen();
    await pass(5);
    expect(opened[0].heards()).toEqual([undefined]);
    opened[0].next();
    const heard = now();
    await pass(10);
    opened[0].breaks();
    await pass(2);
    expect(opened[1].heards()).toEqual([heard]);
    expect(data).toEqual([{ catalogChanged: { many: true } }]);
    opened[1].say({ id: opened[1].subscribed()[0].id, type: 'complete' });
    await pass(2);
    expect(opened[1].heards()).toEqual([heard, heard]);
    end();
    connection.dispose();
  });

  it('has heard all before a ping that is answered', async () => {
    behave = socket => {
      socket.open();
      socket.answers = true;
    };
    const { connection, end } = listen();
    await pass(31);
    const heard = now() - 1;
    await pass(20);
    opened[0].breaks();
    await pass(2);
    expect(opened[1].heards()).toEqual([heard]);
    opened[1].answers = false;
    await pass(29); // the next is not sent yet
    opened[1].breaks();
    await pass(2);
    expect(opened[2].heards()).toEqual([heard]);
    end();
    connection.dispose();
  });

  it('gives up a socket that does not answer', async () => {
    const { connection, end } = listen();
    await pass(1);
    opened[0].next();
    const heard = now();
    await pass(38);
    expect(connection.isLive()).toBe(true);
    await pass(4);
    expect(opened[1].heards()).toEqual([heard]);
    expect(connection.isLive()).toBe(true);
    end();
    connection.dispose();
  });
});
