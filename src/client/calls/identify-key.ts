import { ApiError, ConfigError, NotFoundError, PermissionError } from '../../errors.js';
import type { CallOptions } from '../operation.js';
import type { KeyMode } from './api-key.js';
import { checkCallOptions } from './check-call-options.js';
import type { KeyIdentity } from './key-holder.js';
import { createShareOne } from './share-one.js';

/** What it takes to find out whose key it is. */
export interface IdentifySettings {
  /** Asks the service (interface: API keys), on behalf of all who wait: ended by the client's end, by no caller. */
  ask: (options: CallOptions) => Promise<KeyIdentity>;
  /** Asks for something free that every account has: throws NotFoundError where the address is wrong. */
  askList: (options: CallOptions) => Promise<unknown>;
  /** The mode that was agreed on, by the settings or else by the key's prefix; `unknown` when neither says. */
  agreedMode: KeyMode;
  /** Takes note of whose key it is. */
  note: (identity: KeyIdentity) => void;
}

/**
 * Gives a way to learn whose key it is and in which mode it works, asking the service once. It throws ConfigError when the mode is not
 * the one agreed on, or neither the service nor anything else says it, what the call throws, and the reason of a signal of the caller's.
 */
export const createIdentify = (settings: IdentifySettings): ((options?: CallOptions) => Promise<KeyIdentity>) => {
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
