import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ApiError, AuthenticationError, NotFoundError, PermissionError, usageError } from '../errors.js';
import { type Answer, type CallOperation, type CallOptions, checkCallOptions, type Operation } from './operation.js';
import { createShareOne } from './signals.js';

/** The mode by the prefix of a key (interface: Identifier forms); `unknown` for other private keys. */
export type KeyMode = 'test' | 'live' | 'unknown';

/** The mode by the prefix of a private key. */
export const toKeyMode = (apiKey: string): KeyMode => {
  if (apiKey.startsWith('private_sandbox_')) return 'test';
  return apiKey.startsWith('private_') ? 'live' : 'unknown';
};

/** The first 12 hex digits of the SHA-256 of a key; it identifies the key and is safe to show. */
export const toKeyFingerprint = (apiKey: string): string =>
  createHash('sha256').update(apiKey).digest('hex').slice(0, 12);

const toAuthorization = (apiKey: string, scheme: 'basic' | 'bearer'): string =>
  scheme === 'bearer' ? `Bearer ${apiKey}` : `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}`;

const findCharacterProblem = (credential: string, noun: string): string | undefined => {
  if (credential === '') return 'is empty';
  return /[^!-~]/.test(credential)
    ? `has characters that no ${noun} has (white space, control or non-ASCII characters)`
    : undefined;
};

/** The problem of a JWT, without showing it, or undefined; only the service checks its claims. */
export const findJwtProblem = (jwt: string): string | undefined => findCharacterProblem(jwt, 'JWT');

/** The problem of a private key, without showing it, or undefined. */
export const findKeyProblem = (apiKey: string, mode: 'test' | 'live' | undefined): string | undefined => {
  const problem = findCharacterProblem(apiKey, 'key');
  if (problem !== undefined) return problem;
  if (apiKey.startsWith('public_')) return 'is a public key; a private key (private_...) is needed';
  const keyMode = toKeyMode(apiKey);
  if (mode !== undefined && keyMode !== 'unknown' && keyMode !== mode) {
    return `is a ${keyMode} key, but service.mode is ${mode}`;
  }
  return undefined;
};

/** Account and mode of a key, as the service reports them (interface: Public key record). */
export interface KeyIdentity {
  /** Null when the account has none; settings or the private key's prefix then decide `isTest`. */
  publicKey: string | null;
  /** Whether it is a test key. */
  isTest: boolean;
}

/** The organisation's public key, as received. */
const publicKeySchema = z.object({
  /** `public_<chars>`; new sessions present it. */
  public_key: z.string().min(1),
  /** Whether it belongs to the test mode; the private key decides that. */
  is_test: z.boolean(),
});
/** The organisation's public key, with the wire's names (interface: Public key record); unknown fields are dropped. */
export type PublicKey = z.infer<typeof publicKeySchema>;

/** The API key operations of the interface. */
export interface ApiKeys {
  /** The public key in the private key's mode, GET /api_keys/public (interface: API keys). */
  public(options?: CallOptions): Promise<Answer<PublicKey>>;
}

const toPublicKeyOperation = (authentication: Operation<unknown>['authentication']): Operation<PublicKey> => ({
  name: 'api_keys.public',
  method: 'GET',
  path: '/api_keys/public',
  successStatus: 200,
  authentication,
  retry: 'repeatable',
  isBillable: false,
  schema: publicKeySchema,
});

const fetchPublicKey = async (
  callOperation: CallOperation,
  authentication: Operation<unknown>['authentication'],
  options?: CallOptions,
): Promise<{ publicKey: string; isTest: boolean }> => {
  const { data } = await callOperation(toPublicKeyOperation(authentication), options);
  return { publicKey: data.public_key, isTest: data.is_test };
};

/** The API key operations over `callOperation`. */
export const createApiKeys = (callOperation: CallOperation): ApiKeys => ({
  public: (options) => callOperation(toPublicKeyOperation('private_key'), options),
});

interface KeySettings {
  /** Undefined with a JWT alone. */
  apiKey: string | undefined;
  /** Sent as a bearer token where the interface accepts it instead of the private key. */
  jwt: string | undefined;
  scheme: 'basic' | 'bearer';
  mode: 'test' | 'live' | undefined;
  /** Reads the key again from its source; undefined when the source cannot change. */
  readKeyAgain: (() => string | undefined | Promise<string | undefined>) | undefined;
  /** Calls for all who wait: only the end of the client aborts it. */
  call: CallOperation;
  /** Reports the new current key. */
  emit: (fingerprint: string) => void;
}

type Renewal = { kind: 'renewed' } | { kind: 'none' } | { kind: 'unusable'; problem: string };

/** The credentials of a client; it replaces a refused private key. */
export class KeyHolder {
  readonly #settings: KeySettings;
  #apiKey: string | undefined;
  #identity: KeyIdentity | undefined;
  readonly #shareRenewal = createShareOne<Renewal>();

  constructor(settings: KeySettings) {
    this.#settings = settings;
    this.#apiKey = settings.apiKey;
  }

  /** The current private key, never to be shown; undefined with a JWT alone. */
  get apiKey(): string | undefined {
    return this.#apiKey;
  }

  /** Whether the service has said the account and mode of the key. */
  get isIdentified(): boolean {
    return this.#identity !== undefined;
  }

