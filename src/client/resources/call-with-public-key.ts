import { AuthenticationError } from '../../errors.js';
import { checkCallOptions } from '../calls/check-call-options.js';
import { createShareOne } from '../calls/share-one.js';
import type { Answer, CallOptions } from '../operation.js';
import type { ApiKeys, PublicKey } from './api-keys.js';

type CallWithKey = <T>(call: (publicKey: string) => Promise<Answer<T>>, options?: CallOptions) => Promise<Answer<T>>;

/**
 * Makes calls that present the organisation's public key: fetched once for all of them and kept; after an AuthenticationError fetched
 * anew, and the call made once more if the key is another one by then. A caller leaves with the reason of its own signals; what `apiKeys`
 * fetches hears of none of them.
 */
export const createCallWithPublicKey = (apiKeys: ApiKeys): CallWithKey => {
  const shareOne = createShareOne<PublicKey>();
  let kept: PublicKey | undefined;

  const fetchKey = async ({ observer, timeoutMs }: CallOptions): Promise<PublicKey> => {
    const options = { ...(observer ? { observer } : {}), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    const { data } = await apiKeys.public(options);
    kept = data;
    return data;
  };
  const findKey = async (options: CallOptions): Promise<PublicKey> =>
    kept ?? shareOne(() => fetchKey(options), options);

  return async (call, given = {}) => {
    // A wrong setting of one caller must not fail the others.
    const options = checkCallOptions(given);
    const key = await findKey(options);
    try {
      return await call(key.public_key);
    } catch (error) {
      if (!(error instanceof AuthenticationError)) throw error;
      if (kept === key) kept = undefined;
      const next = await findKey(options);
      if (next.public_key === key.public_key) throw error;
      return call(next.public_key);
    }
  };
};
