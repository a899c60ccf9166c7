import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { type Clock, systemClock } from '../clock.js';
import { ConfigError, NightscreenError } from '../errors.js';
import { type Aml, createAml } from './aml.js';
import { createCallOperation } from './calls.js';
import {
  type ApiKeys,
  createApiKeys,
  createIdentify,
  findJwtProblem,
  findKeyProblem,
  KeyHolder,
  type KeyIdentity,
  type KeyMode,
  toKeyMode,
} from './credentials.js';
import { createDossiers, type Dossiers } from './dossiers.js';
import { createInvitations, type Invitations } from './invitations.js';
import type { Answer, AttemptObserver, CallOperation, CallOptions } from './operation.js';
import { createPace, emitSafely, type Pace, type PaceEvent } from './pace.js';
import { createSessions, type Sessions } from './sessions.js';
import { findBaseUrlProblem, serviceSettingsSchema, toProblems } from './settings.js';
import type { SharedRate } from './shared-permits.js';
import { createTransport } from './transport.js';

/** An event of a client; it contains no customer data and no key. */
export type ClientEvent =
  | PaceEvent
  | {
      /** The key was refused and replaced by one read again. */
      kind: 'key_renewed';
      /** The first 12 hex digits of the SHA-256 of the new key. */
      fingerprint: string;
    }
  | {
      /** The account has no public key: settings or prefix decide whether the private key is a test key. */
      kind: 'no_public_key';
      /** Whether the private key counts as a test key. */
      isTest: boolean;
    };

/** The listeners of a client. */
export class Listeners {
  readonly #listeners = new Set<(event: ClientEvent) => void>();

  /** Adds a listener; the returned function removes it. */
  add(listener: (event: ClientEvent) => void): () => void {
    // A wrapper: a function that is added twice is called twice and removed once at a time.
    const heard = (event: ClientEvent): void => emitSafely(listener, event);
    this.#listeners.add(heard);
    return () => this.#listeners.delete(heard);
  }

