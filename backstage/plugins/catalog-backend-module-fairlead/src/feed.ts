import type { LoggerService } from '@backstage/backend-plugin-api';
import {
  entityEnvelopeSchemaValidator,
  stringifyEntityRef,
  type Entity,
} from '@backstage/catalog-model';
import type {
  DeferredEntity,
  EntityProviderConnection,
} from '@backstage/plugin-catalog-node';
import { deferred, type Origin } from './entities';
import type { Provided } from './provided';
import type { Source } from './source';

/** What a feed goes from and to. */
export interface FeedOptions {
  source: Source;
  catalog: EntityProviderConnection;
  provided: Provided;
  origin: Origin;
  logger: LoggerService;
}

const together = 500; // entities in one mutation
const few = 100; // that many may always go at once
const doubt = 300_000; // milliseconds after which more are believed to be gone

/**
 * Brings the catalog to what Fairlead holds. Everything goes by mutations of a
 * page each, of which Backstage writes what differs: neither side has to hold
 * the whole catalog, and no page waits for the last one.
 */
export class Feed {
  private readonly validate = entityEnvelopeSchemaValidator();
  private readonly complained = new Map<string, string>();
  /** When most was seen to be gone, in milliseconds since 1970. */
  private doubted?: number;

  constructor(private readonly options: FeedOptions) {}

  /** Reads all entities, and takes away those that are there no more. */
  async everything(signal: AbortSignal): Promise<void> {
    const { source, provided, logger } = this.options;
    const start = Date.now();
    await source.ready(signal);
    const before = await provided.all();
    const seen = new Set<string>();
    for await (const page of source.pages(signal)) {
      await this.give(page);
      page.forEach(entity => seen.add(stringifyEntityRef(entity)));
      signal.throwIfAborted();
    }
    const gone = before.filter(ref => !seen.has(ref));
    if (this.believes(gone.length, before.length)) await this.take(gone);
    logger.info(
      `Read ${seen.size} entities in ${Date.now() - start} ms; ${
        gone.length
      } are there no more`,
    );
  }

  /**
   * Reads some entities by their references. That one is gone is believed of no
   * server that has just begun and does not know all.
   */
  async some(refs: string[], signal: AbortSignal): Promise<void> {
    const { source, provided, logger } = this.options;
    const found = await source.named(refs, signal);
    const there = found.filter(entity => entity !== undefined);
    const missing = refs.filter((_, i) => found[i] === undefined);
    const gone = await provided.of(missing);
    for (let at = 0; at < there.length; at += together) {
      await this.give(there.slice(at, at + together));
    }
    if (gone.length > 0) await source.ready(signal);
    await this.take(gone);
    logger.debug(`${there.length} entities changed, ${gone.length} went`);
  }

  /**
   * Where most of the catalog is gone, its token may have lost a right: that is
   * believed when it is seen again after a while.
   */
  private believes(gone: number, of: number): boolean {
    const most = gone > few && gone > of / 2;
    if (!most) this.doubted = undefined;
    else this.doubted ??= Date.now();
    if (!this.doubted || Date.now() - this.doubted >= doubt) return true;
    this.options.logger.warn(
      `${gone} of ${of} entities are there no more; they go from the catalog when a reading says the same after five minutes. May the token still see them?`,
    );
    return false;
  }

  private async give(entities: Entity[]): Promise<void> {
    const { origin, provided } = this.options;
    const sound = entities
      .map(entity => deferred(entity, origin))
      .filter(({ entity }) => {
        try {
          this.validate(entity);
          return true;
        } catch (error) {
          this.complain(entity, error);
          return false;
        }
      });
    await provided.add(sound.map(({ entity }) => stringifyEntityRef(entity)));
    await this.apply(sound);
  }

  /** Leaves out, of entities that the catalog does not take, the ones at fault. */
  private async apply(added: DeferredEntity[]): Promise<void> {
    const { catalog } = this.options;
    try {
      await catalog.applyMutation({ type: 'delta', added, removed: [] });
    } catch (error) {
      // Where it takes nothing at all, no entity is at fault.
      await catalog.applyMutation({ type: 'delta', added: [], removed: [] });
      if (added.length === 1) {
        this.complain(added[0].entity, error);
        return;
      }
      const half = Math.ceil(added.length / 2);
      await this.apply(added.slice(0, half));
      await this.apply(added.slice(half));
    }
  }

  private async take(refs: string[]): Promise<void> {
    const { catalog, provided, origin } = this.options;
    for (let at = 0; at < refs.length; at += together) {
      const some = refs.slice(at, at + together);
      await catalog.applyMutation({
        type: 'delta',
        added: [],
        removed: some.map(entityRef => ({
          entityRef,
          locationKey: origin.locationKey,
        })),
      });
      await provided.remove(some);
    }
  }

  /** Tells of an entity once for each reason. */
  private complain(entity: Entity, error: unknown) {
    const ref = `${entity.kind}:${entity.metadata?.namespace}/${entity.metadata?.name}`;
    const text = String(error);
    if (this.complained.get(ref) === text) return;
    this.complained.set(ref, text);
    this.options.logger.warn(`The catalog does not take ${ref}: ${text}`);
  }
}
