import { once } from 'node:events';
import { createServer } from 'node:http';
import { isIP } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { z } from 'zod';
import { addControl, answerError, type CallEnv, Ledger, noteWork, recordCall, requireKey } from './calls.js';
import { createMainBooks, DossierBook } from './dossier-book.js';
import { createDossierDesk } from './dossiers.js';
import { createEventDesk } from './events.js';
import { createInvitationDesk } from './invitations.js';
import { KeyRing } from './keys.js';
import { SandboxClock } from './sandbox-clock.js';
import { createSearch } from './search-watchlist.js';
import { createSessionDesk } from './sessions.js';
import { createTrouble } from './trouble.js';
import { loadWorld, rankingSchema, type SandboxWorld, type WatchlistEntry } from './world.js';

const searchSchema = z.object({
  type: z.enum(['person', 'entity']),
  name: z.string().regex(/\S/, 'must not be blank'),
});

/** The AML search of a sandbox, at first without lists. An answer has at most `maxResults`; its `total` counts all. */
const createAmlDesk = (maxResults: number) => {
  let watchlist: readonly WatchlistEntry[] = [];
  let search = createSearch(watchlist);
  let byId: Map<string, WatchlistEntry> | undefined;
  return {
    /** The results for a name, as in an answer. */
    screen: (type: 'person' | 'entity', name: string) => search(type, name).slice(0, maxResults),
    setWorld: (world: SandboxWorld): void => {
      watchlist = world.watchlist;
      search = createSearch(watchlist, world.ranking);
      byId = undefined;
    },
    /** Adds the search and the look-up of an AML activity (interface: AML search, single-record lookups). */
    addRoutes: (routes: Hono<CallEnv>): void => {
      routes.post('/aml/search', (context) => {
        const request = searchSchema.safeParse(context.var.body);
        if (!request.success) return answerError(context, 400, z.prettifyError(request.error));
        const { type, name } = request.data;
        const found = search(type, name);
        return context.json({ query: name, type, total: found.length, results: found.slice(0, maxResults) }, 201);
      });

      // Lists and ids are the same for all organisations, so each of them can look up a match.
      routes.get('/aml/activity/:id', (context) => {
        const id = context.req.param('id');
        byId ??= new Map(watchlist.map((entry) => [entry.id, entry]));
        const listed = id.startsWith('amla_') ? byId.get(id) : undefined;
        if (!listed) return answerError(context, 404, 'No such record in this organisation.');
        return context.json(listed);
      });
    },
  };
};

/** Creates the state of one sandbox; `origin` is its address. */
export const createService = (maxResults: number, origin: () => string, privateKey?: string) => {
  const clock = new SandboxClock();
  const keyRing = new KeyRing(privateKey);
  const aml = createAmlDesk(maxResults);
  const events = createEventDesk(clock, aml.screen, origin);
  const main = createMainBooks(clock, (mode, before, after) => {
    events.hear(mode, before, after);
    if (after) invitations.hear(after);
  });
  const other = new DossierBook('test', clock);
  const invitations = createInvitationDesk(clock, keyRing.keys.workflowToken, main);
  const sessions = createSessionDesk(clock, keyRing.keys.kycLevel);
  return {
    clock,
    keyRing,
    aml,
    events,
    main,
    invitations,
    sessions,
    ledger: new Ledger(),
    trouble: createTrouble(),
    dossiers: createDossierDesk({
      clock,
      keys: keyRing.keys,
      // The dossiers of the world belong to the main organisation, those that a key created to its own.
      bookOf: (owner) => (owner?.account === 'main' ? main[owner.mode] : other),
      openSession: sessions.open,
      screen: aml.screen,
    }),
    /** Replaces lists and dossiers from the next call on; created dossiers are removed, invitations and sessions stay. */
    setWorld: (world: SandboxWorld): void => {
      aml.setWorld(world);
      main.replace(world.dossiers);
      other.replace([]);
    },
  };
};

const worldSchema = z.strictObject({
  watchlists: z.array(z.string()),
  dossiers: z.string().optional(),
  ranking: rankingSchema.optional(),
});
const clockSchema = z.strictObject({ advanceMs: z.number().min(0) });
const keysSchema = z.union([z.strictObject({ rotate: z.literal(true) }), z.strictObject({ revoke: z.literal(true) })]);

const addControls = (app: Hono<CallEnv>, service: ReturnType<typeof createService>): void => {
  const { clock, keyRing, ledger } = service;
  app.get('/_sandbox/ledger', (context) => context.json({ counts: ledger.counts(), calls: ledger.calls() }));

  app.delete('/_sandbox/ledger', (context) => {
    ledger.clear();
    return context.body(null, 204);
  });

  addControl(app, 'clock', clockSchema, (context, { advanceMs }) => {
    clock.advance(advanceMs);
    return context.json({ now: new Date(clock.nowMs()).toISOString() });
  });

  addControl(app, 'keys', keysSchema, (context, order) => {
    if ('rotate' in order) return context.json({ privateKey: keyRing.rotate() });
    keyRing.revoke();
    return context.json({ privateKey: null });
  });

  addControl(app, 'world', worldSchema, async (context, { watchlists, dossiers, ranking }) => {
    const world = await loadWorld({ watchlists, ...(dossiers === undefined ? {} : { dossiers }) });
    service.setWorld({ ...world, ...(ranking === undefined ? {} : { ranking }) });
    return context.body(null, 204);
  });

  service.trouble.addControls(app);
  service.main.addControls(app);
  service.dossiers.addControls(app);
  service.invitations.addControls(app);
  service.events.addControls(app, service.main.find);
};

