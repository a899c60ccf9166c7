import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Hono } from 'hono';
import { z } from 'zod';
import { answerError, type CallEnv } from './calls.js';
import { createDossierBook, type DossierBook, type DossierChange, dossierChangeSchema } from './dossier-book.js';
import { createEventDesk, type EventDesk } from './events.js';
import { createInvitationDesk, type InvitationDesk } from './invitations.js';
import { createKeyRing, type KeyOwner, type KeyRing, type Mode } from './keys.js';
import { createLedger, type Ledger } from './ledger.js';
import { createSandboxClock, type SandboxClock } from './sandbox-clock.js';
import { createSearch, type SearchWatchlist } from './search-watchlist.js';
import { createSessionDesk, QR_IMAGE_BASE64, type SessionDesk } from './sessions.js';
import { createFaultScript, createWeatherStation, type FaultScript, type WeatherStation } from './trouble.js';
import type { SandboxWorld, WatchlistEntry } from './world.js';

const searchSchema = z.object({
  type: z.enum(['person', 'entity']),
  name: z.string().regex(/\S/, 'must not be blank'),
});

/** The AML search of a sandbox. */
interface AmlDesk {
  /** The results of a name that an answer carries. */
  screen: SearchWatchlist;
  /** Replaces the lists. */
  setWorld(world: SandboxWorld): void;
  /** Adds the search and the look-up of an AML activity (interface: AML search, single-record lookups). */
  addRoutes(routes: Hono<CallEnv>): void;
}

/** Creates a desk without lists. An answer carries `maxResults` at most; its `total` counts all. */
const createAmlDesk = (maxResults: number): AmlDesk => {
  let watchlist: readonly WatchlistEntry[] = [];
  let search = createSearch(watchlist);
  let byId: Map<string, WatchlistEntry> | undefined;
  return {
    screen: (type, name) => search(type, name).slice(0, maxResults),
    setWorld: (world) => {
      watchlist = world.watchlist;
      search = createSearch(watchlist, world.ranking);
      byId = undefined;
    },
    addRoutes: (routes) => {
      routes.post('/aml/search', (context) => {
        const request = searchSchema.safeParse(context.var.body);
        if (!request.success) return answerError(context, 400, z.prettifyError(request.error));
        const { type, name } = request.data;
        const found = search(type, name);
        context.var.entry.worked = true;
        return context.json({ query: name, type, total: found.length, results: found.slice(0, maxResults) }, 201);
      });

      // Lists are the same for everybody, and so are the ids that a search gives: a match can be looked up by each organisation.
      routes.get('/aml/activity/:id', (context) => {
        const id = context.req.param('id');
        byId ??= new Map(watchlist.map((entry) => [entry.id, entry]));
        const listed = id.startsWith('amla_') ? byId.get(id) : undefined;
        if (!listed) return answerError(context, 404, 'No such record in this organisation.');
        context.var.entry.worked = true;
        return context.json(listed);
      });
    },
  };
};

const LIFETIME_MS = 5 * 60_000;
const MEDIA_PATH = '/_sandbox/media';

/** Presigned links and the download behind them (interface: Limits, media URL lifetime). */
interface MediaDesk {
  /** A link to an asset below `origin` that opens it for five minutes of the sandbox's clock. */
  sign(origin: string, asset: string): string;
  /** Adds the download: a small PNG, or 403 once the link has expired or was altered. */
  addRoutes(app: Hono<CallEnv>): void;
}

/** Creates links that only this sandbox accepts. */
const createMediaDesk = (clock: SandboxClock): MediaDesk => {
  const secret = randomBytes(32);
  const image = Buffer.from(QR_IMAGE_BASE64, 'base64');
  const toSignature = (asset: string, expires: string): Buffer =>
    createHmac('sha256', secret).update(`${asset} ${expires}`).digest();
  return {
    sign: (origin, asset) => {
      const expires = String(clock.nowMs() + LIFETIME_MS);
      return `${origin}${MEDIA_PATH}/${asset}?expires=${expires}&signature=${toSignature(asset, expires).toString('hex')}`;
    },
    addRoutes: (app) => {
      app.get(`${MEDIA_PATH}/:asset`, (context) => {
        const { expires = '', signature = '' } = context.req.query();
        const expected = toSignature(context.req.param('asset'), expires);
        const presented = Buffer.from(signature, 'hex');
        const isGenuine = presented.length === expected.length && timingSafeEqual(presented, expected);
        if (!isGenuine || clock.nowMs() >= Number(expires)) {
          return answerError(context, 403, 'The link has expired or was altered.');
        }
        return context.body(image, 200, { 'Content-Type': 'image/png' });
      });
    },
  };
};

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
