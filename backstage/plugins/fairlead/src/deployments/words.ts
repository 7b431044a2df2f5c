const commit = /^[0-9a-f]{40}$/;

/** A revision as one reads it: commits by their first eight digits. */
export const short = (revision: string) =>
  revision.replace(/\b[0-9a-f]{40}\b/g, c => c.slice(0, 8));

/** Tells whether a revision is a commit alone. */
export const isCommit = (revision: string) => commit.test(revision);

const units: [string, number, string][] = [
  ['d', 86_400, 'd'],
  ['h', 3_600, 'h'],
  ['m', 60, 'min'],
  ['s', 1, 's'],
];
const parts = /(\d+(?:\.\d+)?)(ms|h|m|s)/g;
const seconds: Record<string, number> = { h: 3_600, m: 60, s: 1, ms: 0.001 };

/** A duration such as 49h2m0s in its two greatest units: "2 d 1 h". */
export function duration(text: string): string {
  let left = 0;
  for (const [, n, unit] of text.matchAll(parts)) {
    left += Number(n) * seconds[unit];
  }
  left = Math.round(left);
  const out: string[] = [];
  for (const [, size, word] of units) {
    if (left >= size && out.length < 2) {
      out.push(`${Math.floor(left / size)} ${word}`);
      left %= size;
    } else if (out.length) break;
  }
  return out.join(' ') || '0 s';
}

/** A number with at most so many digits behind the point. */
export const number = (n: number, digits = 1) =>
  n.toLocaleString('en', { maximumFractionDigits: digits });

/** An entity reference or the name of an agent, as people say it. */
export const nameOf = (ref: string) => ref.replace(/^[a-z]+:default\//, '');

/** "1 service", "2 services". */
export const plural = (n: number, word: string) =>
  `${number(n)} ${word}${n === 1 ? '' : 's'}`;
