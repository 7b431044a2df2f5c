import { useApi } from '@backstage/core-plugin-api';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { faultOf, type Fault } from '@fairlead/backstage-plugin-common';
import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react';
import { useQuery, type AnyVariables } from 'urql';
import { fairleadApiRef } from './api';
import { useChanges, type Changes } from './useChanges';

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
  /**
   * The newest answer; kept while another is on its way, and while the server
   * cannot be asked.
   */
  data?: D;
  /** What the newest request failed with. */
  fault?: Fault;
  /** Nothing is known yet. */
  loading: boolean;
  /** Asks again now. */
  refresh(): void;
}

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

  const fault = result.error && faultOf(result.error);
  const asked = result.operation?.key; // the query and its variables
  const last = useRef<{ asked?: number; data: D }>();
  if (result.data) last.current = { asked, data: result.data };
  const kept =
    fault?.code === 'unavailable' && last.current?.asked === asked
      ? last.current?.data
      : undefined;
  return {
    data: result.data ?? kept,
    fault,
    loading: !result.data && !result.error,
    refresh,
  };
}
