import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { Agent, request } from 'node:http';

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });

/** The key by which a listener knows the events of `signEvent`. */
export const eventKey: KeyObject = pair.publicKey;
/** A key that nobody knows. */
export const foreignKey: KeyObject = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;

/** An event as it goes over the wire. */
export interface SignedEvent {
  body: string;
  headers: Record<string, string>;
}

/** Signs an event as the service does; `signed` in place of the body makes the digest wrong. */
export function signEvent(
  type: string,
  resource: unknown,
  {
    key = pair.privateKey,
    idempotencyKey = randomUUID() as string,
    expiresInS = 86_400,
    body: given = '',
    signed = '',
  } = {},
): SignedEvent {
  const fields = { event_id: randomUUID(), created_at: new Date().toISOString(), event_type: type, resource };
  const body = given === '' ? JSON.stringify(fields) : given;
  const sha256 = createHash('sha256')
    .update(signed === '' ? body : signed)
    .digest('hex');
  const exp = Math.floor(Date.now() / 1_000) + expiresInS;
  const content = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ sha256, exp })}`;
  const signature = `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`;
  return { body, headers: { 'X-Bynn-Signature': signature, 'Idempotency-Key': idempotencyKey } };
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Sends an event over a kept connection; gives the status of the answer. */
export const sendEvent = (port: number, { body, headers }: SignedEvent, path = '/events'): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request({ agent, port, path, host: '127.0.0.1', method: 'POST', headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', reject);
    sent.end(body);
  });
