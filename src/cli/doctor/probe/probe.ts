import type { Finding } from '../finding.js';

/** One gap of the interface and how it is looked into; `ask` throws what the sender throws. */
export interface Probe {
  check: string;
  ask(): Promise<Finding>;
}

/** What the probes learn of the service for each other and for the configuration. */
export interface ProbeFacts {
  /** The mode in which service, key and settings agree; null when they do not, or the service did not say: then nothing is searched. */
  mode: 'test' | 'live' | null;
  /** False when the path that every account has is unknown there, so that no other answer means anything. */
  isService: boolean;
  /** The search's name field; `isProven` when a search with it was answered with the name's echo. */
  nameField: { name: string; isProven: boolean };
}
