import type { Dispatcher } from 'undici';
import { type Clock, systemClock } from '../clock.js';
import { ConfigError, type ConfigProblem, NightscreenError } from '../errors.js';
import { findKeyProblem, type KeyMode, toAuthorization, toKeyFingerprint, toKeyMode } from './calls/api-key.js';
import type { AttemptObserver } from './calls/attempt-observer.js';
import { createCallOperation } from './calls/call-operation.js';
import type { Answer, CallOptions } from './operation.js';
import { Limiter } from './pace/limiter.js';
import { type Aml, createAml } from './resources/aml.js';
import { type ApiKeys, createApiKeys } from './resources/api-keys.js';
import { createDossiers, type Dossiers } from './resources/dossiers.js';
import { type ServiceSettings, type ServiceSettingsInput, serviceSettingsSchema } from './settings.js';
import { findBaseUrlProblem } from './transport/find-base-url-problem.js';
import { createTransport } from './transport/transport.js';

export type { Answer, CallOptions };

/** What a client needs; everything but the base URL and the private key has a default. */
export interface ClientSettings extends ServiceSettingsInput {
  baseUrl: string;
  apiKey: string;
  clock?: Clock;
  /** Gives 0 up to 1; spreads the back-off. */
  random?: () => number;
  /** Is told of every attempt of every call. */
  observer?: AttemptObserver;
  /** Used in place of connections of the client's own, and not closed by it. */
  dispatcher?: Dispatcher;
}

/** A typed client of the service: one pace, one retry owner and one account of attempts for all its callers. */
export interface Client {
  readonly aml: Aml;
  readonly dossiers: Dossiers;
  readonly apiKeys: ApiKeys;
  readonly keyMode: KeyMode;
  /** The first 12 hex digits of the key's SHA-256, safe to show. */
  readonly keyFingerprint: string;
  /** Refuses new calls and those that wait with a NightscreenError `client_closed`, lets what is under way end, closes the connections. */
  close(): Promise<void>;
}

const parseService = (input: unknown, others: readonly ConfigProblem[]): ServiceSettings => {
  const parsed = serviceSettingsSchema.safeParse(input);
  const problems = [
    ...others,
    ...(parsed.error?.issues ?? []).map((issue) => toProblem(issue.path.join('.'), issue.message)),
  ];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  return parsed.data;
};

const toProblem = (path: string, message: string): ConfigProblem => ({ where: `service.${path}`, path: '', message });

/** A client of the service at `baseUrl`; throws ConfigError with everything that is wrong with the settings or the key. */
export const createClient = (settings: ClientSettings): Client => {
  const { baseUrl, apiKey, clock = systemClock, random = Math.random, observer, dispatcher, ...input } = settings;
  const baseUrlProblem = findBaseUrlProblem(baseUrl);
  const keyProblem = findKeyProblem(apiKey, settings.mode);
  const service = parseService(input, [
    ...(baseUrlProblem === undefined ? [] : [toProblem('baseUrl', baseUrlProblem)]),
    ...(keyProblem === undefined ? [] : [toProblem('apiKey', keyProblem)]),
  ]);
  const timeoutMs = service.timeoutSeconds * 1_000;
  const transport = createTransport({
    baseUrl,
    authorization: toAuthorization(apiKey, service.authentication),
    connectTimeoutMs: timeoutMs,
    maxResponseBytes: service.maxResponseBytes,
    now: () => clock.now(),
    dispatcher,
  });
  const closing = new AbortController();
  const callOperation = createCallOperation({
    transport,
    limiter: new Limiter({ ...service.rate, clock }),
    clock,
    random,
    retry: service.retry,
    timeoutMs,
    observer,
    closing: closing.signal,
  });
  return {
    aml: createAml(callOperation, service.aml.nameField),
    dossiers: createDossiers(callOperation),
    apiKeys: createApiKeys(callOperation),
    keyMode: toKeyMode(apiKey),
    keyFingerprint: toKeyFingerprint(apiKey),
    close: async () => {
      closing.abort(new NightscreenError('client_closed', 'the client was closed'));
      await transport.close();
    },
  };
};
