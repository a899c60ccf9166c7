import { createDossierBook, type DossierBook } from './dossiers/dossier-book.js';
import { createMediaLinks, type MediaLinks } from './dossiers/media-links.js';
import { createListedIndex, type FindListed } from './find-listed.js';
import type { Invitation } from './invitations/invitation.js';
import { createInvitationBook, type InvitationBook, type InvitationMove } from './invitations/invitation-book.js';
import { type AdmitResend, createResendThrottle } from './invitations/resend-throttle.js';
import { createKeyRing, type KeyOwner, type KeyRing } from './keys.js';
import { createLedger, type Ledger } from './ledger.js';
import { createSandboxClock, type SandboxClock } from './sandbox-clock.js';
import { createSearch, type SearchWatchlist } from './search-watchlist.js';
import { createSessionBook, type SessionBook } from './sessions/session-book.js';
import { createFaultScript, type FaultScript } from './trouble/faults.js';
import { createWeatherStation, type WeatherStation } from './trouble/weather.js';
import type { SandboxWorld } from './world.js';

/** The state of one sandbox, shared by its routes. */
export interface SandboxService {
  clock: SandboxClock;
  keyRing: KeyRing;
  ledger: Ledger;
  faults: FaultScript;
  weather: WeatherStation;
  maxResults: number;
  search: SearchWatchlist;
  findListed: FindListed;
  media: MediaLinks;
  sessions: SessionBook;
  admitResend: AdmitResend;
  /** The dossiers of an organisation: the world's belong to the main one, those it created to each. */
  bookOf(owner: KeyOwner | undefined): DossierBook;
  invitationsOf(owner: KeyOwner | undefined): InvitationBook;
  /** Plays what happens to an invitation outside the service; undefined when there is no such invitation. */
  moveInvitation(token: string, move: InvitationMove): Invitation | undefined;
  /** Replaces lists and dossiers from the next call on; dossiers that were created are gone, invitations and sessions stay. */
  setWorld(world: SandboxWorld): void;
}

/** Creates the state of one sandbox. */
export const createService = (world: SandboxWorld, maxResults: number): SandboxService => {
  const clock = createSandboxClock();
  let books = { main: createDossierBook(world.dossiers), other: createDossierBook([]) };
  const invitations = { main: createInvitationBook(clock), other: createInvitationBook(clock) };
  const service: SandboxService = {
    clock,
    keyRing: createKeyRing(),
    ledger: createLedger(),
    faults: createFaultScript(),
    weather: createWeatherStation(),
    maxResults,
    search: createSearch(world.watchlist, world.ranking),
    findListed: createListedIndex(world.watchlist),
    media: createMediaLinks(clock),
    sessions: createSessionBook(clock),
    admitResend: createResendThrottle(),
    bookOf: (owner) => books[owner?.account ?? 'other'],
    invitationsOf: (owner) => invitations[owner?.account ?? 'other'],
    moveInvitation: (token, move) => {
      const invitation = invitations.main.find(token);
      if (invitation) invitations.main.move(invitation, move);
      return invitation;
    },
    setWorld: (next) => {
      service.search = createSearch(next.watchlist, next.ranking);
      service.findListed = createListedIndex(next.watchlist);
      books = { main: createDossierBook(next.dossiers), other: createDossierBook([]) };
    },
  };
  return service;
};
