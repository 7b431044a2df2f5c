import { parseEntityRef } from '@backstage/catalog-model';

const linked = new Set(
  'api component domain group location resource system template user'.split(
    ' ',
  ),
);

/** Whether a text is the full reference of something that has a page. */
export function hasPage(text: string): boolean {
  if (!/^[a-zA-Z]+:[^/\s]+\/[^/\s]+$/.test(text)) return false;
  try {
    return linked.has(parseEntityRef(text).kind.toLocaleLowerCase('en-US'));
  } catch {
    return false;
  }
}

/** The last part of a reference, for sentences. */
export const nameOf = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1);

/** Who acts for whom, in a sentence. */
export const actorOf = (who: { subject: string; agent?: string | null }) =>
  who.agent ? `${who.agent} for ${nameOf(who.subject)}` : nameOf(who.subject);

/** The name of a field as people write it: maxFailures is "Max failures". */
export function titleOf(key: string): string {
  const words = key
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLocaleLowerCase('en-US')
    .trim();
  return words.charAt(0).toLocaleUpperCase('en-US') + words.slice(1);
}

/** The names in a sentence: "a, b or c". */
export function eitherOf(names: string[]): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} or ${names[names.length - 1]}`;
}
