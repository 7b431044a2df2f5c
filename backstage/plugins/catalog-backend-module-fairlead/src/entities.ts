import {
  ANNOTATION_LOCATION,
  ANNOTATION_ORIGIN_LOCATION,
  type Entity,
} from '@backstage/catalog-model';
import type { DeferredEntity } from '@backstage/plugin-catalog-node';

/** Where entities come from. */
export interface Origin {
  /** Address of the server. */
  url: string;
  /** What keeps other providers from taking the entities over. */
  locationKey: string;
}

/**
 * Gives an entity as a source holds it: without what a catalog adds, which
 * Backstage makes itself. Where it was read stays as Fairlead tells it.
 */
export function deferred(entity: Entity, origin: Origin): DeferredEntity {
  const { relations: _, ...rest } = entity;
  const { status: __, ...own } = rest as typeof rest & { status?: unknown };
  const { uid: ___, etag: ____, ...metadata } = entity.metadata;
  const path = [entity.kind, metadata.namespace ?? 'default', metadata.name]
    .map(part => encodeURIComponent(part))
    .join('/');
  const here = `url:${origin.url}/api/catalog/entities/by-name/${path}`;
  const read = metadata.annotations?.[ANNOTATION_LOCATION] ?? here;
  return {
    locationKey: origin.locationKey,
    entity: {
      ...own,
      metadata: {
        ...metadata,
        annotations: {
          ...metadata.annotations,
          [ANNOTATION_LOCATION]: read,
          [ANNOTATION_ORIGIN_LOCATION]:
            metadata.annotations?.[ANNOTATION_ORIGIN_LOCATION] ?? read,
        },
      },
    },
  };
}
