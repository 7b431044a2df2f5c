/**
 * Scripts that a page asks for one after another, each once the one before has
 * run, are fetched together and at the start where it is known from the last
 * visit which they are.
 */

declare const __webpack_chunk_load__:
  | ((id: string) => Promise<unknown>)
  | undefined;

const key = 'fairlead.chunks';
const most = 150; // of a kind of page
const usual = 'catalog'; // entities' pages, where most go next
const quiet = 2_000; // milliseconds without another chunk

/** The chunks that pages have asked for, by the first step of their paths. */
interface Known {
  /** The build that they are of. */
  build: string;
  pages: Record<string, string[]>;
}

type Load = (id: string) => Promise<unknown>;

const kindOf = (path: string) => path.split('/')[1] ?? '';

/** The number of a chunk by its script's address; undefined for other files. */
export const chunkOf = (url: string) =>
  /\/(\d+)\.[0-9a-f]+\.chunk\.js$/.exec(url)?.[1];

function read(storage: Storage, build: string): Known {
  try {
    const known = JSON.parse(storage.getItem(key) ?? '');
    const pages = Object.entries<string[]>(known.pages).filter(([, ids]) =>
      Array.isArray(ids),
    );
    if (known.build === build)
      return { build, pages: Object.fromEntries(pages) };
  } catch {
    // there is none, or it is not ours
  }
  return { build, pages: {} };
}

/** Remembers the chunks of pages, and fetches those that a page will want. */
export class Chunks {
  private readonly known: Known;
  private readonly fetched = new Set<string>();

  constructor(
    private readonly storage: Storage,
    build: string,
    private readonly load: Load,
  ) {
    this.known = read(storage, build);
  }

  /** Fetches what pages of this kind asked for before. */
  fetch(path: string) {
    for (const id of this.known.pages[kindOf(path)] ?? []) {
      if (this.fetched.has(id)) continue;
      this.fetched.add(id);
      this.load(id).catch(() => {}); // who needs it asks again, and is told
    }
  }

  /** Notes that a page has asked for a chunk. */
  note(path: string, id: string) {
    if (this.fetched.has(id)) return;
    this.fetched.add(id);
    const kind = kindOf(path);
    const ids = this.known.pages[kind] ?? [];
    if (ids.includes(id) || ids.length >= most) return;
    this.known.pages[kind] = [...ids, id];
  }

  /** Keeps what has been noted. */
  keep() {
    try {
      this.storage.setItem(key, JSON.stringify(this.known));
    } catch {
      // the browser keeps nothing
    }
  }
}

/** Has the chunks of pages fetched early in this browser. */
export function fetchChunksEarly() {
  const main = document.querySelector<HTMLScriptElement>(
    'script[src*="/static/main."]',
  );
  if (!main || typeof __webpack_chunk_load__ === 'undefined') return;
  const root = new URL(main.src).pathname.replace(/\/static\/.*/, '');
  const path = () => window.location.pathname.slice(root.length);
  const chunks = new Chunks(
    window.localStorage,
    main.src,
    __webpack_chunk_load__,
  );
  chunks.fetch(path());
  let timer: ReturnType<typeof setTimeout> | undefined;
  const rest = () => {
    chunks.keep();
    chunks.fetch(`/${usual}`);
  };
  new PerformanceObserver(list => {
    for (const { name } of list.getEntries()) {
      const id = chunkOf(name);
      if (id) chunks.note(path(), id);
    }
    clearTimeout(timer);
    timer = setTimeout(rest, quiet);
  }).observe({ type: 'resource', buffered: true });
}
