import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import type { Hono } from 'hono';
import { z } from 'zod';
import { addControl, type CallEnv } from './calls.js';
import type { DossierBook } from './dossier-book.js';
import { describeRecordOf, listDossierEvents } from './dossiers.js';
import { type Mode, makeToken } from './keys.js';
import type { SandboxClock } from './sandbox-clock.js';
import type { SearchWatchlist } from './search-watchlist.js';
import { createSeededRandom } from './trouble.js';
import type { SandboxDossier } from './world.js';

const LOOPBACK_HOST = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Which events are sent, and where; no event leaves this machine. */
const eventSettingsSchema = z.strictObject({
  /** Null, the default, makes no events. */
  url: z.url({ protocol: /^https?$/, hostname: LOOPBACK_HOST, error: 'must be a URL of this machine' }).nullable(),
  /** Events of test dossiers or of live ones. */
  mode: z.enum(['test', 'live']).default('test'),
  /** The names of the interface, or the different ones of the published references. */
  vocabulary: z.enum(['interface', 'published']).default('interface'),
  /** Holds events until an order delivers them. */
  hold: z.boolean().default(false),
});

/** An event on demand: of any type and dossier, signed with a foreign key when it is forged. */
const newEventSchema = z.strictObject({
  type: z.string().regex(/^[a-z_.]+$/),
  dossier: z.string().default('dossier_unknown'),
  forged: z.boolean().default(false),
});

const deliveryOrderSchema = z.strictObject({
  order: z.enum(['made', 'reversed', 'shuffled']).default('made'),
  seed: z.number().int().default(1),
  /** How often each is sent, with one `Idempotency-Key`. */
  times: z.number().int().min(1).max(100).default(1),
  /** Sends all events again, not only held ones. */
  again: z.boolean().default(false),
});

/** One event and its delivery. */
export interface MadeEvent {
  eventId: string;
  type: string;
  /** The same for all attempts and repetitions. */
  idempotencyKey: string;
  state: 'held' | 'waiting' | 'delivered' | 'given_up';
  /** The status of each attempt; null without an answer. */
  attempts: (number | null)[];
  body: string;
  forged: boolean;
  madeAtMs: number;
  /** Whether its next attempt is scheduled. */
  willRetry: boolean;
}

const SIGNATURE_HEADER = 'X-Bynn-Signature';
const DAY_MS = 86_400_000;
const FIRST_RETRY_MS = 5_000;
const ANSWER_WITHIN_MS = 10_000;
const KEPT_EVENTS = 10_000;

const PUBLISHED_NAMES: readonly [interfaceName: RegExp, published: string][] = [
  [/^address_proof\./, 'proof_of_address.'],
  [/^funds_proof\./, 'proof_of_funds.'],
  [/^aml_activity\.created$/, 'aml.screening.match'],
  [/^aml_activity\.confirmed$/, 'aml.screening.match_confirmed'],
  [/^aml_activity\.rejected$/, 'aml.screening.match_rejected'],
];

const toPublishedName = (type: string): string => {
  const [pattern, published] = PUBLISHED_NAMES.find(([name]) => name.test(type)) ?? [];
  return pattern && published ? type.replace(pattern, published) : type;
};

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JWT valid for a day by the real clock, which its receiver uses (service facts: webhook signature). */
const signToken = (claims: object, key: KeyObject): string => {
  const issuedAt = Math.floor(Date.now() / 1_000);
  const times = { iat: issuedAt, exp: issuedAt + DAY_MS / 1_000 };
  const content = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ ...claims, ...times })}`;
  return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`;
};

const makeKeys = () => generateKeyPairSync('rsa', { modulusLength: 2048 });

