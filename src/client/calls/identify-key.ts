import { ConfigError, NotFoundError } from '../../errors.js';
import type { CallOptions } from '../operation.js';
import { orAborted } from '../or-aborted.js';
import type { KeyMode } from './api-key.js';
import type { KeyIdentity } from './key-holder.js';

/** What it takes to find out whose key it is. */
export interface IdentifySettings {
  /** Asks the service (interface: API keys). */
  ask: (options: CallOptions) => Promise<KeyIdentity>;
  /** The mode that was agreed on, by the settings or else by the key's prefix; `unknown` when neither says. */
  agreedMode: KeyMode;
  /** Takes note of whose key it is. */
  note: (identity: KeyIdentity) => void;
}

/**
 * Gives a way to learn whose key it is and in which mode it works, asking the service once. It throws ConfigError when the mode is not
 * the one agreed on or the service knows no such account, and what the call throws.
 */
export const createIdentify = (settings: IdentifySettings): ((options?: CallOptions) => Promise<KeyIdentity>) => {
  const { agreedMode } = settings;
  let known: KeyIdentity | undefined;
  let asking: Promise<KeyIdentity> | undefined;

  const refuse = (where: string, message: string, cause?: unknown): ConfigError =>
    new ConfigError([{ where, path: '', message }], cause === undefined ? {} : { cause });

  const ask = async (options: CallOptions): Promise<KeyIdentity> => {
    const identity = await settings.ask(options).catch((error: unknown) => {
      if (!(error instanceof NotFoundError)) throw error;
      const message =
        'the service knows no public key for this private key at this address; does the URL include the version prefix, such as /v1?';
      throw refuse('service.baseUrl', message, error);
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
    if (known) return known;
    // One question for all who wait; it is not bound to the first one's signal, nor told to its observer.
    const { timeoutMs } = options;
    asking ??= ask(timeoutMs === undefined ? {} : { timeoutMs }).finally(() => {
      asking = undefined;
    });
    return orAborted(asking, options.signal);
  };
};
