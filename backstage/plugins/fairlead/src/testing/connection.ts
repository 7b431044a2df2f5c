import { connect, type Connection } from '@fairlead/backstage-plugin-common';
import { cacheExchange } from 'urql';

/** What stands for the server: an answer for each operation, by name. */
export type Answers = Record<
  string,
  (variables: any) => { data?: unknown; errors?: unknown[] }
>;

/** A connection to answers, which remembers what it was asked for. */
export interface TestConnection extends Connection {
  asked: { name: string; variables: any }[];
  /** What was subscribed to, each time that it was. */
  watched: { name: string; variables: any }[];
  /** Sends an event to every subscription of the name. */
  tell(name: string, data: object): void;
  /** Breaks the socket, which is opened anew. */
  breaks(): void;
}

const nameIn = (query: string) =>
  /(?:query|mutation|subscription) (\w+)/.exec(query)?.[1] ?? '';

/** Connects to answers in the place of a server. */
export function connectTo(answers: Answers): TestConnection {
  const asked: TestConnection['asked'] = [];
  const watched: TestConnection['watched'] = [];
  const running = new Map<string, { name: string; send(data: object): void }>();

  const sockets: Socket[] = [];

  /** The server's end of graphql-transport-ws, in the place of a socket. */
  class Socket {
    static readonly CONNECTING = 0;
    static readonly OPEN = 1;
    static readonly CLOSING = 2;
    static readonly CLOSED = 3;
    readyState = 1;
    onopen?: () => void;
    onclose?: (event: object) => void;
    onmessage?: (event: { data: string }) => void;

    constructor() {
      sockets.push(this);
      setTimeout(() => this.onopen?.());
    }
    breaks() {
      running.clear();
      this.readyState = 3;
      this.onclose?.({ code: 1006, reason: '', wasClean: false });
    }
    private say(message: object) {
      this.onmessage?.({ data: JSON.stringify(message) });
    }
    send(text: string) {
      const { type, id, payload } = JSON.parse(text);
      if (type === 'connection_init') {
        setTimeout(() => this.say({ type: 'connection_ack' }));
      }
      if (type === 'ping') setTimeout(() => this.say({ type: 'pong' }));
      if (type === 'complete') running.delete(id);
      if (type === 'subscribe') {
        const name = nameIn(payload.query);
        watched.push({ name, variables: payload.variables });
        running.set(id, {
          name,
          send: data => this.say({ id, type: 'next', payload: { data } }),
        });
      }
    }
    close(code: number, reason: string) {
      this.readyState = 3;
      this.onclose?.({ code, reason, wasClean: true });
    }
  }

  const connection = connect({
    url: async () => 'http://fairlead.test',
    token: async () => 'test',
    webSocket: Socket,
    exchanges: [cacheExchange],
    fetch: async (_, init) => {
      const { query, variables } = JSON.parse(String(init?.body));
      const name = nameIn(query);
      asked.push({ name, variables });
      const answer = answers[name]?.(variables) ?? {
        errors: [{ message: `nothing answers ${name}` }],
      };
      return {
        status: 200,
        ok: true,
        headers: new Headers({ 'content-type': 'application/json' }),
        text: async () => JSON.stringify(answer),
      } as Response;
    },
  });
  return {
    ...connection,
    asked,
    watched,
    breaks: () => sockets.at(-1)?.breaks(),
    tell: (name, data) =>
      running.forEach(one => one.name === name && one.send(data)),
  };
}
