import { createHash, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { verifyWebhook } from '../client/webhook-signature.js';
import { NightscreenError, readMessage } from '../errors.js';
import { createBoundedServer, isExpectedHost, listenAt } from '../serving.js';
import type { listenSettingsSchema } from './settings.js';

/** The stored facts of an event: its dossiers, and the digest of its `Idempotency-Key`. */
export interface HeardEvent {
  key: string;
  dossierIds: string[];
  isAml: boolean;
}

/** The parts of a listener. */
export interface ListenerParts {
  settings: Omit<z.output<typeof listenSettingsSchema>, 'key'>;
  port: number;
  publicKey: KeyObject;
  /** Stores events durably, all or none; gives how many were new. Calls do not overlap. */
  keep: (events: readonly HeardEvent[]) => Promise<number>;
  /** Reports each kind of refusal once, and each failure to store events. */
  complain: (code: 'event_refused' | 'event_not_kept', message: string) => void;
}

/** A running listener; `stop` answers the received requests and accepts no more. */
export type Listener = Awaited<ReturnType<typeof startListener>>;

const eventSchema = z.object({ event_type: z.string().min(1), resource: z.unknown() });

// The types of the interface, and the names of the published references (service facts: event names).
const knownTypes =
  /^(?:session\.completed|(?:identity_document|decision|entity|address_proof|proof_of_address|funds_proof|proof_of_funds|aml_entity|aml_activity|dossier)\.\w+|aml\.screening\.match(?:_confirmed|_rejected)?)$/;
const amlTypes = /^aml[._]/;

const dossierForm = /^dossier_[A-Za-z0-9]{1,64}$/;
const dossierLink = /\/dossiers\/(dossier_[A-Za-z0-9]{1,64})(?:[?#]|$)/;
const deepest = 6;
const mostDossiers = 10;

/** The dossiers that a resource names as `dossier_id`, `id` or in a link (interface: Events); at most ten. */
function findDossiers(resource: unknown): string[] {
  const found = new Set<string>();
  const look = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > deepest) return;
    for (const [name, inner] of Object.entries(value)) {
      if (found.size >= mostDossiers) return;
      if (typeof inner !== 'string') look(inner, depth + 1);
      else if ((name === 'id' || name === 'dossier_id') && dossierForm.test(inner)) found.add(inner);
      else if (name === 'url') for (const id of dossierLink.exec(inner)?.slice(1) ?? []) found.add(id);
    }
  };
  look(resource, 0);
  return [...found];
}

/** Events beyond this number are refused: the service sends them again. */
const mostWaiting = 10_000;
const stopWithinMs = 5_000;

type ListenerAnswer = 200 | 400 | 401 | 404 | 405 | 413 | 421 | 503;

/** Requests by result. */
const noRequests = {
  /** New and stored, with or without a dossier. */
  taken: 0,
  repeated: 0,
  /** Authentic, but of an unknown type, and ignored. */
  unknownType: 0,
  /** Taken, but without a dossier. */
  withoutDossier: 0,
  forged: 0,
  malformed: 0,
  tooLarge: 0,
  /** Not stored: the service sends them again. */
  notKept: 0,
};

/** A larger event is refused. */
const mostBodyBytes = 262_144;

/**
 * Listens for the events of the service at `/events`, and answers 200 once they are stored. An event is verified before it is parsed (service
 * facts: webhook signature); only its dossier ids are used. Throws ConfigError when the address is not available.
 */
export async function startListener({ settings, port, publicKey, keep, complain }: ListenerParts) {
  const counts = { ...noRequests };
  const heard = new Set<string>();
  const complainOnce = (message: string): void => {
    if (!heard.has(message)) complain('event_refused', message);
    heard.add(message);
  };
  const keeper = openKeeper(keep, counts, (message) => complain('event_not_kept', message));

  const take = async (request: IncomingMessage): Promise<ListenerAnswer> => {
    const body = await readBody(request, mostBodyBytes);
    if (body === null) {
      counts.tooLarge += 1;
      complainOnce(`an event has more than ${mostBodyBytes} bytes`);
      return 413;
    }
    const given = request.headers['x-bynn-signature'];
    try {
      verifyWebhook({ body, signature: typeof given === 'string' ? given : undefined, publicKey });
    } catch (error) {
      if (!(error instanceof NightscreenError)) throw error;
      counts.forged += 1;
      complainOnce(`${error.message}; see listen.key`);
      return 401;
    }
    const event = parseEvent(body);
    if (event === null) {
      counts.malformed += 1;
      complainOnce('an event with a valid signature is no JSON object with an event_type');
      return 400;
    }
    if (!knownTypes.test(event.event_type)) {
      counts.unknownType += 1;
      return 200;
    }
    const dossierIds = findDossiers(event.resource);
    const named = request.headers['idempotency-key'];
    // A repetition also has the same body.
    const key = createHash('sha256')
      .update(typeof named === 'string' && named !== '' ? named : body)
      .digest('hex');
    return keeper.add({ key, dossierIds, isAml: amlTypes.test(event.event_type) });
  };

  const answer = async (request: IncomingMessage): Promise<ListenerAnswer> => {
    const [path] = (request.url ?? '/').split('?');
    if (path === '/events') return request.method === 'POST' ? take(request) : 405;
    // Reading needs no key, so pages of other sites are refused (DNS rebinding); an event is verified by its signature.
    if (!isExpectedHost(request.headers.host, [settings.host])) return 421;
    if (path !== '/healthz') return 404;
    return request.method === 'GET' || request.method === 'HEAD' ? 200 : 405;
  };

  let isStopping = false;
  const server = createBoundedServer((request, response) => {
    answer(request).then(
      (status) => respond(request, response, status, isStopping),
      () => request.destroy(),
    );
  });
  return {
    port: await listenAt(server, '--port', port, settings.host),
    counts,
    stop: async () => {
      isStopping = true;
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      const late = setTimeout(() => server.closeAllConnections(), stopWithinMs);
      await closed;
      clearTimeout(late);
      await keeper.close();
    },
  };
}

function respond(request: IncomingMessage, response: ServerResponse, status: ListenerAnswer, isLast: boolean): void {
  // Unread bytes of a request would be read as the next one.
  if (!request.complete || isLast) response.setHeader('connection', 'close');
  response.writeHead(status, { 'content-type': 'text/plain', 'cache-control': 'no-store' });
  response.end(request.method === 'HEAD' ? undefined : status === 200 ? 'ok\n' : `${status}\n`);
}

async function readBody(request: IncomingMessage, most: number): Promise<Buffer | null> {
  if (Number(request.headers['content-length'] ?? 0) > most) return null;
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    length += part.length;
    if (length > most) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function parseEvent(body: Buffer): z.infer<typeof eventSchema> | null {
  try {
    return eventSchema.parse(JSON.parse(body.toString('utf8')));
  } catch {
    return null;
  }
}

/** Stores events one group after the other: what arrives meanwhile is the next group. */
function openKeeper(keep: ListenerParts['keep'], counts: typeof noRequests, complain: (message: string) => void) {
  let waiting: { event: HeardEvent; settle: (status: ListenerAnswer) => void }[] = [];
  let keeping: Promise<void> | null = null;
  const keepGroup = async (events: readonly HeardEvent[]): Promise<ListenerAnswer> => {
    try {
      const taken = await keep(events);
      counts.taken += taken;
      counts.repeated += events.length - taken;
      counts.withoutDossier += events.filter(({ dossierIds }) => dossierIds.length === 0).length;
      return 200;
    } catch (error) {
      counts.notKept += events.length;
      complain(readMessage(error));
      return 503;
    }
  };
  const keepAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      const status = await keepGroup(group.map(({ event }) => event));
      for (const { settle } of group) settle(status);
    }
    keeping = null;
  };
  return {
    add: (event: HeardEvent): Promise<ListenerAnswer> => {
      if (waiting.length >= mostWaiting) {
        counts.notKept += 1;
        return Promise.resolve(503);
      }
      return new Promise((resolve) => {
        waiting.push({ event, settle: resolve });
        keeping ??= keepAll();
      });
    },
    close: async (): Promise<void> => {
      await keeping;
    },
  };
}
