import {
  parseEntityRef,
  stringifyEntityRef,
  type CompoundEntityRef,
} from '@backstage/catalog-model';

/** Entities that changed together. */
export interface Change {
  changed: readonly string[];
  removed: readonly string[];
  /** There were too many to name. */
  many: boolean;
}

/** A question that was put to the catalog, and what it answered last. */
export interface Asked {
  method: string;
  args: unknown[];
  answer: unknown;
  /** The answer as a text, to see whether another one differs. */
  text: string;
  /** The entities that it is about, or that were found. */
  refs: Set<string>;
  /** The kinds whose entities may be found anew; undefined for all of them. */
  kinds?: Set<string>;
}

const lists = ['getEntities', 'queryEntities', 'streamEntities'];
const counts = ['getEntityFacets'];
const single = ['getEntityByRef', 'getEntitiesByRefs', 'getEntityAncestors'];

/** The questions whose answers are kept as long as they are on a page. */
export const questions = new Set([...lists, ...counts, ...single]);

/** Names a question. */
export const keyOf = (method: string, args: unknown[]) =>
  `${method} ${JSON.stringify(args[0])}`;

const lower = (ref: string | CompoundEntityRef) => {
  try {
    return stringifyEntityRef(
      typeof ref === 'string' ? parseEntityRef(ref) : ref,
    );
  } catch {
    return String(ref).toLocaleLowerCase('en-US');
  }
};

/** Finds the references of the entities anywhere in an answer. */
function collect(value: any, refs: Set<string>) {
  if (Array.isArray(value)) {
    value.forEach(item => collect(item, refs));
  } else if (value?.kind && value?.metadata?.name) {
    refs.add(stringifyEntityRef(value));
  } else if (value && typeof value === 'object') {
    collect(value.items ?? value.entity, refs);
  }
}

/** The references that are asked for by name. */
function named(method: string, request: any): string[] {
  if (method === 'getEntityByRef') return [lower(request)];
  if (method === 'getEntityAncestors') return [lower(request.entityRef)];
  if (method === 'getEntitiesByRefs') return request.entityRefs.map(lower);
  return [];
}

/** The kinds that a request filters by, where all of its choices name some. */
function kindsOf(request: any): Set<string> | undefined {
  const choices = [request?.filter ?? {}].flat();
  const kinds = choices.map(choice =>
    Object.entries(choice as object)
      .filter(([key]) => key.toLowerCase() === 'kind')
      .flatMap(([, values]) => values),
  );
  const all = kinds.flat();
  const known = all.every(kind => typeof kind === 'string');
  return known && kinds.every(some => some.length > 0)
    ? new Set(all.map(kind => kind.toLowerCase()))
    : undefined;
}

/** The answer without what tells nothing, such as cursors. */
const textOf = (answer: any) =>
  JSON.stringify(answer, (key, value) =>
    key === 'pageInfo' ? undefined : value,
  ) ?? '';

/** Notes what a question was answered with. */
export function record(
  method: string,
  args: unknown[],
  answer: unknown,
): Asked {
  const refs = new Set(named(method, args[0]));
  collect(
    method === 'streamEntities' ? (answer as any[]).flat() : answer,
    refs,
  );
  return {
    method,
    args,
    answer,
    text: textOf(answer),
    refs,
    kinds: single.includes(method) ? new Set() : kindsOf(args[0]),
  };
}

/** Tells whether a change may be one of the answer. */
export function concerns(asked: Asked, change: Change): boolean {
  if (change.many) return true;
  return [...change.changed, ...change.removed].some(ref => {
    const kind = ref.slice(0, ref.indexOf(':'));
    return asked.refs.has(ref) || (asked.kinds?.has(kind) ?? true);
  });
}
