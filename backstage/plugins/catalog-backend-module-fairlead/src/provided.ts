import type { DatabaseService } from '@backstage/backend-plugin-api';

/**
 * Remembers, also while no back end runs, what a provider has given to the
 * catalog, and so what of it Fairlead holds no longer.
 */
export interface Provided {
  /** References of all that was given. */
  all(): Promise<string[]>;
  /** Those of some references that were given. */
  of(refs: string[]): Promise<string[]>;
  /** Notes references; to be called before they are given. */
  add(refs: string[]): Promise<void>;
  /** Forgets references; to be called after they were taken away. */
  remove(refs: string[]): Promise<void>;
}

const table = 'fairlead_provided';
const batch = 200; // rows in one statement

const batches = (refs: string[]) =>
  Array.from({ length: Math.ceil(refs.length / batch) }, (_, i) =>
    refs.slice(i * batch, (i + 1) * batch),
  );

/** Remembers in a table of its own, beside the catalog's. */
export async function openProvided(
  database: DatabaseService,
  provider: string,
): Promise<Provided> {
  const db = await database.getClient();
  if (!(await db.schema.hasTable(table))) {
    try {
      await db.schema.createTable(table, columns => {
        columns.string('provider').notNullable();
        columns.string('entity_ref').notNullable();
        columns.primary(['provider', 'entity_ref']);
      });
    } catch (error) {
      // Another replica may have been quicker.
      if (!(await db.schema.hasTable(table))) throw error;
    }
  }
  return {
    all: () => db(table).where({ provider }).pluck('entity_ref'),
    async of(refs) {
      const found: string[] = [];
      for (const some of batches(refs)) {
        const query = db(table).where({ provider });
        found.push(
          ...(await query.whereIn('entity_ref', some).pluck('entity_ref')),
        );
      }
      return found;
    },
    async add(refs) {
      for (const some of batches(refs)) {
        await db(table)
          .insert(some.map(entity_ref => ({ provider, entity_ref })))
          .onConflict(['provider', 'entity_ref'])
          .ignore();
      }
    },
    async remove(refs) {
      for (const some of batches(refs)) {
        await db(table)
          .where({ provider })
          .whereIn('entity_ref', some)
          .delete();
      }
    },
  };
}
