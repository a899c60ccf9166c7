import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError, readMessage } from '../errors.js';
import { findOddFile } from '../files.js';
import { isSafeUrl } from '../loopback.js';
import { customerStates } from '../vocabulary.js';

const urlSchema = z.string().superRefine((text, context) => {
  const complain = (message: string): void => context.addIssue({ code: 'custom', message });
  if (!URL.canParse(text)) return complain('is not a URL');
  const url = new URL(text);
  if (!isSafeUrl(url)) complain('must begin with https:// (http:// is allowed to this machine only)');
  if (url.username !== '' || url.password !== '')
    complain('must not contain credentials; the secret of secretEnv identifies the sender');
  // The address is shown, logged and part of every backup.
  if (text.includes('?')) {
    complain('must not contain a query, which would be shown and backed up; put its public parts into the path');
  }
  if (url.hash !== '') complain('must not contain a fragment');
});

const webhookSchema = z.strictObject({
  url: urlSchema.describe(
    'https:// (http:// to this machine only), without credentials or a query; the address is not secret, only the value of secretEnv is',
  ),
  secretEnv: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/, 'must be the name of an environment variable')
    .default('NIGHTSCREEN_WEBHOOK_SECRET')
    .describe('the variable with its secret, or with two secrets while one replaces the other'),
  states: z
    .array(z.enum(customerStates))
    .min(1)
    .optional()
    .describe('only changes from or to one of these states; all without it'),
  rosters: z.array(z.string().min(1)).min(1).optional().describe('only customers of these rosters; all without it'),
});
/** The systems that receive changes of state, each address once. */
export const webhooksSettingsSchema = z.array(webhookSchema).superRefine((webhooks, context) => {
  for (const [index, { url }] of webhooks.entries()) {
    if (webhooks.findIndex((other) => other.url === url) < index) {
      context.addIssue({ code: 'custom', path: [index, 'url'], message: 'is listed twice' });
    }
  }
});

/** How `nightscreen reconcile listen` receives the events of the service. */
export const listenSettingsSchema = z.strictObject({
  key: z
    .string()
    .min(1)
    .optional()
    .describe('the PEM file with the public key of the events; without it no event is accepted'),
  host: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('the address to listen on: this machine only, for a TLS proxy on it, or 0.0.0.0 for all'),
});

/** Reads the public key of the events; throws ConfigError when it is missing or no public RSA key. */
export function readEventKey({ key }: Pick<z.output<typeof listenSettingsSchema>, 'key'>, where: string): KeyObject {
  const refuse = (message: string, cause?: unknown): ConfigError =>
    new ConfigError([{ where, path: 'listen.key', message }], { cause });
  if (key === undefined) {
    throw refuse(
      'is not set, so forged events could not be recognised: set it (or NIGHTSCREEN_LISTEN_KEY) to the PEM file with the public key of the events',
    );
  }
  const odd = findOddFile(key);
  if (odd !== null) throw refuse(odd);
  let text: string;
  try {
    text = readFileSync(key, 'utf8');
  } catch (error) {
    throw refuse(`cannot be read: ${readMessage(error)}`, error);
  }
  if (text.includes('PRIVATE KEY'))
    throw refuse('contains a private key, which only the service may have; use the public key');
  try {
    const found = createPublicKey(text);
    if (found.asymmetricKeyType === 'rsa') return found;
  } catch (error) {
    throw refuse('is no public key in PEM (-----BEGIN PUBLIC KEY-----)', error);
  }
  throw refuse('is no RSA key, and events are signed with RS256');
}
