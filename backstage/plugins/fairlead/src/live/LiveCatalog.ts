import type { catalogApiRef } from '@backstage/plugin-catalog-react';
import {
  concerns,
  keyOf,
  questions,
  record,
  type Asked,
  type Change,
} from './record';
import { Shared } from './Shared';

export type CatalogApi = typeof catalogApiRef.T;

/** Milliseconds; tests make them shorter. */
export interface Pace {
  /** In which changes are looked at together. */
  together: number;
  /** From one look to the next at the least. */
  apart: number;
  /** How long a page has to ask again for what has changed. */
  handing: number;
  /** Until a look that failed, or did not find what it should, is repeated. */
  again: number;
  /** In which those who ask the same share one answer. */
  shared: number;
}

const usual: Pace = {
  together: 100,
  apart: 500,
  handing: 3_000,
  again: 1_500,
  shared: 1_000,
};
const remembered = 200; // questions; more than a page asks
const atOnce = 4; // requests of a look
const repeats = 2; // where a change does not show, as of a replica that is behind
const longest = 30_000; // milliseconds between looks that fail

/** Whether there is nothing to ask for any more, such as what is removed. */
const isRefusal = (error: { response?: { status?: number } }) =>
  [400, 403, 404, 410].includes(error?.response?.status ?? 0);

type Call = (...args: unknown[]) => unknown;

/**
 * A catalog whose answers follow its changes. It remembers what was asked. When
 * a change may be one of the answers, it asks for those anew, behind the page;
 * if one differs, it gets a new version, upon which the page asks again, and
 * answers at once from what it has. So nothing on the page is ever seen loading.
 */
export class LiveCatalog {
  private asked = new Map<string, Asked>();
  /** Keys to be asked anew, with how often again if nothing is found. */
  private doubtful = new Map<string, number>();
  private ready = new Map<string, { answer: unknown; handed: boolean }>();
  private seen: { at: number; change: Change }[] = []; // of the last minute
  private told = new Set<() => void>();
  private readonly shared: Shared;
  private first = Infinity; // when it was asked first
  private count = 0;
  private failures = 0; // in a row
  private lastLook = 0;
  private looking = false;
  private pressed = false; // of a change, since the last look began
  private timers: Partial<
    Record<'look' | 'end', ReturnType<typeof setTimeout>>
  > = {};

  constructor(
    private readonly base: CatalogApi,
    private readonly pace: Pace = usual,
    private readonly isVisible = () => document.visibilityState !== 'hidden',
  ) {
    this.shared = new Shared(pace.shared);
  }

  /** Counts the answers that have changed. */
  version = () => this.count;

  /** Calls back upon a new version, and upon the first question. */
  subscribe = (tell: () => void) => {
    this.told.add(tell);
    return () => void this.told.delete(tell);
  };

  /** Whether anything was asked yet. */
  inUse = () => this.asked.size > 0;

  /** When anything was asked first; what came before concerns no answer. */
  since = () => this.first;

  /** The catalog as of now: another object for each version. */
  api(): CatalogApi {
    return new Proxy(this.base, {
      get: (base, name) => {
        const value = Reflect.get(base, name);
        if (typeof value !== 'function') return value;
        if (!questions.has(String(name))) {
          return (...args: unknown[]) => this.act(String(name), args);
        }
        return name === 'streamEntities'
          ? (...args: unknown[]) => this.stream(args)
          : (...args: unknown[]) => this.ask(String(name), args);
      },
    });
  }

  /** Looks whether the answers have changed with the catalog. */
  changed(change: Change) {
    const now = Date.now();
    this.seen = this.seen.filter(({ at }) => now - at < 60_000);
    this.seen.push({ at: now, change });
    this.asked.forEach((asked, key) => this.doubt(key, asked, change));
    this.shared.clear();
    this.pressed = true;
    this.lookSoon();
  }

  private doubt(key: string, asked: Asked, change: Change) {
    if (!concerns(asked, change)) return;
    const sure = [...change.changed, ...change.removed].some(ref =>
      asked.refs.has(ref),
    );
    this.doubtful.set(key, sure ? repeats : 0);
  }

  /** Looks at what had to wait until the page is seen. */
  shown() {
    this.lookSoon();
  }

  /** Stops looking. */
  dispose() {
    Object.values(this.timers).forEach(clearTimeout);
    this.timers = {};
  }

  private begin() {
    const now = Date.now();
    this.first = Math.min(this.first, now);
    return now;
  }

  private call(method: string, args: unknown[]) {
    return (this.base as unknown as Record<string, Call>)[method](...args);
  }

