import {
  Client,
  CombinedError,
  fetchExchange,
  stringifyDocument,
  subscriptionExchange,
  type Exchange,
  type ExecutionResult,
  type TypedDocumentNode,
} from '@urql/core';
import type { GraphQLError } from 'graphql';
import {
  createClient as createSocket,
  type Client as Socket,
} from 'graphql-ws';

/** How to reach a Fairlead server, and as whom. */
export interface ConnectionOptions {
  /**
   * Address of the server, or of what stands for it, such as
   * https://portal.example.com/api/proxy/fairlead. It is asked for before each
   * request, for it may have to be discovered.
   */
  url: () => Promise<string>;
  /** The bearer's token; none where it gives undefined. */
  token: () => Promise<string | undefined>;
  /** Sends requests; the platform's own by default. */
  fetch?: typeof fetch;
  /** Class for sockets; the platform's own by default. */
  webSocket?: unknown;
  /** Kept between a request and the network, such as a cache; none by default. */
  exchanges?: Exchange[];
}

/** A client, and what has to be let go of with it. */
export interface Connection {
  client: Client;
  /**
   * Whether live changes arrive: the socket stands. Where it cannot, such as
   * behind a proxy for requests alone, ask again from time to time.
   */
  isLive(): boolean;
  /** Calls back when isLive changes; the result ends that. */
  onLive(changed: () => void): () => void;
  /**
   * Listens to a subscription until the result is called. Its variables are asked
   * for whenever it is sent, which is again after each break, with the time until
   * which all was heard, in milliseconds since 1970; undefined before anything is.
   * Where the server refuses, it is asked again after a while.
   */
  listen<D>(
    query: TypedDocumentNode<D, any>,
    variables: (heard?: number) => object,
    told: (data: D) => void,
    refused?: (error: Error) => void,
  ): () => void;
  /** Ends the socket of the live changes. */
  dispose(): void;
}

const graphql = (base: string) => `${base.replace(/\/+$/, '')}/graphql`;

const longest = 60; // seconds between two attempts to open a socket
const patience = 10_000; // milliseconds that the server has for an answer

/**
 * Waits before the next attempt, longer each time. A page that nobody looks at
 * waits until somebody does: browsers write each failure into their console.
 */
async function wait(failures: number) {
  const seconds = Math.min(2 ** failures, longest) * (0.75 + Math.random() / 2);
  await new Promise(resolve => setTimeout(resolve, seconds * 1000));
  if (typeof document === 'undefined' || !document.hidden) return;
  await new Promise(resolve =>
    document.addEventListener('visibilitychange', resolve, { once: true }),
  );
}

/** What a subscription ended with: GraphQL's errors, or what broke the socket. */
function errorsOf(error: unknown): ReadonlyArray<Error | GraphQLError> {
  if (Array.isArray(error)) return error;
  if (error instanceof Error) return [error];
  const { reason } = error as { reason?: string };
  return [new Error(reason || 'The connection broke.')];
}

/** What is asked of the socket, where the variables may be others each time. */
interface Wanted {
  query: string;
  variables: (heard?: number) => object;
}

/**
 * Keeps a subscription on the socket until the result is called: where the server
 * ends or refuses it, it is asked for again after a while.
 */
function keep(
  socket: Socket,
  wanted: Wanted,
  next: (result: ExecutionResult) => void,
) {
  let ended = false;
  let failures = 0;
  let end = () => {};
  // Until when all was heard: until its last event, or until what the socket has
  // answered was asked, if that was behind the subscription.
  let heard: number | undefined;
  let sent = false;
  let asked = 0;
  const unlisten = [
    socket.on('closed', () => {
      sent = false;
      asked = 0;
    }),
    socket.on('ping', received => {
      if (!received) asked = sent ? Date.now() : 0;
    }),
    socket.on('pong', received => {
      if (received && asked) heard = asked;
    }),
  ];
  const payload = {
    query: wanted.query,
    // Read as it is sent, also when the socket does so again by itself.
    get variables() {
      sent = true;
      return { ...wanted.variables(heard) };
    },
  };
  const begin = () => {
    const again = async () => {
      sent = false;
      asked = 0;
      if (ended) return;
      await wait(failures++);
      if (!ended) begin();
    };
    end = socket.subscribe<ExecutionResult['data']>(payload, {
      next(value) {
        failures = 0;
        heard = Date.now();
        next(value as ExecutionResult);
      },
      error(error) {
        if (ended) return;
        next({ errors: errorsOf(error) } as ExecutionResult);
        again();
      },
      complete: again,
    });
  };
  begin();
  return () => {
    ended = true;
    unlisten.forEach(one => one());
    end();
  };
}

/**
 * Connects to Fairlead's GraphQL: requests by HTTP, live changes by
 * graphql-transport-ws over one socket, which is opened with the first
 * subscription, closed after the last, and opened anew with a fresh token
 * whenever it breaks, at the latest a minute after the attempt before.
 */
export function connect(options: ConnectionOptions): Connection {
  const send = options.fetch ?? fetch;
  let live = false;
  const told = new Set<() => void>();
  const turn = (now: boolean) => {
    if (live === now) return;
    live = now;
    told.forEach(tell => tell());
  };
  let unanswered: ReturnType<typeof setTimeout> | undefined;
  const socket = createSocket({
    url: async () => graphql(await options.url()).replace(/^http/, 'ws'),
    connectionParams: async () => {
      const token = await options.token();
      return token ? { Authorization: `Bearer ${token}` } : {};
    },
    webSocketImpl: options.webSocket,
    keepAlive: 30_000,
    connectionAckWaitTimeout: patience,
    retryAttempts: Infinity,
    retryWait: wait,
    shouldRetry: () => true,
    on: {
      connected: () => turn(true),
      closed: () => {
        clearTimeout(unanswered);
        turn(false);
      },
      ping: received => {
        if (received) return;
        unanswered = setTimeout(() => socket.terminate(), patience);
      },
      pong: received => received && clearTimeout(unanswered),
    },
  });
  const client = new Client({
    url: 'http://fairlead.invalid/graphql', // the real one is known at the request
    preferGetMethod: false,
    fetch: async (_, init) => {
      const [base, token] = await Promise.all([options.url(), options.token()]);
      const headers = new Headers(init?.headers);
      if (token) headers.set('Authorization', `Bearer ${token}`);
      return send(graphql(base), { ...init, headers });
    },
    exchanges: [
      ...(options.exchanges ?? []),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables = {} }) => ({
          subscribe: sink => ({
            unsubscribe: keep(
              socket,
              { query, variables: () => variables },
              result => sink.next(result),
            ),
          }),
        }),
      }),
    ],
  });
  return {
    client,
    isLive: () => live,
    onLive: changed => {
      told.add(changed);
      return () => told.delete(changed);
    },
    listen: (query, variables, tell, refused) =>
      keep(
        socket,
        { query: stringifyDocument(query), variables },
        ({ data, errors }) => {
          if (errors)
            refused?.(new CombinedError({ graphQLErrors: [...errors] }));
          if (data) tell(data as any);
        },
      ),
    dispose: () => void socket.dispose(),
  };
}
