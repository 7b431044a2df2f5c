import { CatalogClient } from '@backstage/catalog-client';
import type { Entity } from '@backstage/catalog-model';
import type { FilterPredicate } from '@backstage/filter-predicates';
import { connect } from '@fairlead/backstage-plugin-common';
import { CatalogChangesDocument } from './catalogChanges.generated';

/** Hears of changes as they happen. */
export interface Listener {
  /** These entities came, changed or went. */
  changed(refs: string[]): void;
  /** Anything may have changed. */
  everything(): void;
  /** Whether changes arrive. */
  live(now: boolean): void;
  /** Fairlead refuses to tell of changes; it is asked again. */
  refused(error: Error): void;
}

/** A Fairlead server as far as its catalog is read. */
export interface Source {
  /** All entities, in pages; fails while the server does not know all itself. */
  pages(signal: AbortSignal): AsyncIterable<Entity[]>;
  /** Entities by their references, undefined for each that is not there. */
  named(
    refs: string[],
    signal: AbortSignal,
  ): Promise<Array<Entity | undefined>>;
  /** Tells of changes until the result is called. */
  follow(listener: Listener): () => void;
}

const pageSize = 500;
const within = 60_000; // milliseconds that an answer may take

/**
 * Entities of the kind Location are Fairlead's to follow: Backstage would read
 * what they name once more.
 */
const notLocations: FilterPredicate = { $not: { kind: 'location' } };

/** Connects to a server by Backstage's own client and by GraphQL. */
export function connectSource(options: {
  url: string;
  token: string;
  filter?: FilterPredicate;
}): Source {
  const { url, token, filter } = options;
  const query: FilterPredicate = filter
    ? { $all: [notLocations, filter] }
    : notLocations;
  const bounded = (signal: AbortSignal) =>
    AbortSignal.any([signal, AbortSignal.timeout(within)]);
  const client = (signal: AbortSignal) =>
    new CatalogClient({
      discoveryApi: { getBaseUrl: async id => `${url}/api/${id}` },
      fetchApi: {
        fetch: (input, init) =>
          fetch(input, { ...init, signal: bounded(signal) }),
      },
    });
  return {
    async *pages(signal) {
      const ready = await fetch(`${url}/readyz`, { signal: bounded(signal) });
      if (ready.status === 503) throw new Error((await ready.text()).trim());
      yield* client(signal).streamEntities({ query, pageSize }, { token });
    },
    async named(refs, signal) {
      const request = { entityRefs: refs, query };
      const answer = client(signal).getEntitiesByRefs(request, { token });
      return (await answer).items;
    },
    follow(listener) {
      const connection = connect({
        url: async () => url,
        token: async () => token,
      });
      connection.onLive(() => listener.live(connection.isLive()));
      const { unsubscribe } = connection.client
        .subscription(CatalogChangesDocument, {})
        .subscribe(({ data, error }) => {
          if (error) listener.refused(error);
          const change = data?.catalogChanged;
          if (change?.many) listener.everything();
          else if (change)
            listener.changed([...change.changed, ...change.removed]);
        });
      return () => {
        unsubscribe();
        connection.dispose();
      };
    },
  };
}
