import { once } from 'node:events';
import { createServer } from 'node:http';
import { isIP } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { z } from 'zod';
import {
  answerError,
  answerTooLarge,
  type Call,
  type CallEnv,
  readBoundedText,
  recordCall,
  requireKey,
} from './calls.js';
import { type DossierChange, dossierChangeSchema } from './dossier-book.js';
import { addDossierRoutes } from './dossier-routes.js';
import {
  type DeliveryOrder,
  deliveryOrderSchema,
  type EventSettings,
  eventSettingsSchema,
  type NewEvent,
  newEventSchema,
  type SandboxEvent,
} from './events.js';
import { type InvitationMove, invitationMoveSchema } from './invitations.js';
import type { SandboxKeys } from './keys.js';
import type { LedgerEntry } from './ledger.js';
import { createService, type MissingCursor, type SandboxService } from './service.js';
import { applyTrouble, type Fault, faultSchema, type Weather, weatherSchema } from './trouble.js';
import { loadWorld, rankingSchema, type SandboxWorld } from './world.js';

const worldSchema = z.strictObject({
  watchlists: z.array(z.string()),
  dossiers: z.string().optional(),
  ranking: rankingSchema.optional(),
});
const clockSchema = z.strictObject({ advanceMs: z.number().min(0) });
const keysSchema = z.union([z.strictObject({ rotate: z.literal(true) }), z.strictObject({ revoke: z.literal(true) })]);
const moveSchema = z.union([
  invitationMoveSchema.extend({ token: z.string() }),
  invitationMoveSchema.extend({ reference: z.string() }),
]);
const listSchema = z.strictObject({ missingCursor: z.enum(['empty_page', 'not_found']) });

const answerNothing = (context: Call): Response => context.body(null, 204);

/** A page of another site can send a POST without asking, and says so in `Origin`. */
const isForeign = (context: Call): boolean => {
  const origin = context.req.header('origin');
  return origin !== undefined && origin !== new URL(context.req.url).origin;
};

/** Reads an order by its schema and carries it out; what is wrong with it is the answer otherwise. */
const take =
  <T>(schema: z.ZodType<T>, carryOut: (context: Call, order: T) => Response | Promise<Response>) =>
  async (context: Call): Promise<Response> => {
    if (isForeign(context)) return answerError(context, 403, 'Pages of other sites cannot steer the sandbox.');
    const text = await readBoundedText(context);
    if (text === undefined) return answerTooLarge(context);
    try {
      const order = schema.safeParse(JSON.parse(text));
      if (!order.success) return answerError(context, 400, z.prettifyError(order.error));
      return await carryOut(context, order.data);
    } catch (error) {
      return answerError(context, 400, error instanceof Error ? error.message : String(error));
    }
  };

