import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { type Clock, systemClock } from '../clock.js';
import { ConfigError, type ConfigProblem, NightscreenError } from '../errors.js';
import { type Aml, createAml } from './aml.js';
import { type ApiKeys, askPublicKey, createApiKeys } from './api-keys.js';
import { createCallOperation, RetryBudget } from './calls.js';
import {
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
import { createTransport } from './transport.js';

/** Something that whoever watches a client wants to know; no event holds customer data or a key. */
export type ClientEvent =
  | PaceEvent
  /** The key was refused, and one read again took its place; `fingerprint` is the new one's. */
  | { kind: 'key_renewed'; fingerprint: string }
  /** The account has no public key: whether the private key is a test one is taken from the settings or its prefix. */
  | { kind: 'no_public_key'; isTest: boolean };

/** Those who listen to a client, each as long as it likes. */
export class Listeners {
  readonly #listeners = new Set<(event: ClientEvent) => void>();

  /** Adds a listener; gives a way to stop listening. */
  add(listener: (event: ClientEvent) => void): () => void {
    // A wrapper, so that one function that listens twice is heard twice and leaves once at a time.
    const heard = (event: ClientEvent): void => emitSafely(listener, event);
    this.#listeners.add(heard);
    return () => this.#listeners.delete(heard);
  }

  /** Notifies all listeners; never throws, whatever they do. */
  emit(event: ClientEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
const functionSchema = z.custom<() => unknown>(isFunction, 'must be a function').optional();
const textSchema = z.string('must be a text; is it set?');
const isPace = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'run' in value && isFunction(value.run);

/** What is looked at although its type is known: whoever writes JavaScript has no other guard. */
const partsSchema = z.object({
  baseUrl: textSchema,
  apiKey: textSchema.optional(),
  jwt: textSchema.optional(),
  readKeyAgain: functionSchema,
  random: functionSchema,
  pace: z.custom<Pace>(isPace, 'is no pace; createPace makes one').optional(),
});

const findPartProblems = (parts: z.input<typeof partsSchema>, mode: 'test' | 'live' | undefined): ConfigProblem[] => {
  const problems = toProblems('service', partsSchema.safeParse(parts).error);
  const find = (name: string, look: () => string | undefined): ConfigProblem[] => {
    const where = `service.${name}`;
    const message = problems.some((problem) => problem.where === where) ? undefined : look();
    return message === undefined ? [] : [{ where, path: '', message }];
  };
  const { baseUrl, apiKey, jwt } = parts;
  return [
    ...problems,
    ...find('baseUrl', () => findBaseUrlProblem(baseUrl)),
    ...find('apiKey', () => {
      if (apiKey !== undefined) return findKeyProblem(apiKey, mode);
      return jwt === undefined ? 'must be a text; is NIGHTSCREEN_API_KEY set?' : undefined;
    }),
    ...find('jwt', () => (jwt === undefined ? undefined : findJwtProblem(jwt))),
  ];
};

/** The service settings with their defaults; throws ConfigError with everything that is wrong with them or with the parts beside them. */
const checkClientSettings = (
  parts: z.input<typeof partsSchema>,
  service: z.input<typeof serviceSettingsSchema>,
): z.output<typeof serviceSettingsSchema> => {
  const parsed = serviceSettingsSchema.safeParse(service);
  const problems = [...findPartProblems(parts, service.mode), ...toProblems('service', parsed.error)];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  return parsed.data;
};

export type { Answer, CallOptions };

/** What a client needs; everything but the base URL and a credential has a default. */
export interface ClientSettings extends z.input<typeof serviceSettingsSchema> {
  /** By default NIGHTSCREEN_BASE_URL. */
  baseUrl?: string;
  /** The private key, by default NIGHTSCREEN_API_KEY; needed for everything but invitations, for which a JWT is enough. */
  apiKey?: string | undefined;
  /** Reads the private key again, once, when the service refuses it; the new one must be of the same account and mode. */
  readKeyAgain?: () => string | undefined | Promise<string | undefined>;
  /** Presented on invitation operations in place of the private key (interface: Authentication 3). */
  jwt?: string;
  clock?: Clock;
  /** Gives 0 up to 1; spreads the back-off. */
  random?: () => number;
  /** Is notified of every attempt of every call. */
  observer?: AttemptObserver;
  /** In place of a pace of the client's own by `rate`; share one between clients of the same account. */
  pace?: Pace;
  /** Used in place of connections of the client's own, and not closed by it. */
  dispatcher?: Dispatcher;
}

/** A typed client of the service: one pace, one retry owner and one account of attempts for all its callers. */
export interface Client {
  readonly aml: Aml;
  readonly dossiers: Dossiers;
  readonly invitations: Invitations;
  readonly sessions: Sessions;
  readonly apiKeys: ApiKeys;
  /** Test or live, as the prefix of the first key says. */
  readonly keyMode: KeyMode;
  /** The first 12 hex digits of the SHA-256 of the key in use, safe to show. */
  readonly keyFingerprint: string;
  /**
   * Whose key it is, asked once (interface: API keys); it happens by itself before the first operation that costs money. Throws ConfigError
   * when the key is not of the mode agreed on.
   */
  identify(options?: CallOptions): Promise<KeyIdentity>;
  /**
   * Hears of renewed keys and, unless the pace is shared (then its own `tell` does), of pauses, outages and lowered rates until the function
   * that it gives is called. What a listener throws is a warning of the process and disturbs nobody.
   */
  listen(listener: (event: ClientEvent) => void): () => void;
  /**
   * Refuses new calls and those that wait, also for an answer about the key, with a NightscreenError `client_closed`; lets what is under
   * way end and closes the connections.
   */
  close(): Promise<void>;
}

/** A client of the service at `baseUrl`; throws ConfigError with everything that is wrong with the settings or the key. */
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
    identify: (candidate) => askPublicKey(callForAll, { privateKey: candidate }),
    emit: (fingerprint) => emit({ kind: 'key_renewed', fingerprint }),
  });
  const pace = sharedPace ?? createPace({ ...service.rate, clock, tell: emit });
  const call = createCallOperation({
    transport,
    pace,
    keys,
    budget: new RetryBudget(),
    clock,
    random,
    retry: service.retry,
    timeoutMs,
    observer,
    closing: closing.signal,
  });
  /** A call on behalf of all who wait for its outcome: nothing but the client's end ends it. */
  const callForAll: CallOperation = (operation, options) => call(operation, { ...options, signal: closing.signal });
  const identify = createIdentify({
    ask: (options) => askPublicKey(callForAll, 'private_key', options),
    askList: (options) => createDossiers(callForAll, service.dossiers.levelField).page({ per_page: 1 }, options),
    agreedMode: service.mode ?? toKeyMode(apiKey ?? ''),
    note: (identity) => {
      keys.noteIdentity(identity);
      if (identity.publicKey === null) emit({ kind: 'no_public_key', isTest: identity.isTest });
    },
  });
  const callIdentified: CallOperation = async (operation, options) => {
    // Whose a JWT is, nothing says.
    if (!operation.isBillable || keys.apiKey === undefined) return call(operation, options);
    await identify(options);
    return call(operation, options);
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
    close: async () => {
      closing.abort(new NightscreenError('client_closed', 'the client was closed'));
      await transport.close();
      if (pace !== sharedPace) pace.close();
    },
  };
};
