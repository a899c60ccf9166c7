import { AuthenticationError, ConfigError, NotFoundError } from '../../errors.js';
import type { Authentication } from '../operation.js';
import { findKeyProblem, toAuthorization, toKeyFingerprint } from './api-key.js';
import { createShareOne } from './share-one.js';

/** Whose key it is and in which mode it works, as the service says (interface: Public key record). */
export interface KeyIdentity {
  /** Null where the account has none, so that `isTest` is what the settings or the private key's prefix say. */
  publicKey: string | null;
  isTest: boolean;
}

/** What a key holder needs. */
export interface KeySettings {
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
  tell: (fingerprint: string) => void;
}

/** What reading the key again came to: another key of the same account, none, or one that must not be used and why. */
export type Renewal = { kind: 'renewed' } | { kind: 'none' } | { kind: 'unusable'; problem: string };

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
    const { mode, tell } = this.#settings;
    const read = await this.#read();
    if ('problem' in read) return { kind: 'unusable', problem: read.problem };
    const { apiKey } = read;
    if (apiKey === undefined || apiKey === this.#apiKey) return { kind: 'none' };
    const problem = findKeyProblem(apiKey, mode) ?? (await this.#findStranger(apiKey));
    if (problem !== undefined) return { kind: 'unusable', problem };
    this.#apiKey = apiKey;
    tell(this.fingerprint);
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
