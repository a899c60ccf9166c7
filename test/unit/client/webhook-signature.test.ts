import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { verifyWebhook } from '../../../src/client/index.js';

const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const stranger = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const body = '{"event_id":"e1","event_type":"aml_activity.created"}';
const now = new Date('2026-03-02T12:00:00Z');
const seconds = now.getTime() / 1_000;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const sha256 = createHash('sha256').update(body).digest('hex');
const claims = { sha256, exp: seconds + 86_400 };
const toJwt = (
  payload: object,
  { header = { alg: 'RS256', typ: 'JWT' } as object, key = pair.privateKey } = {},
): string => {
  const signed = `${encode(header)}.${encode(payload)}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`;
};
const check = (signature: string | undefined, more: object = {}): void =>
  verifyWebhook({ body, signature, publicKey: pair.publicKey, now, ...more });

test('a webhook that the service has signed is taken, with its key as text or bytes of the body as well', () => {
  check(toJwt(claims));
  check(toJwt({ ...claims, sha256: sha256.toUpperCase() }));
  check(toJwt(claims), { body: Buffer.from(body), publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }) });
  check(toJwt({ ...claims, exp: seconds - 30 }));
});

test.each<[string, string | undefined, object, RegExp]>([
  ['without a signature', undefined, {}, /missing/],
  ['with another body by one byte', toJwt(claims), { body: `${body} ` }, /another body/],
  ['signed by somebody else', toJwt(claims, { key: stranger.privateKey }), {}, /owner of this public key/],
  ['that has expired', toJwt({ ...claims, exp: seconds - 61 }), {}, /expired/],
  ['that is not valid yet', toJwt({ ...claims, nbf: seconds + 61 }), {}, /not valid yet/],
  ['without a digest', toJwt({ exp: claims.exp }), {}, /lacks sha256/],
  ['without an end', toJwt({ sha256 }), {}, /exp/],
  ['that names no algorithm', toJwt(claims, { header: { alg: 'none' } }), {}, /RS256/],
  ['signed with a secret', toJwt(claims, { header: { alg: 'HS256' } }), {}, /RS256/],
  ['that is no JWT', 'abc', {}, /no JWT/],
  [
    'with claims changed afterwards',
    toJwt(claims).replace(/\.[^.]+\./, `.${encode({ ...claims, exp: 9e9 })}.`),
    {},
    /owner/,
  ],
  [
    'with the key of another kind',
    toJwt(claims),
    { publicKey: generateKeyPairSync('ed25519').publicKey },
    /no RSA key/,
  ],
])('a webhook %s is refused, and the error holds nothing of its body', (_title, signature, more, complaint) => {
  const attempt = (): void => check(signature, more);
  expect(attempt).toThrow(complaint);
  expect(attempt).toThrow(expect.objectContaining({ code: 'webhook_signature' }));
  expect(attempt).not.toThrow(/event_id/);
});
