import { useApi } from '@backstage/core-plugin-api';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import type { Connection } from '@fairlead/backstage-plugin-common';
import { useEffect, useRef } from 'react';
import { fairleadApiRef } from './api';

/** A subscription whose events mean that what was asked for may have changed. */
export interface Changes<D = any> {
  query: TypedDocumentNode<D, any>;
  variables?: object;
  /** Whether an event means that; by default each does. */
  concerns?: (data: D) => boolean;
}

const together = 50; // milliseconds in which changes make one request
const settle = 1_000; // milliseconds until what was missed is looked for

/**
 * Calls back soon after a subscription has begun, and whenever the socket
 * stands again, for what was missed: nothing tells when a subscription has
 * begun, and a change may come between the first answer and that.
 */
function onMissed(connection: Connection, missed: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (!connection.isLive()) return;
    timer = setTimeout(missed, settle * (1 + Math.random())); // of many pages at once
  };
  const end = connection.onLive(look);
  look();
  return () => {
    clearTimeout(timer);
    end();
  };
}

/**
 * Calls back soon after each event of the subscriptions, several at once as one,
 * and for what was missed.
 */
export function useChanges(changes: Changes[], changed: () => void) {
  const connection = useApi(fairleadApiRef);
  const key = JSON.stringify(changes);
  const newest = useRef(changes);
  newest.current = changes;
  useEffect(() => {
    if (!newest.current.length) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        changed();
      }, together);
    };
    const ends = newest.current.map(
      ({ query, variables = {} }, n) =>
        connection.client.subscription(query, variables).subscribe(result => {
          const concerns = newest.current[n]?.concerns;
          if (!concerns || (result.data && concerns(result.data))) soon();
        }).unsubscribe,
    );
    ends.push(onMissed(connection, changed));
    return () => {
      clearTimeout(timer);
      ends.forEach(end => end());
    };
    // The subscriptions are the same while their text is.
  }, [connection, key, changed]);
}
