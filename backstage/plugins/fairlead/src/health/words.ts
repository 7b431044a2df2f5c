import { parseEntityRef } from '@backstage/catalog-model';
import { humanizeEntityRef } from '@backstage/plugin-catalog-react';

/** Counts things, for example "1 file" and "2 files". */
export const counted = (n: number, one: string, many = `${one}s`) =>
  `${n} ${n === 1 ? one : many}`;

/** An owner's name as people write it, for example payments. */
export function ownerName(ref?: string | null): string {
  if (!ref) return 'nobody';
  try {
    return humanizeEntityRef(parseEntityRef(ref), { defaultKind: 'group' });
  } catch {
    return ref;
  }
}
