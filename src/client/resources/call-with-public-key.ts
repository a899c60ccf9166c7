import { AuthenticationError } from '../../errors.js';
import type { Answer, CallOptions } from '../operation.js';
import { orAborted } from '../or-aborted.js';
import type { ApiKeys } from './api-keys.js';

type CallWithKey = <T>(call: (publicKey: string) => Promise<Answer<T>>, options?: CallOptions) => Promise<Answer<T>>;

/**
 * Makes calls that present the organisation's public key: fetched once for all of them and kept; after an AuthenticationError fetched
 * anew, and the call made once more if the key is another one by then.
 */
export const createCallWithPublicKey = (apiKeys: ApiKeys): CallWithKey => {
  let kept: Promise<string> | undefined;

  const fetchKey = ({ observer, timeoutMs }: CallOptions): Promise<string> => {
    // Without the caller's signal: others wait for the same key.
    const fetching = apiKeys
      .public({ ...(observer ? { observer } : {}), ...(timeoutMs === undefined ? {} : { timeoutMs }) })
      .then(({ data }) => data.public_key);
    kept = fetching;
    fetching.catch(() => forget(fetching));
    return fetching;
  };
  const forget = (key: Promise<string>): void => {
    if (kept === key) kept = undefined;
  };

  return async (call, options = {}) => {
    const key = kept ?? fetchKey(options);
    const publicKey = await orAborted(key, options.signal);
    try {
      return await call(publicKey);
    } catch (error) {
      if (!(error instanceof AuthenticationError)) throw error;
      forget(key);
      const nextKey = await orAborted(kept ?? fetchKey(options), options.signal);
      if (nextKey === publicKey) throw error;
      return call(nextKey);
    }
  };
};
