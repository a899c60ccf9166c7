import type { Account } from '../../store/organisations.js';

/** A service account with what watching it has shown so far. */
export interface WatchedAccount extends Account {
  /** The length at which its lists are known to be cut without a word; null when none is known. */
  listCap: number | null;
}
