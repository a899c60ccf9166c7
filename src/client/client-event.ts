import type { PaceEvent } from './pace/pace.js';

/** Something that whoever watches a client wants to know; no event holds customer data or a key. */
export type ClientEvent =
  | PaceEvent
  /** The key was refused, and one read again took its place; `fingerprint` is the new one's. */
  | { kind: 'key_renewed'; fingerprint: string };

/** Those who listen to a client, each as long as it likes. */
export class Listeners {
  readonly #listeners = new Set<(event: ClientEvent) => void>();

  /** Adds a listener; gives a way to stop listening. */
  add(listener: (event: ClientEvent) => void): () => void {
    // A wrapper, so that one function that listens twice is heard twice and leaves once at a time.
    const heard = (event: ClientEvent): void => tellOne(listener, event);
    this.#listeners.add(heard);
    return () => this.#listeners.delete(heard);
  }

  /** Tells all who listen; never throws, whatever they do. */
  tell(event: ClientEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

const tellOne = (listener: (event: ClientEvent) => unknown, event: ClientEvent): void => {
  // Without the error, whose text is not ours and may name a customer.
  const warn = (): void =>
    process.emitWarning(`a listener failed to hear of the event ${event.kind}`, {
      type: 'NightscreenWarning',
      code: 'listener_failed',
    });
  try {
    const heard = listener(event);
    // A function that waits fits the type too, and an unheard rejection ends the process.
    if (heard instanceof Promise) heard.catch(warn);
  } catch {
    warn();
  }
};
