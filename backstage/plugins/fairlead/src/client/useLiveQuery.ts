import { useApi } from '@backstage/core-plugin-api';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { faultOf, type Fault } from '@fairlead/backstage-plugin-common';
import { useCallback, useEffect, useSyncExternalStore } from 'react';
import { useQuery, type AnyVariables } from 'urql';
import { fairleadApiRef } from './api';

/** A subscription whose events mean that what was asked for may have changed. */
export interface Changes {
  query: TypedDocumentNode<any, any>;
  variables?: object;
}

export interface LiveQueryOptions<D, V extends AnyVariables> {
  query: TypedDocumentNode<D, V>;
  variables: V;
  /** What tells of changes; each is a subscription. */
  changes?: Changes[];
  /** Milliseconds between requests while no changes arrive; default 5,000. */
  every?: number;
  /** Asks for nothing while true. */
  pause?: boolean;
}

export interface LiveQuery<D> {
  /** The newest answer; kept while another is on its way or fails. */
  data?: D;
  /** What the newest request failed with. */
  fault?: Fault;
  /** Nothing is known yet. */
  loading: boolean;
  /** Asks again now. */
  refresh(): void;
}

const together = 50; // milliseconds in which changes make one request
const settle = 1_000; // milliseconds until what was missed is looked for

/** Asks once, and again whenever something of it may have changed. */
export function useLiveQuery<D, V extends AnyVariables>(
  options: LiveQueryOptions<D, V>,
): LiveQuery<D> {
  const { query, variables, changes, every = 5_000, pause } = options;
  const connection = useApi(fairleadApiRef);
  const [result, execute] = useQuery<D, V>({
    query,
    variables,
    pause,
    requestPolicy: 'cache-and-network',
  } as Parameters<typeof useQuery<D, V>>[0]);
  const refresh = useCallback(
    () => execute({ requestPolicy: 'network-only' }),
    [execute],
  );
  useChanges(pause ? [] : changes ?? [], refresh);

  const live = useSyncExternalStore(connection.onLive, connection.isLive);
  useEffect(() => {
    if (pause || (live && changes?.length)) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') refresh();
    }, every);
    return () => clearInterval(timer);
  }, [pause, live, changes?.length, every, refresh]);

  return {
    data: result.data,
    fault: result.error && faultOf(result.error),
    loading: !result.data && !result.error,
    refresh,
  };
}

/**
 * Calls back soon after each event of the subscriptions, several at once as one;
 * and once they have begun, and whenever the socket stands again, for what was
 * missed: nothing tells when a subscription has begun, and a change may come
 * between the first answer and that.
 */
export function useChanges(changes: Changes[], changed: () => void) {
  const connection = useApi(fairleadApiRef);
  const key = JSON.stringify(changes);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let look: ReturnType<typeof setTimeout> | undefined;
    const missed = () => {
      clearTimeout(look);
      if (!changes.length || !connection.isLive()) return;
      look = setTimeout(changed, settle * (1 + Math.random())); // of many pages at once
    };
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        changed();
      }, together);
    };
    const ends = changes.map(
      ({ query, variables = {} }) =>
        connection.client.subscription(query, variables).subscribe(soon)
          .unsubscribe,
    );
    ends.push(connection.onLive(missed));
    missed();
    return () => {
      clearTimeout(timer);
      clearTimeout(look);
      ends.forEach(end => end());
    };
    // The subscriptions are the same while their text is.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [connection, key, changed]);
}