  get fingerprint(): string {
    return toKeyFingerprint(this.#apiKey ?? this.#settings.jwt ?? '');
  }

  /** Notes the account of the current key; a later key must be of the same account and mode. */
  noteIdentity(identity: KeyIdentity): void {
    this.#identity = identity;
  }

  /** The `Authorization` header of an operation, or undefined (interface: Authentication); throws ConfigError when a private key is missing. */
  present(authentication: Operation<unknown>['authentication']): string | undefined {
    const { jwt, scheme } = this.#settings;
    if (authentication === 'none') return undefined;
    if (typeof authentication === 'object') {
      return 'publicKey' in authentication
        ? toAuthorization(authentication.publicKey, 'bearer')
        : toAuthorization(authentication.privateKey, scheme);
    }
    if (authentication === 'private_key_or_jwt' && jwt !== undefined) return toAuthorization(jwt, 'bearer');
    if (this.#apiKey === undefined) {
      throw usageError('service.apiKey', 'is missing: the JWT alone opens nothing but invitations');
    }
    return toAuthorization(this.#apiKey, scheme);
  }

  /**
   * Reads the key again after `refusedKey` was refused, once for all callers, and uses it when the service confirms account and mode. Rejects
   * only with the reason of an aborted signal.
   */
  async renew(refusedKey: string | undefined, signal: AbortSignal): Promise<Renewal> {
    if (refusedKey !== this.#apiKey) return { kind: 'renewed' };
    return this.#shareRenewal(() => this.#readAgain(), { signal });
  }

  async #readAgain(): Promise<Renewal> {
    const { mode, emit } = this.#settings;
    const read = await this.#read();
    if ('problem' in read) return { kind: 'unusable', problem: read.problem };
    const { apiKey } = read;
    if (apiKey === undefined || apiKey === this.#apiKey) return { kind: 'none' };
    const problem = findKeyProblem(apiKey, mode) ?? (await this.#findMismatch(apiKey));
    if (problem !== undefined) return { kind: 'unusable', problem };
    this.#apiKey = apiKey;
    emit(this.fingerprint);
    return { kind: 'renewed' };
  }

  async #read(): Promise<{ apiKey: string | undefined } | { problem: string }> {
    try {
      return { apiKey: (await this.#settings.readKeyAgain?.())?.trim() };
    } catch {
      return { problem: 'could not be read' };
    }
  }

  async #findMismatch(apiKey: string): Promise<string | undefined> {
    try {
      const { publicKey, isTest } = await fetchPublicKey(this.#settings.call, { privateKey: apiKey });
      if (this.#identity === undefined) return undefined;
      if (isTest !== this.#identity.isTest) return `is a ${isTest ? 'test' : 'live'} key`;
      return publicKey === this.#identity.publicKey ? undefined : 'belongs to another account';
    } catch (error) {
      // The account has no public key. A 404 instead of a 401 is the only sign that the key is valid.
      if (error instanceof NotFoundError && this.#identity?.publicKey === null) return undefined;
      // The old key is refused anyway. An unverified key must not replace it.
      return error instanceof AuthenticationError ? 'is refused too' : 'could not be checked';
    }
  }
}

/**
 * Creates a function that fetches account and mode of the key once. It throws ConfigError when the mode is unknown or not the agreed one, the
 * error of the call, and the reason of an aborted signal of its caller.
 */
export const createIdentify = (settings: {
  /** Calls for all who wait: only the end of the client aborts it. */
  call: CallOperation;
  /** Fetches something free that every account has; throws NotFoundError when the address is wrong. */
  askList: (options: CallOptions) => Promise<unknown>;
  /** The mode by the settings or else by the prefix of the key; `unknown` without either. */
  agreedMode: KeyMode;
  note: (identity: KeyIdentity) => void;
}): ((options?: CallOptions) => Promise<KeyIdentity>) => {
  const { agreedMode } = settings;
  let known: KeyIdentity | undefined;
  const shareOne = createShareOne<KeyIdentity>();

  const ask = async (options: CallOptions): Promise<KeyIdentity> => {
    const identity = await fetchPublicKey(settings.call, 'private_key', options).catch(
      async (error: unknown): Promise<KeyIdentity> => {
        const target = findRedirect(error);
        if (target !== null) {
          const advice = `the address answers with a redirect to ${target}, and redirects are not followed. Set it to the final address with its version prefix, such as /v1`;
          throw usageError('service.baseUrl', advice, error);
        }
        if (!(error instanceof NotFoundError)) throw error;
        // Interface, API keys: 404 means that there is no public key of this mode. A wrong address gives 404 as well.
        await settings.askList(options).catch((reason: unknown) => {
          if (reason instanceof PermissionError) return;
          const advice =
            'the service does not offer its interface at this address; does the URL include the version prefix, such as /v1?';
          throw reason instanceof NotFoundError ? usageError('service.baseUrl', advice, reason) : reason;
        });
        if (agreedMode !== 'unknown') return { publicKey: null, isTest: agreedMode === 'test' };
        const message =
          'the account has no public key, so the service does not say whether the private key is a test key. Set it to test or live';
        throw usageError('service.mode', message, error);
      },
    );
    const mode = identity.isTest ? 'test' : 'live';
    if (agreedMode !== 'unknown' && mode !== agreedMode) {
      const message = `the service says that the key is a ${mode} key, but ${agreedMode} was agreed on; nothing was searched`;
      throw usageError('service.mode', message);
    }
    known = identity;
    settings.note(identity);
    return identity;
  };

  return async (options = {}) => {
    // A wrong option of one caller must not fail the others.
    const { timeoutMs } = checkCallOptions(options);
    if (known) return known;
    return shareOne(() => ask(timeoutMs === undefined ? {} : { timeoutMs }), options);
  };
};

function findRedirect(error: unknown): string | null {
  if (!(error instanceof ApiError) || error.status < 300 || error.status > 399) return null;
  const location = error.headers['location'];
  if (location === undefined) return 'an unnamed place';
  return URL.canParse(location) ? new URL(location).host : 'another path of the same host';
}
