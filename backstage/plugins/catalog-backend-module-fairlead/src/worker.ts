import type { LoggerService } from '@backstage/backend-plugin-api';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a worker does. */
export interface Work {
  everything(signal: AbortSignal): Promise<void>;
  some(refs: string[], signal: AbortSignal): Promise<void>;
}

const many = 2_000; // with more references than that, everything is read
const longest = 60_000; // milliseconds between two attempts

/**
 * Does one thing after the other, what came meanwhile at once, and what failed
 * again after a while. So the last thing done to an entity is of its last change.
 */
export class Worker {
  private readonly refs = new Set<string>();
  private all = false;
  private wake = () => {};

  constructor(
    private readonly work: Work,
    private readonly logger: LoggerService,
    /** Milliseconds before the first new attempt. */
    private readonly first = 1_000,
  ) {}

  /** Has everything read. */
  everything() {
    this.all = true;
    this.refs.clear();
    this.wake();
  }

  /** Has these entities read. */
  changed(refs: string[]) {
    if (this.all) return;
    refs.forEach(ref => this.refs.add(ref));
    if (this.refs.size > many) this.everything();
    this.wake();
  }

  /** Works until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.wake());
    let wait = this.first;
    while (!signal.aborted) {
      if (!this.all && this.refs.size === 0) {
        await new Promise<void>(resolve => (this.wake = resolve));
        continue;
      }
      if (await this.once(signal)) {
        wait = this.first;
        continue;
      }
      const random = wait * (0.5 + Math.random());
      await sleep(random, undefined, { signal }).catch(() => {});
      wait = Math.min(wait * 2, longest);
    }
  }

  private async once(signal: AbortSignal): Promise<boolean> {
    const all = this.all;
    const refs = [...this.refs];
    this.all = false;
    this.refs.clear();
    try {
      await (all ? this.work.everything(signal) : this.work.some(refs, signal));
      return true;
    } catch (error) {
      if (all) this.everything();
      else this.changed(refs);
      if (!signal.aborted) {
        this.logger.warn(
          `Reading Fairlead failed and is tried again: ${error}`,
        );
      }
      return false;
    }
  }
}
