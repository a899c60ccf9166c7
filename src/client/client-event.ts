import type { PaceEvent } from './pace/pace.js';
import { tellSafely } from './tell-safely.js';

/** Something that whoever watches a client wants to know; no event holds customer data or a key. */
export type ClientEvent =
  | PaceEvent
  /** The key was refused, and one read again took its place; `fingerprint` is the new one's. */
  | { kind: 'key_renewed'; fingerprint: string }
  /** The account has no public key: whether the private key is a test one is taken from the settings or its prefix. */
  | { kind: 'no_public_key'; isTest: boolean };

/** Those who listen to a client, each as long as it likes. */
export class Listeners {
  readonly #listeners = new Set<(event: ClientEvent) => void>();

  /** Adds a listener; gives a way to stop listening. */
  add(listener: (event: ClientEvent) => void): () => void {
    // A wrapper, so that one function that listens twice is heard twice and leaves once at a time.
    const heard = (event: ClientEvent): void => tellSafely(listener, event);
    this.#listeners.add(heard);
    return () => this.#listeners.delete(heard);
  }

  /** Tells all who listen; never throws, whatever they do. */
  tell(event: ClientEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
