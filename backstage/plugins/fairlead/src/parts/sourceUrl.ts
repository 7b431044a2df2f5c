/** A place in a file of a repository. */
export interface Place {
  repo?: string | null;
  commit?: string | null;
  path?: string | null;
  line?: number | null;
}

type Style = (at: {
  repo: string;
  commit: string;
  path: string;
  line?: number | null;
}) => string;

const hash = (prefix: string, line?: number | null) =>
  line ? `#${prefix}${line}` : '';

/** How hosts write the address of a file at a commit. */
const styles: Record<string, Style> = {
  github: ({ repo, commit, path, line }) =>
    `${repo}/blob/${commit}/${path}${hash('L', line)}`,
  gitlab: ({ repo, commit, path, line }) =>
    `${repo}/-/blob/${commit}/${path}${hash('L', line)}`,
  gitea: ({ repo, commit, path, line }) =>
    `${repo}/src/commit/${commit}/${path}${hash('L', line)}`,
  bitbucket: ({ repo, commit, path, line }) =>
    `${repo}/src/${commit}/${path}${hash('lines-', line)}`,
  azure: ({ repo, commit, path, line }) =>
    `${repo}?path=/${path}&version=GC${commit}${
      line ? `&line=${line}&lineEnd=${line + 1}&lineStartColumn=1` : ''
    }`,
};

/** Tells the style by an address of the same host that Fairlead made. */
const styleOf: [RegExp, string][] = [
  [/\/-\/(blob|tree)\//, 'gitlab'],
  [/\/(blob|tree)\//, 'github'],
  [/\/src\/(branch|commit)\//, 'gitea'],
];

const knownHosts: [RegExp, string][] = [
  [/(^|\.)github\./, 'github'],
  [/(^|\.)gitlab\./, 'gitlab'],
  [/(^|\.)(gitea|forgejo|codeberg)\./, 'gitea'],
  [/(^|\.)bitbucket\.org$/, 'bitbucket'],
  [/(^|\.)(dev\.azure\.com|visualstudio\.com)$/, 'azure'],
];

function parse(url?: string | null): URL | undefined {
  try {
    return url ? new URL(url) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The page at the repository's host that shows a place in a file, or undefined
 * where that is not known. The address of another file may tell what host it is.
 */
export function sourceUrl(place: Place, like?: string | null) {
  const url = parse(place.repo);
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  if (!place.commit || !place.path) return undefined;
  const same = parse(like?.replace(/^url:/, ''));
  const name =
    (same?.host === url.host &&
      styleOf.find(([is]) => is.test(same.pathname))?.[1]) ||
    knownHosts.find(([is]) => is.test(url.hostname))?.[1];
  if (!name) return undefined;
  const path = url.pathname.replace(/\/+$/, '').replace(/\.git$/, '');
  return styles[name]({
    repo: `${url.protocol}//${url.host}${path}`,
    commit: place.commit,
    path: place.path.split('/').map(encodeURIComponent).join('/'),
    line: place.line,
  });
}

/** A place as people write it, for example catalog-info.yaml:12. */
export const placeText = ({ path, line }: Place, column?: number | null) =>
  [path, line, line && column].filter(Boolean).join(':');
