import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyEntityRef, type Entity } from '@backstage/catalog-model';
import type {
  EntityProviderConnection,
  EntityProviderMutation,
} from '@backstage/plugin-catalog-node';
import type { Provided } from '../provided';
import type { Listener, Source } from '../source';

export const component = (name: string, more: object = {}): Entity => ({
  apiVersion: 'backstage.io/v1alpha1',
  kind: 'Component',
  metadata: { namespace: 'default', name, ...more },
  spec: { type: 'service', lifecycle: 'production', owner: 'shop' },
});

export const refOf = (name: string) => `component:default/${name}`;

/** Keeps what was logged, by level. */
export function logs() {
  const said: string[] = [];
  const say = (level: string) => (text: string) => {
    said.push(`${level}: ${text}`);
  };
  const logger = {
    info: say('info'),
    warn: say('warn'),
    debug: say('debug'),
    error: say('error'),
    child: () => logger,
  } as unknown as LoggerService;
  return { logger, said };
}

/** A catalog that keeps what it is given, and may refuse some of it. */
export class FakeCatalog implements EntityProviderConnection {
  readonly entities = new Map<string, Entity>();
  readonly mutations: EntityProviderMutation[] = [];
  refuses = (_: Entity): boolean => false;
  down = false;

  async applyMutation(mutation: EntityProviderMutation) {
    if (this.down) throw new Error('the database is down');
    if (mutation.type === 'full') throw new Error('nothing needs that');
    if (mutation.added.some(({ entity }) => this.refuses(entity))) {
      throw new Error('refused');
    }
    this.mutations.push(mutation);
    for (const one of mutation.removed) {
      if ('entityRef' in one) this.entities.delete(one.entityRef);
    }
    for (const { entity } of mutation.added) {
      this.entities.set(stringifyEntityRef(entity), entity);
    }
  }
  async refresh() {}
  names() {
    return [...this.entities.values()].map(e => e.metadata.name).sort();
  }
}

/** A server whose catalog a test sets. */
export class FakeSource implements Source {
  entities: Entity[] = [];
  pageSize = 500;
  reads = 0;
  /** References that were asked for, by request. */
  readonly asked: string[][] = [];
  /** Readings of everything before anybody listened. */
  readBefore?: number;
  failing?: Error;
  unready?: Error;
  listener?: Listener;

  async ready() {
    if (this.unready) throw this.unready;
  }
  async *pages() {
    this.reads++;
    if (this.failing) throw this.failing;
    for (let i = 0; i < this.entities.length; i += this.pageSize) {
      yield this.entities.slice(i, i + this.pageSize);
    }
  }
  async named(refs: string[]) {
    this.asked.push(refs);
    if (this.failing) throw this.failing;
    const all = new Map(this.entities.map(e => [stringifyEntityRef(e), e]));
    return refs.map(ref => all.get(ref));
  }
  follow(listener: Listener) {
    this.listener = listener;
    this.readBefore = this.reads;
    return () => {
      this.listener = undefined;
    };
  }
}

/** Remembers in memory. */
export function memory(...refs: string[]): Provided & { refs: Set<string> } {
  const kept = new Set(refs);
  return {
    refs: kept,
    all: async () => [...kept],
    of: async some => some.filter(ref => kept.has(ref)),
    add: async some => some.forEach(ref => kept.add(ref)),
    remove: async some => some.forEach(ref => kept.delete(ref)),
  };
}

/** Waits until something holds. */
export async function until(holds: () => boolean) {
  for (let i = 0; !holds(); i++) {
    if (i > 1_000) throw new Error('it does not come to hold');
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}
