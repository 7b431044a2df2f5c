import {
  Client,
  fetchExchange,
  subscriptionExchange,
  type Exchange,
  type ExecutionResult,
  type SubscriptionForwarder,
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
  /** Ends the socket of the live changes. */
  dispose(): void;
}

const graphql = (base: string) => `${base.replace(/\/+$/, '')}/graphql`;

const longest = 60; // seconds between two attempts to open a socket

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

/**
 * Forwards a subscription to the socket for as long as somebody listens: where
 * the server ends or refuses it, it is asked for again after a while.
 */
const forward =
  (socket: Socket): SubscriptionForwarder =>
  request => ({
    subscribe(sink) {
      let ended = false;
      let failures = 0;
      let end = () => {};
      const begin = () => {
        const again = async () => {
          if (ended) return;
          await wait(failures++);
          if (!ended) begin();
        };
        end = socket.subscribe<ExecutionResult['data']>(
          { ...request, query: request.query ?? '' },
          {
            next(value) {
              failures = 0;
              sink.next(value as ExecutionResult);
            },
            error(error) {
              if (ended) return;
              sink.next({ errors: errorsOf(error) });
              again();
            },
            complete: again,
          },
        );
      };
      begin();
      return {
        unsubscribe() {
          ended = true;
          end();
        },
      };
    },
  });

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
  const socket = createSocket({
    url: async () => graphql(await options.url()).replace(/^http/, 'ws'),
    connectionParams: async () => {
      const token = await options.token();
      return token ? { Authorization: `Bearer ${token}` } : {};
    },
    webSocketImpl: options.webSocket,
    keepAlive: 30_000,
    connectionAckWaitTimeout: 10_000,
    retryAttempts: Infinity,
    retryWait: wait,
    shouldRetry: () => true,
    on: { connected: () => turn(true), closed: () => turn(false) },
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
      subscriptionExchange({ forwardSubscription: forward(socket) }),
    ],
  });
  return {
    client,
    isLive: () => live,
    onLive: changed => {
      told.add(changed);
      return () => told.delete(changed);
    },
    dispose: () => void socket.dispose(),
  };
}
