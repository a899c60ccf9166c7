import { type AmlDesk, createAmlDesk } from './aml.js';
import {
  createDossierBook,
  type DossierBook,
  type DossierChange,
  dossierChangeSchema,
} from './dossiers/dossier-book.js';
import { createEventDesk, type EventDesk } from './events.js';
import { createInvitationDesk, type InvitationDesk } from './invitations.js';
import { createKeyRing, type KeyOwner, type KeyRing, type Mode } from './keys.js';
import { createLedger, type Ledger } from './ledger.js';
import { createMediaDesk, type MediaDesk } from './media.js';
import { createSandboxClock, type SandboxClock } from './sandbox-clock.js';
import { createSessionDesk, type SessionDesk } from './sessions.js';
import { createFaultScript, type FaultScript } from './trouble/faults.js';
import { createWeatherStation, type WeatherStation } from './trouble/weather.js';
import type { SandboxWorld } from './world.js';

/** What the dossier list answers to a cursor whose dossier is gone; the interface leaves it open. */
export type MissingCursor = 'empty_page' | 'not_found';

/** The state of one sandbox, shared by its routes. */
export interface SandboxService {
  clock: SandboxClock;
  keyRing: KeyRing;
  ledger: Ledger;
  faults: FaultScript;
  weather: WeatherStation;
  aml: AmlDesk;
  media: MediaDesk;
  sessions: SessionDesk;
  invitations: InvitationDesk;
  events: EventDesk;
  missingCursor: MissingCursor;
  /** The dossiers of a key: those of the world belong to the main organisation, those that a key created to its own. */
  bookOf(owner: Pick<KeyOwner, 'account' | 'mode'> | undefined): DossierBook;
  /** Does changes in order, each when it is due, and gives the ids of their dossiers; throws at the first that fails. */
  changeDossiers(changes: readonly DossierChange[]): string[];
  /** A dossier of the main organisation, test or live. */
  findDossier: DossierBook['find'];
  /** Replaces lists and dossiers from the next call on; dossiers that were created are gone, invitations and sessions stay. */
  setWorld(world: SandboxWorld): void;
}

/** Creates the state of one sandbox; `origin` is where it listens. */
export const createService = (maxResults: number, origin: () => string): SandboxService => {
  const clock = createSandboxClock();
  const keyRing = createKeyRing();
  const aml = createAmlDesk(maxResults);
  const events = createEventDesk(clock, aml.screen, origin);
  const createMainBook = (mode: Mode): DossierBook =>
    createDossierBook(mode, clock, (before, after) => {
      events.hear(mode, before, after);
      if (after) invitations.hear(after);
    });
  const main = { test: createMainBook('test'), live: createMainBook('live') };
  const other = createDossierBook('test', clock, () => undefined);
  const invitations = createInvitationDesk(clock, keyRing.keys.workflowToken, main);
  return {
    clock,
    keyRing,
    aml,
    events,
    invitations,
    ledger: createLedger(),
    faults: createFaultScript(),
    weather: createWeatherStation(),
    media: createMediaDesk(clock),
    sessions: createSessionDesk(clock, keyRing.keys.kycLevel),
    missingCursor: 'empty_page',
    bookOf: (owner) => (owner?.account === 'main' ? main[owner.mode] : other),
    changeDossiers: (changes) => {
      const orders = changes.map((change) => dossierChangeSchema.parse(change));
      return orders.map((order) => main[order.mode].change(order));
    },
    findDossier: (idOrToken) => main.test.find(idOrToken) ?? main.live.find(idOrToken),
    setWorld: (world) => {
      aml.setWorld(world);
      main.test.replace(world.dossiers.filter((dossier) => dossier.is_test));
      main.live.replace(world.dossiers.filter((dossier) => !dossier.is_test));
      other.replace([]);
    },
  };
};
