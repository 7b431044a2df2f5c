type Answer = { at: number; answer: Promise<unknown> };

/**
 * Lets those share one answer who ask the same shortly after one another, as the
 * cards of a page do.
 */
export class Shared {
  private readonly answers = new Map<string, Answer>();

  /** Answers are shared for so many milliseconds from their question on. */
  constructor(private readonly lasting: number) {}

  /** Asks, or gives a copy of what another was answered. */
  get(key: string, ask: () => Promise<unknown>): Promise<unknown> {
    const at = Date.now();
    this.answers.forEach((one, old) => {
      if (at - one.at >= this.lasting) this.answers.delete(old);
    });
    const shared = this.answers.get(key);
    if (shared) return shared.answer.then(structuredClone);
    const answer = ask();
    this.answers.set(key, { at, answer });
    answer.catch(() => {
      if (this.answers.get(key)?.answer === answer) this.answers.delete(key);
    });
    return answer;
  }

  /** Has everything be asked anew. */
  clear() {
    this.answers.clear();
  }
}
