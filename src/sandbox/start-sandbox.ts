import { once } from 'node:events';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { createApp, VERSION_PREFIX } from './app.js';
import type { Fault } from './faults.js';
import type { LedgerEntry } from './ledger.js';
import { createService } from './service.js';
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

/** A running sandbox: its address, its credentials and its controls. */
export interface Sandbox {
  /** With the version prefix: `http://127.0.0.1:PORT/v1`. */
  url: string;
  /** The main organisation in test mode. */
  privateKey: string;
  /** The main organisation in live mode. */
  livePrivateKey: string;
  /** Another organisation in test mode; it has no dossiers. */
  otherPrivateKey: string;
  publicKey: string;
  workflowToken: string;
  kycLevel: string;
  kybLevel: string;
  jwt: string;
  /** Replaces what the service knows, from the next call on. */
  setWorld(world: SandboxWorld): void;
  /** Replaces the faults that are left; throws when one is not well-formed. */
  setFaults(faults: readonly Fault[]): void;
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
  const server = createServer(getRequestListener(createApp(service).fetch));
  server.listen(options.port ?? 0, LOOPBACK);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the sandbox has no port');
  const { owners: _owners, ...credentials } = service.keys;
  return {
    ...credentials,
    url: `http://${LOOPBACK}:${address.port}${VERSION_PREFIX}`,
    setWorld: (world) => service.setWorld(world),
    setFaults: (faults) => service.faults.replace(faults),
    ledger: () => service.ledger.calls(),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
