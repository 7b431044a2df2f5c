import type {
  LoggerService,
  SchedulerServiceTaskRunner,
} from '@backstage/backend-plugin-api';
import type {
  EntityProvider,
  EntityProviderConnection,
} from '@backstage/plugin-catalog-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { Feed } from './feed';
import type { Provided } from './provided';
import { margin, type Source } from './source';
import { Worker } from './worker';

/** What a provider is made of. */
export interface ProviderOptions {
  id: string;
  url: string;
  source: Source;
  /** Opens what the provider remembers, by its name. */
  provided: (name: string) => Promise<Provided>;
  /** When everything is read anew. */
  schedule: SchedulerServiceTaskRunner;
  logger: LoggerService;
  /** Milliseconds to wait for the connection of the changes to stand. */
  patience?: number;
  /** Milliseconds that one of the servers may be behind another. */
  margin?: number;
}

/** Keeps a catalog at what a Fairlead server holds. */
export class FairleadEntityProvider implements EntityProvider {
  private readonly ending = new AbortController();
  private running = Promise.resolve();

  constructor(private readonly options: ProviderOptions) {}

  getProviderName(): string {
    return `fairlead-provider:${this.options.id}`;
  }

  /** Starts to feed the catalog, which does not wait for it. */
  async connect(catalog: EntityProviderConnection): Promise<void> {
    const { url, source, logger, schedule } = this.options;
    const name = this.getProviderName();
    const provided = await this.options.provided(name);
    const origin = { url, locationKey: name };
    const feed = new Feed({ source, catalog, provided, origin, logger });
    const worker = new Worker(feed, logger);
    this.running = worker.run(this.ending.signal);
    this.follow(worker);
    worker.everything();
    await schedule.run({
      id: `${name}:reconcile`,
      fn: async () => worker.everything(),
    });
  }

  /** Ends; resolves when nothing of it runs any more. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.running;
  }

  /** Follows changes; what has changed since this was called is told, too. */
  private follow(worker: Worker) {
    const { url, source, logger, patience = 5_000 } = this.options;
    const late = setTimeout(() => {
      logger.warn(
        `Changes of ${url} do not arrive (is there a proxy for requests alone?); until they do, everything is read by the schedule`,
      );
    }, patience);
    const end = source.follow({
      changed: refs => this.changed(worker, refs),
      everything: () => worker.everything(),
      refused: error =>
        logger.warn(`${url} does not tell of changes: ${error.message}`),
      live: now => {
        clearTimeout(late);
        if (now) logger.info(`Changes of ${url} arrive`);
        else logger.warn(`The connection to ${url} broke; it is made anew`);
      },
    });
    this.ending.signal.addEventListener('abort', () => {
      clearTimeout(late);
      end();
    });
  }

  /**
   * Has what changed read, and once more when every server knows of it: another
   * one than told of it may answer.
   */
  private async changed(worker: Worker, refs: string[]) {
    worker.changed(refs);
    const { signal } = this.ending;
    const wait = this.options.margin ?? margin;
    await sleep(wait, undefined, { signal }).catch(() => {});
    worker.changed(refs);
  }
}
