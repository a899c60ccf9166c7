import { createHash, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import { z } from 'zod';
import { NightscreenError } from '../errors.js';

/** A webhook to verify. */
export interface WebhookVerification {
  /** The received body, before any parsing. */
  body: Uint8Array | string;
  /** The value of the header, by default `X-Bynn-Signature` (service facts: webhook signature). */
  signature: string | undefined;
  /** The service's RSA public key, PEM or as a KeyObject. */
  publicKey: string | KeyObject;
  /** The time of the check; default: now. */
  now?: Date;
  /** The tolerated difference of the clocks, in seconds. */
  toleranceSeconds?: number;
}

const headerSchema = z.object({ alg: z.literal('RS256'), crit: z.never().optional() });
const claimsSchema = z.object({
  sha256: z.string().regex(/^[0-9a-fA-F]{64}$/),
  exp: z.number(),
  nbf: z.number().optional(),
});

/**
 * Verifies the signature of a webhook: a JWT (RFC 7519), signed with RS256, whose claim `sha256` is the digest of the body (service facts: webhook
 * signature). Throws NightscreenError `webhook_signature` with the problem and nothing of the body. Parse the body only afterwards, and ignore a
 * webhook whose `Idempotency-Key` was seen before.
 */
export function verifyWebhook(webhook: WebhookVerification): void {
  const { body, signature, publicKey, now = new Date(), toleranceSeconds = 60 } = webhook;
  if (signature === undefined || signature === '') throw refuse('is missing');
  const [head, payload, sign, ...others] = signature.trim().split('.');
  if (head === undefined || payload === undefined || sign === undefined || others.length > 0) throw refuse('is no JWT');
  // No claim is read before the signature is verified, but the algorithm is ours to choose.
  readPart(head, headerSchema, 'is not signed with RS256');
  const key = typeof publicKey === 'string' ? createPublicKey(publicKey) : publicKey;
  if (key.asymmetricKeyType !== 'rsa') throw refuse('cannot be verified: the public key is no RSA key');
  if (!verify('RSA-SHA256', Buffer.from(`${head}.${payload}`), key, Buffer.from(sign, 'base64url')))
    throw refuse('is not by the owner of this public key');
  const claims = readPart(payload, claimsSchema, 'lacks sha256 or exp');
  const seconds = now.getTime() / 1_000;
  if (claims.exp + toleranceSeconds <= seconds) throw refuse('has expired');
  if (claims.nbf !== undefined && claims.nbf - toleranceSeconds > seconds) throw refuse('is not valid yet');
  const digest = createHash('sha256').update(body).digest();
  if (!timingSafeEqual(digest, Buffer.from(claims.sha256, 'hex'))) throw refuse('is of another body');
}

const refuse = (complaint: string): NightscreenError =>
  new NightscreenError('webhook_signature', `the signature of the webhook ${complaint}`);

function readPart<T>(part: string, schema: z.ZodType<T>, complaint: string): T {
  try {
    return schema.parse(JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));
  } catch {
    throw refuse(complaint);
  }
}
