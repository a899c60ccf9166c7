import { createHash } from 'node:crypto';
import { ApiError, AuthenticationError, ConfigError, NotFoundError, PermissionError } from '../errors.js';
import { type Authentication, type CallOptions, checkCallOptions } from './operation.js';
import { createShareOne } from './signals.js';

/** Test or live as the key's prefix says (interface: Identifier forms); other private keys are `unknown`. */
export type KeyMode = 'test' | 'live' | 'unknown';

/** The mode that the prefix of a private key stands for. */
export const toKeyMode = (apiKey: string): KeyMode => {
  if (apiKey.startsWith('private_sandbox_')) return 'test';
  return apiKey.startsWith('private_') ? 'live' : 'unknown';
};

/** The first 12 hex digits of the key's SHA-256: distinguishes keys and is safe to show. */
export const toKeyFingerprint = (apiKey: string): string =>
  createHash('sha256').update(apiKey).digest('hex').slice(0, 12);

/** The `Authorization` header that presents a private key (interface: Authentication 1). */
const toAuthorization = (apiKey: string, scheme: 'basic' | 'bearer'): string =>
  scheme === 'bearer' ? `Bearer ${apiKey}` : `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}`;

const findCharacterProblem = (credential: string, noun: string): string | undefined => {
  if (credential === '') return 'is empty';
  return /[^!-~]/.test(credential)
    ? `has characters that no ${noun} has (white space, control or non-ASCII characters)`
    : undefined;
};

/** What is wrong with a JWT, without showing it, or undefined; what is in it is for the service to judge. */
export const findJwtProblem = (jwt: string): string | undefined => findCharacterProblem(jwt, 'JWT');

/** What is wrong with a private key, without showing it, or undefined. */
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

/** Whose key it is and in which mode it works, as the service says (interface: Public key record). */
export interface KeyIdentity {
  /** Null where the account has none, so that `isTest` is what the settings or the private key's prefix say. */
  publicKey: string | null;
  isTest: boolean;
}

/** What a key holder needs. */
interface KeySettings {
  /** Undefined where there is only a JWT. */
  apiKey: string | undefined;
  /** Presented as a bearer token where the interface accepts it in place of the private key. */
  jwt: string | undefined;
  scheme: 'basic' | 'bearer';
  mode: 'test' | 'live' | undefined;
  /** Reads the key again from where it came from; undefined when it came from nowhere that can change. */
  readKeyAgain: (() => string | undefined | Promise<string | undefined>) | undefined;
  /** Asks the service whose key this is, on behalf of all who wait: ended by the client's end, by no caller. */
  identify: (apiKey: string) => Promise<KeyIdentity>;
  /** The key in use has changed. */
  emit: (fingerprint: string) => void;
}

/** What reading the key again came to: another key of the same account, none, or one that must not be used and why. */
type Renewal = { kind: 'renewed' } | { kind: 'none' } | { kind: 'unusable'; problem: string };

/** The credentials of a client: presents them, and takes a new private key when the old one is refused. */
export class KeyHolder {
  readonly #settings: KeySettings;
  #apiKey: string | undefined;
  #identity: KeyIdentity | undefined;
  readonly #shareRenewal = createShareOne<Renewal>();

  constructor(settings: KeySettings) {
    this.#settings = settings;
    this.#apiKey = settings.apiKey;
  }

  /** The private key in use, never to be shown; undefined where there is only a JWT. */
  get apiKey(): string | undefined {
    return this.#apiKey;
  }

