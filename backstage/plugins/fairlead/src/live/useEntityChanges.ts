import { useApi } from '@backstage/core-plugin-api';
import { useEffect } from 'react';
import { fairleadApiRef } from '../client';
import { CatalogChangesDocument } from './live.generated';

const together = 200; // milliseconds in which changes make one call

/**
 * Calls back soon after the catalog has changed, where that concerns an entity,
 * or any where none is named, and when the socket stands again, for what it
 * missed.
 */
export function useEntityChanges(ref: string | undefined, changed: () => void) {
  const connection = useApi(fairleadApiRef);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        changed();
      }, together);
    };
    const ends = [
      connection.client
        .subscription(CatalogChangesDocument, {})
        .subscribe(({ data }) => {
          const change = data?.catalogChanged;
          if (!change) return;
          const names = [...change.changed, ...change.removed];
          if (!ref || change.many || names.includes(ref)) soon();
        }).unsubscribe,
      connection.onLive(() => connection.isLive() && soon()),
    ];
    return () => {
      clearTimeout(timer);
      ends.forEach(end => end());
    };
  }, [connection, ref, changed]);
}
