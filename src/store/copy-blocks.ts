/** In UTF-16 units. */
const blockLength = 64 * 1_024;

/** Gathers lines of `copy` as bytes: to move thousands of living rows out of the way of the next ones takes longer than all else done to them. */
export class CopyBlocks {
  #text = '';
  #blocks: Buffer[] = [];

  add(line: string): void {
    this.#text += line;
    if (this.#text.length >= blockLength) this.#close();
  }

  /** All that was added, in order. */
  take(): readonly Buffer[] {
    if (this.#text !== '') this.#close();
    return this.#blocks;
  }

  #close(): void {
    this.#blocks.push(Buffer.from(this.#text));
    this.#text = '';
  }
}
