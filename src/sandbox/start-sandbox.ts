import { once } from 'node:events';
import { createServer } from 'node:http';
import { isIP } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createApp, VERSION_PREFIX } from './app.js';
import type { DossierChange } from './dossiers/dossier-book.js';
import type { DeliveryOrder, EventSettings, NewEvent, SandboxEvent } from './events.js';
import type { InvitationMove } from './invitations.js';
import type { SandboxKeys } from './keys.js';
import type { LedgerEntry } from './ledger.js';
import { createService, type MissingCursor } from './service.js';
import type { Fault } from './trouble/faults.js';
import type { Weather } from './trouble/weather.js';
import type { SandboxWorld } from './world.js';

/** How a sandbox is started. */
export interface SandboxOptions {
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
