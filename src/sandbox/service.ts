import { createFaultScript, type FaultScript } from './faults.js';
import { type Account, makeKeys, type SandboxKeys } from './keys.js';
import { createLedger, type Ledger } from './ledger.js';
import { createDossierList, type DossierPage } from './list-dossiers.js';
import { createSearch, type SearchWatchlist } from './search-watchlist.js';
import type { SandboxWorld } from './world.js';

/** The state of one sandbox, shared by its routes. */
export interface SandboxService {
  keys: SandboxKeys;
  ledger: Ledger;
  faults: FaultScript;
  maxResults: number;
  search: SearchWatchlist;
  /** Lists the dossiers of an account; those of the main organisation, and none for another. */
  listDossiers(account: Account, query: Record<string, string>): DossierPage;
  /** Replaces everything the service knows, from the next call on. */
  setWorld(world: SandboxWorld): void;
}

/** Creates the state of one sandbox. */
export const createService = (world: SandboxWorld, maxResults: number): SandboxService => {
  const listNone = createDossierList([]);
  let listOwn = createDossierList(world.dossiers);
  const service: SandboxService = {
    keys: makeKeys(),
    ledger: createLedger(),
    faults: createFaultScript(),
    maxResults,
    search: createSearch(world.watchlist, world.ranking),
    listDossiers: (account, query) => (account === 'main' ? listOwn : listNone)(query),
    setWorld: (next) => {
      service.search = createSearch(next.watchlist, next.ranking);
      listOwn = createDossierList(next.dossiers);
    },
  };
  return service;
};