  private async ask(method: string, args: unknown[]): Promise<unknown> {
    const key = keyOf(method, args);
    const ready = this.hand(key);
    if (ready) return ready.answer;
    return this.shared.get(key, async () => {
      const began = this.begin();
      const answer = await this.call(method, args);
      this.note(key, record(method, args, answer), began);
      return answer;
    });
  }

  /** Does what may change the answers. */
  private act(method: string, args: unknown[]) {
    const done = this.call(method, args);
    const anew = () => this.shared.clear();
    anew();
    if (done instanceof Promise) done.then(anew, anew);
    return done;
  }

  private async *stream(args: unknown[]): AsyncGenerator<unknown> {
    const key = keyOf('streamEntities', args);
    const ready = this.hand(key);
    if (ready) {
      yield* ready.answer as unknown[];
      return;
    }
    const began = this.begin();
    const pages: unknown[] = [];
    for await (const page of this.call('streamEntities', args) as any) {
      pages.push(page);
      yield page;
    }
    this.note(key, record('streamEntities', args, pages), began);
  }

  /** Gives what is ready; each who asks gets an object of their own. */
  private hand(key: string) {
    const ready = this.ready.get(key);
    if (!ready) return undefined;
    const answer = ready.handed ? structuredClone(ready.answer) : ready.answer;
    ready.handed = true;
    return { answer };
  }

  private note(key: string, asked: Asked, began: number) {
    const first = !this.inUse();
    this.asked.delete(key); // the newest is last
    this.asked.set(key, asked);
    this.doubtful.delete(key);
    const oldest = this.asked.keys().next().value;
    if (this.asked.size > remembered && oldest) this.forget(oldest);
    this.seen // it may be older than these
      .filter(({ at }) => at >= began)
      .forEach(({ change }) => this.doubt(key, asked, change));
    this.lookSoon();
    if (first) this.tell();
  }

  private forget(key: string) {
    this.asked.delete(key);
    this.doubtful.delete(key);
  }

  private tell() {
    this.told.forEach(tell => tell());
  }

  private lookSoon() {
    if (this.timers.look || this.looking || !this.doubtful.size) return;
    const { together, again, apart } = this.pace;
    const wait = this.pressed
      ? together * (1 + Math.random())
      : Math.min(again * 2 ** this.failures, longest);
    const rest = this.lastLook + apart - Date.now();
    this.timers.look = setTimeout(() => {
      this.timers.look = undefined;
      if (this.isVisible()) void this.look();
    }, Math.max(wait, rest));
  }

  private async look() {
    this.looking = true;
    this.pressed = false;
    const looked = [...this.doubtful];
    this.doubtful.clear();
    const newer = new Map<string, Asked>();
    const before = this.failures;
    const next = async () => {
      for (let one = looked.pop(); one; one = looked.pop()) {
        await this.lookAt(...one, newer);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, next));
    this.failures = this.failures > before ? before + 1 : 0;
    this.looking = false;
    this.lastLook = Date.now();
    if (newer.size) this.publish(newer);
    this.lookSoon();
  }

  private async lookAt(key: string, times: number, newer: Map<string, Asked>) {
    const asked = this.asked.get(key);
    if (!asked) return;
    const keep = (left: number) =>
      this.doubtful.set(key, Math.max(left, this.doubtful.get(key) ?? 0));
    const answer = await this.answerAnew(asked).catch(error => {
      if (isRefusal(error)) return void this.forget(key);
      this.failures++;
      return void keep(times);
    });
    if (!answer) return;
    if (answer.text !== asked.text) newer.set(key, answer);
    else if (times > 0) keep(times - 1);
  }

  private async answerAnew({ method, args }: Asked) {
    const answer = this.call(method, args);
    if (method !== 'streamEntities') return record(method, args, await answer);
    const pages: unknown[] = [];
    for await (const page of answer as any) pages.push(page);
    return record(method, args, pages);
  }

  /** Lets the page ask again, and forgets what it does not ask for any more. */
  private publish(newer: Map<string, Asked>) {
    newer.forEach(
      (asked, key) => this.asked.has(key) && this.asked.set(key, asked),
    );
    this.ready = new Map(
      [...this.asked].map(([key, { answer }]) => [
        key,
        { answer, handed: false },
      ]),
    );
    clearTimeout(this.timers.end);
    this.timers.end = setTimeout(() => {
      this.ready.forEach(({ handed }, key) => handed || this.forget(key));
      this.ready.clear();
    }, this.pace.handing);
    this.count++;
    this.tell();
  }
}
