import { z } from 'zod';
import type { Answer, Authentication, CallOperation, CallOptions, Operation } from './operation.js';

const publicKeySchema = z.object({ public_key: z.string().min(1), is_test: z.boolean() });
/** The organisation's public key, with the wire's names (interface: Public key record); unknown fields are dropped. */
export type PublicKey = z.output<typeof publicKeySchema>;

/** The API key operations of the interface. */
export interface ApiKeys {
  /** The public key in the private key's mode, GET /api_keys/public (interface: API keys). */
  public(options?: CallOptions): Promise<Answer<PublicKey>>;
}

const toPublicKeyOperation = (authentication: Authentication): Operation<PublicKey> => ({
  name: 'api_keys.public',
  method: 'GET',
  path: '/api_keys/public',
  successStatus: 200,
  authentication,
  retry: 'repeatable',
  isBillable: false,
  schema: publicKeySchema,
});

/** Account and mode of a private key (interface: API keys). */
export const askPublicKey = async (
  callOperation: CallOperation,
  authentication: Authentication,
  options?: CallOptions,
): Promise<{ publicKey: string; isTest: boolean }> => {
  const { data } = await callOperation(toPublicKeyOperation(authentication), options);
  return { publicKey: data.public_key, isTest: data.is_test };
};

/** The API key operations over `callOperation`. */
export const createApiKeys = (callOperation: CallOperation): ApiKeys => ({
  public: (options) => callOperation(toPublicKeyOperation('private_key'), options),
});
