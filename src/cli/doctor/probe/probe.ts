import type { Finding } from '../finding.js';

/** One gap of the interface and how it is looked into; `ask` throws what the sender throws. */
export interface Probe {
  check: string;
  ask(): Promise<Finding>;
}

/** What the probes learn of the service for each other and for the configuration. */
export interface ProbeFacts {
  /** What the service says of the key; null when it did not say. */
  mode: 'test' | 'live' | null;
  /** The search's name field; `isProven` when a search with it was answered with the name's echo. */
  nameField: { name: string; isProven: boolean };
}
