import { once } from 'node:events';
import { createServer } from 'node:http';
import { isIP } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createApp, VERSION_PREFIX } from './app.js';
import type { InvitationMove } from './invitations/invitation-book.js';
import type { SandboxKeys } from './keys.js';
import type { LedgerEntry } from './ledger.js';
import { createService } from './service.js';
import type { Fault } from './trouble/faults.js';
import type { Weather } from './trouble/weather-schema.js';
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
  /** Plays what happens to an invitation outside the service; throws when there is no such invitation. */
  moveInvitation(token: string, move: InvitationMove): void;
  /** The calls received, oldest first: at most the last 100,000. */
  ledger(): readonly LedgerEntry[];
  /** Stops listening and ends open connections. */
  close(): Promise<void>;
}

const DEFAULT_MAX_RESULTS = 25;
const LOOPBACK = '127.0.0.1';

/** Starts a sandbox on the loopback interface; rejects when the port cannot be had. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const service = createService(options.world, options.maxResults ?? DEFAULT_MAX_RESULTS);
  const listener = getRequestListener(createApp(service).fetch);
  const server = createServer((request, response) => {
    if (isOwnHost(request.headers.host)) return void listener(request, response);
    // Another site's page must not read what was searched for.
    response.writeHead(421, { 'content-type': 'text/plain' });
    response.end('the sandbox answers to IP addresses and localhost only\n');
  });
  server.listen(options.port ?? 0, LOOPBACK);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the sandbox has no port');
  const { keys } = service.keyRing;
  return {
    ...keys,
    get privateKey() {
      return keys.privateKey;
    },
    url: `http://${LOOPBACK}:${address.port}${VERSION_PREFIX}`,
    setWorld: (world) => service.setWorld(world),
    setFaults: (faults) => service.faults.replace(faults),
    setWeather: (weather) => service.weather.replace(weather),
    advanceClock: (ms) => service.clock.advance(ms),
    rotateKey: () => service.keyRing.rotate(),
    revokeKey: () => service.keyRing.revoke(),
    moveInvitation: (token, move) => {
      if (!service.moveInvitation(token, move)) throw new Error('no such invitation');
    },
    ledger: () => service.ledger.calls(),
    close: async () => {
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