const DEFAULT_MAX_RESULTS = 25;
const LOOPBACK = '127.0.0.1';

/** Starts a sandbox on the loopback interface, by default at a free port; rejects when the port is not available. */
export async function startSandbox(options: {
  port?: number;
  /** The data of the service. */
  world: SandboxWorld;
  /** The most results in an answer, default 25; `total` counts all. */
  maxResults?: number;
  /** The private test key of an earlier sandbox, whose accounts and other keys come with it; by default all are new. */
  privateKey?: string | undefined;
}) {
  let origin = '';
  const service = createService(options.maxResults ?? DEFAULT_MAX_RESULTS, () => origin, options.privateKey);
  service.setWorld(options.world);
  const listener = getRequestListener(createApp(service).fetch);
  const server = createServer((request, response) => {
    service.clock.catchUp();
    if (isOwnHost(request.headers.host)) return void listener(request, response);
    // A page of another site must not read the searches.
    response.writeHead(421, { 'content-type': 'text/plain' });
    response.end('the sandbox accepts IP addresses and localhost only\n');
  });
  server.listen(options.port ?? 0, LOOPBACK);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the sandbox has no port');
  origin = `http://${LOOPBACK}:${address.port}`;
  const { clock, dossiers, events, invitations, keyRing, ledger, main, setWorld, trouble } = service;
  return {
    ...keyRing.keys,
    /** The latest key of the main organisation in test mode. */
    get privateKey() {
      return keyRing.keys.privateKey;
    },
    /** With the version prefix: `http://127.0.0.1:PORT/v1`. */
    url: `${origin}${VERSION_PREFIX}`,
    /** Replaces lists and dossiers from the next call on; created dossiers are removed, invitations and sessions stay. */
    setWorld,
    /** Replaces the remaining faults; throws for an invalid one. */
    setFaults: trouble.setFaults,
    /** Replaces the conditions, `{}` removes them; throws for invalid ones. A matching fault comes first. */
    setConditions: trouble.setConditions,
    /** Advances the sandbox's clock; throws for a negative `ms`. */
    advanceClock: (ms: number): void => clock.advance(ms),
    /** Gives a new private test key of the main organisation; the old one is invalid from now on. */
    rotateKey: (): string => keyRing.rotate(),
    /** Revokes the main organisation's private test key, without a successor. */
    revokeKey: (): void => keyRing.revoke(),
    /** Inserts, updates and removes dossiers, at once or later, and gives their ids; throws at the first failure. */
    changeDossiers: main.change,
    /** Sets the answer of the dossier list to a cursor whose dossier was removed. */
    setMissingCursor: dossiers.setMissingCursor,
    /** The key that verifies the signatures of events, as PEM. */
    get eventKey() {
      return events.publicKey();
    },
    /** Configures which events are sent, and where; throws for invalid settings. */
    setEvents: events.configure,
    /** Makes an event of any type; throws without a URL for events. */
    makeEvent: (order: Parameters<typeof events.add>[0]) => events.add(order, main.find),
    /** Sends the held events in the given order and number; gives the number of requests. */
    deliverEvents: events.deliver,
    /** The last 10,000 events, oldest first. */
    events: events.events,
    /** Plays an event outside the service on an invitation; throws for an unknown one. */
    moveInvitation: (...move: Parameters<typeof invitations.move>): void => {
      if (!invitations.move(...move)) throw new Error('no such invitation');
    },
    /** The received calls, oldest first, at most the last 100,000. */
    ledger: () => ledger.calls(),
    /** Stops listening and ends open connections. */
    close: async (): Promise<void> => {
      clock.stop();
      events.stop();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
/**
 * A running sandbox: its address, credentials and controls. `livePrivateKey` belongs to the main organisation in live mode, `otherPrivateKey` to
 * another organisation in test mode, which has only the dossiers that it creates.
 */
export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/** Whether a `Host` is an IP literal or localhost; browsers always send one. */
function isOwnHost(host = ''): boolean {
  const name = host.replace(/:\d*$/, '').toLowerCase();
  return name === '' || name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

const VERSION_PREFIX = '/v1';

const serviceRoutes = (service: ReturnType<typeof createService>): Hono<CallEnv> => {
  const routes = new Hono<CallEnv>();
  routes.use(cors({ origin: '*', exposeHeaders: ['X-Request-Id', 'Retry-After'] }));
  routes.use(recordCall(service, VERSION_PREFIX), service.trouble.apply, noteWork, requireKey);
  service.aml.addRoutes(routes);
  service.dossiers.addRoutes(routes);
  service.invitations.addRoutes(routes);
  service.sessions.addRoutes(routes);
  routes.get('/api_keys/public', (context) => {
    const { owner } = context.var;
    return context.json({ public_key: owner?.publicKey, is_test: owner?.mode === 'test' });
  });
  routes.all('*', (context) => answerError(context, 404, 'No such operation.'));
  return routes;
};

/** The sandbox's HTTP application: the service's interface below the version prefix, and the controls below `/_sandbox`. */
export const createApp = (service: ReturnType<typeof createService>): Hono<CallEnv> => {
  const app = new Hono<CallEnv>();
  app.route(VERSION_PREFIX, serviceRoutes(service));
  addControls(app, service);
  app.notFound((context) => answerError(context, 404, 'No such path.'));
  app.onError((error, context) => answerError(context, 500, error.message));
  return app;
};