/** Adds the routes that steer a sandbox and read its ledger; they need no key and are no part of the service's interface. */
const addControls = (app: Hono<CallEnv>, service: SandboxService): void => {
  const { clock, events, faults, invitations, keyRing, ledger, weather } = service;
  const steer = <T>(
    path: string,
    schema: z.ZodType<T>,
    carryOut: (context: Call, order: T) => Response | Promise<Response>,
  ): void => void app.on(['PUT', 'POST'], `/_sandbox/${path}`, take(schema, carryOut));

  app.get('/_sandbox/ledger', (context) => context.json({ counts: ledger.counts(), calls: ledger.calls() }));

  app.delete('/_sandbox/ledger', (context) => {
    ledger.clear();
    return answerNothing(context);
  });

  steer('faults', z.array(faultSchema), (context, order) => {
    faults.replace(order);
    return answerNothing(context);
  });

  steer('weather', weatherSchema, (context, order) => {
    weather.replace(order);
    return answerNothing(context);
  });

  steer('clock', clockSchema, (context, { advanceMs }) => {
    clock.advance(advanceMs);
    return context.json({ now: new Date(clock.nowMs()).toISOString() });
  });

  steer('keys', keysSchema, (context, order) => {
    if ('rotate' in order) return context.json({ privateKey: keyRing.rotate() });
    keyRing.revoke();
    return context.json({ privateKey: null });
  });

  steer('world', worldSchema, async (context, { watchlists, dossiers, ranking }) => {
    const world = await loadWorld({ watchlists, ...(dossiers === undefined ? {} : { dossiers }) });
    service.setWorld({ ...world, ...(ranking === undefined ? {} : { ranking }) });
    return answerNothing(context);
  });

  steer('dossiers', z.array(dossierChangeSchema), (context, changes) =>
    context.json({ ids: service.changeDossiers(changes) }),
  );

  steer('list', listSchema, (context, { missingCursor }) => {
    service.missingCursor = missingCursor;
    return answerNothing(context);
  });

  steer('invitations', moveSchema, (context, order) => {
    const { status, errorMessage, dossierToken, afterMs } = order;
    const name = 'token' in order ? order.token : order.reference;
    const record = invitations.move(name, { status, errorMessage, dossierToken, afterMs });
    return record ? context.json(record) : answerError(context, 404, 'No such invitation.');
  });

  app.get('/_sandbox/events', (context) => context.json({ publicKey: events.publicKey(), events: events.events() }));

  steer('events', eventSettingsSchema, (context, settings) => {
    events.configure(settings);
    return answerNothing(context);
  });

  steer('events/make', newEventSchema, (context, order) =>
    context.json(events.add(order, service.findDossier(order.dossier))),
  );

  steer('events/deliver', deliveryOrderSchema, (context, order) => context.json({ requests: events.deliver(order) }));
};

/** How a sandbox is started. */
interface SandboxOptions {
  /** 0, the default, takes a free port. */
  port?: number;
  /** What the service knows. */
  world: SandboxWorld;
  /** How many results an answer carries at most, default 25; `total` still counts all. */
  maxResults?: number;
}

/**
 * A running sandbox: its address, its credentials and its controls. `privateKey` is the main organisation in test mode
 * and always the latest key, `livePrivateKey` the same in live mode, `otherPrivateKey` another organisation in test
 * mode, which has no dossiers but those it creates.
 */
export interface Sandbox extends Readonly<SandboxKeys> {
  /** With the version prefix: `http://127.0.0.1:PORT/v1`. */
  url: string;
  /** Replaces lists and dossiers, from the next call on; dossiers that were created are gone, invitations and sessions stay. */
  setWorld(world: SandboxWorld): void;
  /** Replaces the faults that are left; throws when one is not well-formed. */
  setFaults(faults: readonly Fault[]): void;
  /** Replaces the weather, `{}` makes it fair; throws when it is not well-formed. A matching fault goes before it. */
  setWeather(weather: Weather): void;
  /** Moves the sandbox's clock ahead; throws when `ms` is negative. */
  advanceClock(ms: number): void;
  /** Makes a new private test key of the main organisation and gives it; the old one opens nothing from now on. */
  rotateKey(): string;
  /** Makes the main organisation's private test key open nothing, without a successor. */
  revokeKey(): void;
  /** Inserts, updates and removes dossiers, at once or later, and gives their ids; throws at the first change that fails. */
  changeDossiers(changes: readonly DossierChange[]): string[];
  /** Decides what the dossier list answers to a cursor whose dossier is gone. */
  setMissingCursor(answer: MissingCursor): void;
  /** Plays what happens to an invitation outside the service; throws when there is no such invitation. */
  moveInvitation(tokenOrReference: string, move: InvitationMove): void;
  /** The key that verifies the signatures of events, as PEM. */
  readonly eventKey: string;
  /** Says where events go and which; throws when that is not well-formed. */
  setEvents(settings: EventSettings): void;
  /** Makes an event of any type; throws when there is nowhere to send it. */
  makeEvent(order: NewEvent): SandboxEvent;
  /** Sends the events that are held, in the order and as often as asked; gives how many requests that makes. */
  deliverEvents(order: DeliveryOrder): number;
  /** The last 10,000 events, oldest first. */
  events(): SandboxEvent[];
  /** The calls received, oldest first: at most the last 100,000. */
  ledger(): readonly LedgerEntry[];
  /** Stops listening and ends open connections. */
  close(): Promise<void>;
}

