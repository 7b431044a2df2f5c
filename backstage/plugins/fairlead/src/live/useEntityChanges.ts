import { useApi } from '@backstage/core-plugin-api';
import { useEffect } from 'react';
import { fairleadApiRef } from '../client';
import { listenToCatalog } from './listen';

/** Calls back soon after the catalog has changed, where that concerns an entity. */
export function useEntityChanges(ref: string, changed: () => void) {
  const connection = useApi(fairleadApiRef);
  useEffect(
    () =>
      listenToCatalog(connection, Date.now(), change => {
        const concerned =
          change.many ||
          change.changed.includes(ref) ||
          change.removed.includes(ref);
        if (concerned) changed();
      }),
    [connection, ref, changed],
  );
}