  /** Notifies all listeners; never throws. */
  emit(event: ClientEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
const functionSchema = z.custom<() => unknown>(isFunction, 'must be a function').optional();
const textSchema = (findProblem: (text: string) => string | undefined): z.ZodString =>
  z.string('must be a text; is it set?').superRefine((text, context) => {
    const problem = findProblem(text);
    if (problem !== undefined) context.addIssue(problem);
  });
const isPace = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'run' in value && isFunction(value.run);

/** Checked although typed: callers in JavaScript have no other guard. */
const createPartsSchema = (mode: 'test' | 'live' | undefined) =>
  z
    .object({
      baseUrl: textSchema(findBaseUrlProblem),
      apiKey: textSchema((apiKey) => findKeyProblem(apiKey, mode)).optional(),
      jwt: textSchema(findJwtProblem).optional(),
      readKeyAgain: functionSchema,
      random: functionSchema,
      pace: z.custom<Pace>(isPace, 'is no pace; createPace makes one').optional(),
    })
    .refine(({ apiKey, jwt }) => apiKey !== undefined || jwt !== undefined, {
      path: ['apiKey'],
      error: 'must be a text; is NIGHTSCREEN_API_KEY set?',
      when: () => true,
    });

const checkClientSettings = (
  parts: z.input<ReturnType<typeof createPartsSchema>>,
  service: z.input<typeof serviceSettingsSchema>,
): z.output<typeof serviceSettingsSchema> => {
  const parsed = serviceSettingsSchema.safeParse(service);
  const problems = [createPartsSchema(service.mode).safeParse(parts), parsed].flatMap(({ error }) =>
    toProblems('service', error),
  );
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  return parsed.data;
};

export type { Answer, CallOptions };

/** The settings of a client. The base URL and the private key default to NIGHTSCREEN_BASE_URL and NIGHTSCREEN_API_KEY. */
export interface ClientSettings extends z.input<typeof serviceSettingsSchema> {
  /** The private key. A JWT alone is enough for invitations only. */
  apiKey?: string | undefined;
  /** Reads the private key again, once, when the service refuses it. The new key must be of the same account and mode. */
  readKeyAgain?: () => string | undefined | Promise<string | undefined>;
  /** Sent with invitation operations instead of the private key (interface: Authentication 3). */
  jwt?: string;
  /** Replaces the clock of the machine. */
  clock?: Clock;
  /** Gives 0 up to 1; spreads the back-off. */
  random?: () => number;
  /** Sees every attempt of every call. */
  observer?: AttemptObserver;
  /** Replaces the client's own pace by `rate`; clients of one account share one. */
  pace?: Pace;
  /** Replaces the client's own connections; the client does not close it. */
  dispatcher?: Dispatcher;
}

/** A typed client of the service with one pace, one retry owner and one count of attempts for all its callers. */
export interface Client {
  /** Searches of people and organisations. */
  readonly aml: Aml;
  /** Verification cases. */
  readonly dossiers: Dossiers;
  /** Workflow invitations by e-mail or SMS. */
  readonly invitations: Invitations;
  /** Hosted identity verification sessions. */
  readonly sessions: Sessions;
  /** The organisation's public key. */
  readonly apiKeys: ApiKeys;
  /** Test or live, by the prefix of the first key. */
  readonly keyMode: KeyMode;
  /** The first 12 hex digits of the SHA-256 of the current key; safe to show. */
  readonly keyFingerprint: string;
  /**
   * Account and mode of the key, fetched once (interface: API keys), also before the first billable operation. Throws ConfigError when the key
   * has another mode than agreed.
   */
  identify(options?: CallOptions): Promise<KeyIdentity>;
  /**
   * Adds a listener of renewed keys and, unless the pace is shared (then its own `tell` reports them), of pauses, outages and lowered rates. The
   * returned function removes it. An error of a listener becomes a warning of the process.
   */
  listen(listener: (event: ClientEvent) => void): () => void;
  /** From now on the rate is that of all processes of the account, as `Pace.share` says. */
  shareRate(rate: SharedRate): void;
  /** Rejects new and waiting calls with NightscreenError `client_closed`, waits for those in flight, and closes the connections. */
  close(): Promise<void>;
}

/** Creates a client of the service at `baseUrl`; throws ConfigError with all problems of settings and key. */
export const createClient = (
  settings: ClientSettings = {},
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Client => {
  const {
    baseUrl = environment['NIGHTSCREEN_BASE_URL'] ?? '',
    apiKey = environment['NIGHTSCREEN_API_KEY'],
    readKeyAgain,
    jwt,
    clock = systemClock,
    random = Math.random,
    ...others
  } = settings;
  const { observer, dispatcher, pace: sharedPace, ...input } = others;
  const service = checkClientSettings({ baseUrl, apiKey, jwt, readKeyAgain, random, pace: sharedPace }, input);
  const timeoutMs = service.timeoutSeconds * 1_000;
  const listeners = new Listeners();
  const emit = (event: ClientEvent): void => listeners.emit(event);
  const transport = createTransport({
    baseUrl,
    connectTimeoutMs: timeoutMs,
    proxy: service.proxy,
    environment,
    maxResponseBytes: service.maxResponseBytes,
    now: () => clock.now(),
    dispatcher,
  });
  const closing = new AbortController();
  const keys = new KeyHolder({
    apiKey,
    jwt,
    scheme: service.authentication,
    mode: service.mode,
    readKeyAgain,
    call: (operation, options) => callForAll(operation, options),
    emit: (fingerprint) => emit({ kind: 'key_renewed', fingerprint }),
  });
  const pace = sharedPace ?? createPace({ ...service.rate, clock, tell: emit });
  const call = createCallOperation({
    transport,
    pace,
    keys,
    clock,
    random,
    retry: service.retry,
    timeoutMs,
    observer,
    closing: closing.signal,
  });
  /** A call for all who wait for its result: only `close` aborts it. */
  const callForAll: CallOperation = (operation, options) => call(operation, { ...options, signal: closing.signal });
  const identify = createIdentify({
    call: callForAll,
    askList: (options) => createDossiers(callForAll, service.dossiers.levelField).page({ per_page: 1 }, options),
    agreedMode: service.mode ?? toKeyMode(apiKey ?? ''),
    note: (identity) => {
      keys.noteIdentity(identity);
      if (identity.publicKey === null) emit({ kind: 'no_public_key', isTest: identity.isTest });
    },
  });
  const callIdentified: CallOperation = (operation, options) => {
    // The service does not report the account of a JWT.
    const isReady = !operation.isBillable || keys.isIdentified || keys.apiKey === undefined;
    return isReady ? call(operation, options) : identify(options).then(() => call(operation, options));
  };
  return {
    aml: createAml(callIdentified, service.aml.nameField),
    dossiers: createDossiers(callIdentified, service.dossiers.levelField),
    invitations: createInvitations(callIdentified, { workflowField: service.invitations.workflowField, clock }),
    sessions: createSessions(callIdentified, createApiKeys(callForAll), service.sessions.levelField),
    apiKeys: createApiKeys(callIdentified),
    keyMode: toKeyMode(apiKey ?? ''),
    get keyFingerprint() {
      return keys.fingerprint;
    },
    identify,
    listen: (listener) => listeners.add(listener),
    shareRate: (rate) => pace.share(rate),
    close: async () => {
      closing.abort(new NightscreenError('client_closed', 'the client was closed'));
      await transport.close();
      if (pace !== sharedPace) pace.close();
    },
  };
};
