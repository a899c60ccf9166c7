import { createHash } from 'node:crypto';

/** Test or live as the key's prefix says (interface: Identifier forms); other private keys are `unknown`. */
export type KeyMode = 'test' | 'live' | 'unknown';

/** The mode that the prefix of a private key stands for. */
export const toKeyMode = (apiKey: string): KeyMode => {
  if (apiKey.startsWith('private_sandbox_')) return 'test';
  return apiKey.startsWith('private_') ? 'live' : 'unknown';
};

/** The first 12 hex digits of the key's SHA-256: tells keys apart and is safe to show. */
export const toKeyFingerprint = (apiKey: string): string =>
  createHash('sha256').update(apiKey).digest('hex').slice(0, 12);

/** The `Authorization` header that presents a private key (interface: Authentication 1). */
export const toAuthorization = (apiKey: string, scheme: 'basic' | 'bearer'): string =>
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
