/** Counts work that is under way, for whoever must wait until there is none. */
export class UnderWay {
  #count = 0;
  #waiting: (() => void)[] = [];

  /** One more piece of work begins. */
  begin(): void {
    this.#count += 1;
  }

  /** One of them has come to its end. */
  end(): void {
    this.#count -= 1;
    if (this.#count > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves as soon as nothing is under way. */
  async ended(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
