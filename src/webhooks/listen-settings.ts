import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError } from '../errors.js';
import { findOddFile } from '../files.js';

/** How the events of the service are taken (`nightscreen listen`). */
export const listenSettingsSchema = z.strictObject({
  key: z
    .string()
    .min(1)
    .optional()
    .describe('the file (PEM) with the public key that events are signed with; without it nothing is taken'),
  header: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, 'must be the name of a header')
    .default('X-Bynn-Signature')
    .describe('the header with the signature'),
  host: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('the address to listen on: behind a proxy that ends TLS this machine is enough; 0.0.0.0 for all'),
  maxBody: z.int().min(1_024).max(10_485_760).default(262_144).describe('bytes of an event; a larger one is refused'),
});
export type ListenSettings = z.output<typeof listenSettingsSchema>;

/** Reads the key that events are verified with; throws ConfigError where there is none, or it is no public RSA key. */
export function readEventKey({ key }: Pick<ListenSettings, 'key'>, where: string): KeyObject {
  const refuse = (message: string, cause?: unknown): ConfigError =>
    new ConfigError([{ where, path: 'listen.key', message }], { cause });
  if (key === undefined) {
    throw refuse(
      'is not set, so no event could be told from a forged one: set it (or NIGHTSCREEN_LISTEN_KEY) to the PEM file of the public key that the service signs events with',
    );
  }
  const odd = findOddFile(key);
  if (odd !== null) throw refuse(odd);
  let text: string;
  try {
    text = readFileSync(key, 'utf8');
  } catch (error) {
    throw refuse(`cannot be read: ${error instanceof Error ? error.message : String(error)}`, error);
  }
  if (text.includes('PRIVATE KEY')) throw refuse('holds a private key: only the service has one; take the public key');
  try {
    const found = createPublicKey(text);
    if (found.asymmetricKeyType === 'rsa') return found;
  } catch (error) {
    throw refuse('is no public key in PEM (-----BEGIN PUBLIC KEY-----)', error);
  }
  throw refuse('is no RSA key, and events are signed with RS256');
}