/** The webhooks of the sandbox; it sends nothing until configured. `origin` is the sandbox's own, for links in events. */
export const createEventDesk = (clock: SandboxClock, screen: SearchWatchlist, origin: () => string) => {
  const organization = makeToken();
  const stopped = new AbortController();
  let keys: ReturnType<typeof makeKeys> | undefined;
  let foreignKeys: typeof keys;
  let settings = eventSettingsSchema.parse({ url: null });
  let made: MadeEvent[] = [];
  let queue: MadeEvent[] = [];
  let isSending = false;

  const post = async (url: string, { body, forged, idempotencyKey }: MadeEvent): Promise<number | null> => {
    keys ??= makeKeys();
    if (forged) foreignKeys ??= makeKeys();
    const { privateKey } = (forged && foreignKeys) || keys;
    const sha256 = createHash('sha256').update(body).digest('hex');
    const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
    const headers = {
      'Content-Type': 'application/json',
      'Idempotency-Key': idempotencyKey,
      [SIGNATURE_HEADER]: signToken({ sha256 }, privateKey),
    };
    try {
      const response = await fetch(url, { method: 'POST', body, headers, signal, redirect: 'manual' });
      await response.body?.cancel();
      return response.status;
    } catch {
      return null;
    }
  };

  const attempt = async (event: MadeEvent): Promise<void> => {
    if (settings.url === null) return;
    const status = await post(settings.url, event);
    event.attempts.push(status);
    if (status !== null && status >= 200 && status < 300) event.state = 'delivered';
    if (event.state === 'delivered' || event.willRetry || stopped.signal.aborted) return;
    const retryAtMs = clock.nowMs() + FIRST_RETRY_MS * 2 ** (event.attempts.length - 1);
    if (retryAtMs - event.madeAtMs > DAY_MS) {
      event.state = 'given_up';
      return;
    }
    event.willRetry = true;
    clock.at(retryAtMs, () => {
      event.willRetry = false;
      if (event.state !== 'delivered') send([event]);
    });
  };

  /** One request after another: another order of arrival comes from retries or from an order. */
  const send = (events: readonly MadeEvent[]): void => {
    queue.push(...events);
    if (isSending) return;
    isSending = true;
    void (async () => {
      for (let batch = queue; batch.length > 0 && !stopped.signal.aborted; batch = queue) {
        queue = [];
        for (const event of batch) await attempt(event);
      }
      isSending = false;
    })();
  };

  const make = (type: string, resource: object, forged = false): MadeEvent => {
    keys ??= makeKeys();
    const eventId = `evt_${makeToken()}`;
    const createdAt = new Date(clock.nowMs()).toISOString();
    const claims = { event_id: eventId, event_type: type };
    const fields = { ...claims, created_at: createdAt, resource, organization };
    const event: MadeEvent = {
      eventId,
      type,
      idempotencyKey: randomUUID(),
      state: settings.hold ? 'held' : 'waiting',
      attempts: [],
      body: JSON.stringify({ ...fields, jwt: signToken(claims, keys.privateKey) }),
      forged,
      madeAtMs: clock.nowMs(),
      willRetry: false,
    };
    made.push(event);
    if (made.length >= KEPT_EVENTS * 2) made = made.slice(-KEPT_EVENTS);
    if (!settings.hold) send([event]);
    return event;
  };

  const toDossierResource = (dossier: SandboxDossier) => ({
    ...dossier,
    rel: { url: `${origin()}/v1/dossiers/${dossier.id}` },
  });
  /** The key that verifies signatures, as PEM; made on first use. */
  const publicKey = (): string => {
    keys ??= makeKeys();
    return keys.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  };
  const configure = (order: z.input<typeof eventSettingsSchema>): void => {
    settings = eventSettingsSchema.parse(order);
  };
  /** Makes the events of a dossier's change in this mode. */
  const hear = (mode: Mode, before: SandboxDossier | undefined, after: SandboxDossier | undefined): void => {
    if (settings.url === null || settings.mode !== mode) return;
    for (const { type, dossier, resource } of listDossierEvents(before, after, screen)) {
      const name = settings.vocabulary === 'published' ? toPublishedName(type) : type;
      make(name, resource ?? toDossierResource(dossier));
    }
  };
  /** Makes one event, about the named dossier where `find` gives one; throws without a URL. */
  const add = (order: z.input<typeof newEventSchema>, find: DossierBook['find']) => {
    const { type, forged, dossier: named } = newEventSchema.parse(order);
    if (settings.url === null) throw new Error('no URL is set for events');
    const dossier = find(named);
    const record = dossier && (describeRecordOf(type, dossier, screen) ?? toDossierResource(dossier));
    return make(type, { dossier_id: dossier?.id ?? named, ...record }, forged);
  };
  /** Sends held events; gives the number of requests. */
  const deliver = (order: z.input<typeof deliveryOrderSchema>): number => {
    const { order: sequence, seed, times, again } = deliveryOrderSchema.parse(order);
    const draw = createSeededRandom(seed);
    const due = made.filter(({ state }) => again || state === 'held');
    const requests = due.flatMap((event) => Array.from({ length: times }, () => event));
    if (sequence === 'reversed') requests.reverse();
    const shuffled = requests.map((event) => ({ event, at: sequence === 'shuffled' ? draw() : 0 }));
    for (const event of due) if (event.state !== 'delivered') event.state = 'waiting';
    send(shuffled.sort((one, other) => one.at - other.at).map(({ event }) => event));
    return requests.length;
  };
  /** The last 10,000 events, oldest first. */
  const events = () =>
    made.slice(-KEPT_EVENTS).map(({ eventId, type, idempotencyKey, state, attempts }) => ({
      eventId,
      type,
      idempotencyKey,
      state,
      attempts: [...attempts],
    }));
  /** Adds the controls that read events, configure them, make one, and deliver held ones. */
  const addControls = (app: Hono<CallEnv>, find: DossierBook['find']): void => {
    app.get('/_sandbox/events', (context) => context.json({ publicKey: publicKey(), events: events() }));
    addControl(app, 'events', eventSettingsSchema, (context, order) => {
      configure(order);
      return context.body(null, 204);
    });
    addControl(app, 'events/make', newEventSchema, (context, order) => context.json(add(order, find)));
    addControl(app, 'events/deliver', deliveryOrderSchema, (context, order) =>
      context.json({ requests: deliver(order) }),
    );
  };
  return { publicKey, configure, hear, add, deliver, events, addControls, stop: () => stopped.abort() };
};
