import { createHmac } from 'node:crypto';

/** What is sent to a webhook: the same id and the same bytes at each attempt. */
export interface WebhookMessage {
  id: string;
  body: string;
}

/** The headers that let a receiver check a message (Standard Webhooks): a signature by each key over id, time and body. */
export function signMessage(
  { id, body }: WebhookMessage,
  keys: readonly Buffer[],
  now: Date,
): Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  const sign = (key: Buffer): string =>
    `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': keys.map(sign).join(' ') };
}
