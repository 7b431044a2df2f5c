import type { Connection } from '@fairlead/backstage-plugin-common';
import { CatalogChangesDocument } from './live.generated';
import type { Change } from './record';

// Milliseconds that are asked for twice rather than not at all: an answer may be
// of a server that is some seconds behind the one at the socket.
const margin = 5_000;

/**
 * Tells of the changes of the catalog since a time, and of those to come, also
 * after the socket was gone for a while.
 */
export function listenToCatalog(
  connection: Connection,
  since: number,
  changed: (change: Change) => void,
) {
  const recent = (heard = since) =>
    Math.ceil(Math.max(Date.now() - heard, 0) / 1000 + margin / 1000);
  return connection.listen(
    CatalogChangesDocument,
    heard => ({ recent: recent(heard) }),
    ({ catalogChanged }) => changed(catalogChanged),
  );
}