const DEFAULT_MAX_RESULTS = 25;
const LOOPBACK = '127.0.0.1';

/** Starts a sandbox on the loopback interface; rejects when the port cannot be had. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  let origin = '';
  const service = createService(options.maxResults ?? DEFAULT_MAX_RESULTS, () => origin);
  service.setWorld(options.world);
  const listener = getRequestListener(createApp(service).fetch);
  const server = createServer((request, response) => {
    service.clock.catchUp();
    if (isOwnHost(request.headers.host)) return void listener(request, response);
    // Another site's page must not read what was searched for.
    response.writeHead(421, { 'content-type': 'text/plain' });
    response.end('the sandbox answers to IP addresses and localhost only\n');
  });
  server.listen(options.port ?? 0, LOOPBACK);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the sandbox has no port');
  origin = `http://${LOOPBACK}:${address.port}`;
  const { keys } = service.keyRing;
  const { events } = service;
  return {
    ...keys,
    get privateKey() {
      return keys.privateKey;
    },
    url: `${origin}${VERSION_PREFIX}`,
    setWorld: (world) => service.setWorld(world),
    setFaults: (faults) => service.faults.replace(faults),
    setWeather: (weather) => service.weather.replace(weather),
    advanceClock: (ms) => service.clock.advance(ms),
    rotateKey: () => service.keyRing.rotate(),
    revokeKey: () => service.keyRing.revoke(),
    changeDossiers: (changes) => service.changeDossiers(changes),
    setMissingCursor: (answer) => {
      service.missingCursor = answer;
    },
    get eventKey() {
      return events.publicKey();
    },
    setEvents: (settings) => events.configure(settings),
    makeEvent: (order) => events.add(order, service.findDossier(order.dossier ?? '')),
    deliverEvents: (order) => events.deliver(order),
    events: () => events.events(),
    moveInvitation: (tokenOrReference, move) => {
      if (!service.invitations.move(tokenOrReference, move)) throw new Error('no such invitation');
    },
    ledger: () => service.ledger.calls(),
    close: async () => {
      service.clock.stop();
      events.stop();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Whether a `Host` is an IP literal or localhost; a browser always sends one. */
function isOwnHost(host = ''): boolean {
  const name = host.replace(/:\d*$/, '').toLowerCase();
  return name === '' || name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

/** Where the service's interface begins. */
const VERSION_PREFIX = '/v1';

const serviceRoutes = (service: SandboxService): Hono<CallEnv> => {
  const routes = new Hono<CallEnv>();
  routes.use(cors({ origin: '*', exposeHeaders: ['X-Request-Id', 'Retry-After'] }));
  routes.use(recordCall(service, VERSION_PREFIX), applyTrouble(service), requireKey);
  service.aml.addRoutes(routes);
  addDossierRoutes(routes, service);
  service.invitations.addRoutes(routes);
  service.sessions.addRoutes(routes);
  routes.get('/api_keys/public', (context) => {
    const { owner, entry } = context.var;
    entry.worked = true;
    return context.json({ public_key: owner?.publicKey, is_test: owner?.mode === 'test' });
  });
  routes.all('*', (context) => answerError(context, 404, 'No such operation.'));
  return routes;
};

/** The sandbox's HTTP application: the service's interface below the version prefix, and `/_sandbox` to steer it. */
export const createApp = (service: SandboxService): Hono<CallEnv> => {
  const app = new Hono<CallEnv>();
  app.route(VERSION_PREFIX, serviceRoutes(service));
  addControls(app, service);
  service.media.addRoutes(app);
  app.notFound((context) => answerError(context, 404, 'No such path.'));
  app.onError((error, context) => answerError(context, 500, error.message));
  return app;
};
