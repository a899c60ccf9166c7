import { z } from 'zod';
import type { Answer, CallOperation, CallOptions, Operation } from '../operation.js';

/** The organisation's public key (interface: Public key record); unknown fields are left out. */
const publicKeySchema = z.object({ public_key: z.string().min(1), is_test: z.boolean() });
/** The organisation's public key, with the wire's names (interface: Public key record). */
export type PublicKey = z.output<typeof publicKeySchema>;

/** The API key operations of the interface. */
export interface ApiKeys {
  /** The public key in the private key's mode, GET /api_keys/public (interface: API keys). */
  public(options?: CallOptions): Promise<Answer<PublicKey>>;
}

const publicKeyOperation: Operation<PublicKey> = {
  name: 'api_keys.public',
  method: 'GET',
  path: '/api_keys/public',
  successStatus: 200,
  authentication: 'private_key',
  retry: 'repeatable',
  isBillable: false,
  schema: publicKeySchema,
};

/** The API key operations over `callOperation`. */
export const createApiKeys = (callOperation: CallOperation): ApiKeys => ({
  public: (options) => callOperation(publicKeyOperation, options),
});
