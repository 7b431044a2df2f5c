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
  /** All entities that the server knows, in pages. */
  pages(signal: AbortSignal): AsyncIterable<Entity[]>;
  /** Fails while the server does not know all itself. */
  ready(signal: AbortSignal): Promise<void>;
  /** Entities by their references, undefined for each that is not there. */
  named(
    refs: string[],
    signal: AbortSignal,
  ): Promise<Array<Entity | undefined>>;
  /** Tells of changes from now on, also of those in breaks, until the result is called. */
  follow(listener: Listener): () => void;
}

const pageSize = 500;
const within = 60_000; // milliseconds that an answer may take

/**
 * Milliseconds that are asked for twice rather than not at all: each server reads
 * the sources for itself, usually every minute, and so may be behind another.
 */
export const margin = 120_000;

/** Seconds since a time and the margin. */
const recent = (time: number) =>
  Math.ceil((Math.max(Date.now() - time, 0) + margin) / 1000);

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
    async ready(signal) {
      const answer = await fetch(`${url}/readyz`, { signal: bounded(signal) });
      if (answer.status === 503) throw new Error((await answer.text()).trim());
    },
    async *pages(signal) {
      yield* client(signal).streamEntities({ query, pageSize }, { token });
    },
    async named(refs, signal) {
      const request = { entityRefs: refs, query };
      const answer = client(signal).getEntitiesByRefs(request, { token });
      return (await answer).items;
    },
    follow(listener) {
      const began = Date.now();
      const connection = connect({
        url: async () => url,
        token: async () => token,
      });
      connection.onLive(() => listener.live(connection.isLive()));
      const end = connection.listen(
        CatalogChangesDocument,
        (heard = began) => ({ recent: recent(heard) }),
        ({ catalogChanged: { changed, removed, many } }) =>
          many
            ? listener.everything()
            : listener.changed([...changed, ...removed]),
        error => listener.refused(error),
      );
      return () => {
        end();
        connection.dispose();
      };
    },
  };
}
