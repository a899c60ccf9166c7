import { createHmac } from 'node:crypto';

/** The keyed digest of an answer in hex: HMAC-SHA-256 over its bytes as received. */
export const digestAnswer = (digestKey: Buffer, body: string): string =>
  createHmac('sha256', digestKey).update(body).digest('hex');
