/** Runs one piece of work after the other, in the order in which they came. */
export class RunQueue {
  #last: Promise<void> = Promise.resolve();
  readonly #waiting = new Set<string>();

  /** Queues work under a name; false when work of that name is already waiting. `work` must not throw. */
  add(name: string, work: () => Promise<void>): boolean {
    if (this.#waiting.has(name)) return false;
    this.#waiting.add(name);
    this.#last = this.#last.then(() => {
      this.#waiting.delete(name);
      return work();
    });
    return true;
  }

  /** Resolves when everything queued so far has ended. */
  async drain(): Promise<void> {
    await this.#last;
  }
}