  get fingerprint(): string {
    return toKeyFingerprint(this.#apiKey ?? this.#settings.jwt ?? '');
  }

  /** Notes whose key is in use; a later key must be of the same account and mode. */
  noteIdentity(identity: KeyIdentity): void {
    this.#identity = identity;
  }

  /**
   * The `Authorization` header for an operation, or undefined for none (interface: Authentication); throws ConfigError where it takes a private
   * key and there is only a JWT.
   */
  present(authentication: Authentication): string | undefined {
    const { jwt, scheme } = this.#settings;
    if (authentication === 'none') return undefined;
    if (typeof authentication === 'object') {
      return 'publicKey' in authentication
        ? toAuthorization(authentication.publicKey, 'bearer')
        : toAuthorization(authentication.privateKey, scheme);
    }
    if (authentication === 'private_key_or_jwt' && jwt !== undefined) return toAuthorization(jwt, 'bearer');
    if (this.#apiKey === undefined) {
      const message = 'is missing: the JWT alone opens nothing but invitations';
      throw new ConfigError([{ where: 'service.apiKey', path: '', message }]);
    }
    return toAuthorization(this.#apiKey, scheme);
  }

  /**
   * After `refusedKey` was refused: reads the key again, once for all who ask, and takes it when the service says that it is of the same
   * account and mode. Rejects with the signal's reason when aborted earlier, and with nothing else.
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
    const problem = findKeyProblem(apiKey, mode) ?? (await this.#findStranger(apiKey));
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

  async #findStranger(apiKey: string): Promise<string | undefined> {
    try {
      const { publicKey, isTest } = await this.#settings.identify(apiKey);
      if (this.#identity === undefined) return undefined;
      if (isTest !== this.#identity.isTest) return `is a ${isTest ? 'test' : 'live'} key`;
      return publicKey === this.#identity.publicKey ? undefined : 'belongs to another account';
    } catch (error) {
      // The account has none; that it is answered with 404 and not 401 is all that can be known.
      if (error instanceof NotFoundError && this.#identity?.publicKey === null) return undefined;
      // The old key is refused anyway; one that nobody has vouched for must not take its place.
      return error instanceof AuthenticationError ? 'is refused too' : 'could not be checked';
    }
  }
}

/**
 * Gives a way to learn whose key it is and in which mode it works, asking the service once. It throws ConfigError when the mode is not
 * the one agreed on, or neither the service nor anything else says it, what the call throws, and the reason of a signal of the caller's.
 */
export const createIdentify = (settings: {
  /** Asks the service (interface: API keys), on behalf of all who wait: ended by the client's end, by no caller. */
  ask: (options: CallOptions) => Promise<KeyIdentity>;
  /** Asks for something free that every account has: throws NotFoundError where the address is wrong. */
  askList: (options: CallOptions) => Promise<unknown>;
  /** The mode that was agreed on, by the settings or else by the key's prefix; `unknown` when neither says. */
  agreedMode: KeyMode;
  /** Takes note of whose key it is. */
  note: (identity: KeyIdentity) => void;
}): ((options?: CallOptions) => Promise<KeyIdentity>) => {
  const { agreedMode } = settings;
  let known: KeyIdentity | undefined;
  const shareOne = createShareOne<KeyIdentity>();

  const refuse = (where: string, message: string, cause?: unknown): ConfigError =>
    new ConfigError([{ where, path: '', message }], cause === undefined ? {} : { cause });

  const ask = async (options: CallOptions): Promise<KeyIdentity> => {
    const identity = await settings.ask(options).catch(async (error: unknown): Promise<KeyIdentity> => {
      const target = findRedirect(error);
      if (target !== null) {
        const advice = `the address answers with a redirect to ${target}, and redirects are not followed; set it to the final address with its version prefix, such as /v1`;
        throw refuse('service.baseUrl', advice, error);
      }
      if (!(error instanceof NotFoundError)) throw error;
      // Interface, API keys: 404 means that there is no public key of the matching mode; a wrong address has the same status.
      await settings.askList(options).catch((reason: unknown) => {
        if (reason instanceof PermissionError) return;
        const advice =
          'the service knows nothing of the interface here; does the URL include the version prefix, such as /v1?';
        throw reason instanceof NotFoundError ? refuse('service.baseUrl', advice, reason) : reason;
      });
      if (agreedMode !== 'unknown') return { publicKey: null, isTest: agreedMode === 'test' };
      const message =
        'the account has no public key, so the service does not say whether the private key is a test or a live one: set it to test or live';
      throw refuse('service.mode', message, error);
    });
    const mode = identity.isTest ? 'test' : 'live';
    if (agreedMode !== 'unknown' && mode !== agreedMode) {
      const message = `the service says that the key is a ${mode} key, but ${agreedMode} was agreed on; nothing was searched`;
      throw refuse('service.mode', message);
    }
    known = identity;
    settings.note(identity);
    return identity;
  };

  return async (options = {}) => {
    // A wrong setting of one caller must not fail the others.
    const { timeoutMs } = checkCallOptions(options);
    if (known) return known;
    return shareOne(() => ask(timeoutMs === undefined ? {} : { timeoutMs }), options);
  };
};

/** The host that a redirect leads to, or null where the answer is none. */
function findRedirect(error: unknown): string | null {
  if (!(error instanceof ApiError) || error.status < 300 || error.status > 399) return null;
  const location = error.headers['location'];
  if (location === undefined) return 'an unnamed place';
  return URL.canParse(location) ? new URL(location).host : 'another path of the same host';
}
