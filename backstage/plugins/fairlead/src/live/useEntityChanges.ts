import { useChanges, type Changes } from '../client';
import {
  CatalogChangesDocument,
  type CatalogChangesSubscription,
} from './live.generated';

/** Calls back soon after the catalog has changed, where that concerns an entity. */
export function useEntityChanges(ref: string, changed: () => void) {
  const changes: Changes<CatalogChangesSubscription> = {
    query: CatalogChangesDocument,
    concerns: ({ catalogChanged: { changed: some, removed, many } }) =>
      many || some.includes(ref) || removed.includes(ref),
  };
  useChanges([changes], changed);
}
