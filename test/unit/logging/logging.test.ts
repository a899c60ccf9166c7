import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ConnectionError, ResponseError } from '../../../src/errors.js';
import { createLogger, openRedactor, toRedactor } from '../../../src/logging.js';

const key = 'private_sandbox_Pl4ntedKeyPl4ntedKey';

function logAll(secrets: readonly string[], work: (log: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  work(createLogger({ level: 'debug', secrets, write: (line) => lines.push(line) }));
  return lines.join('');
}

test('a planted key is in 0 bytes of the log, whether in message, cause, URL, header or field', () => {
  const basic = Buffer.from(`${key}:`).toString('base64');
  const cause = new Error(`connect https://${key}@service.example/v1?key=${encodeURIComponent(key)}`);
  const error = new ConnectionError('refused', `Basic ${basic} was refused`, {
    cause,
    method: 'GET',
    path: `/x/${key}`,
  });
  const text = logAll([key], (log) => {
    log.error({ err: error }, `failed with ${key}`);
    log.info({ headers: { authorization: `Basic ${basic}` }, deep: { list: [key, JSON.stringify({ key })] } }, 'call');
  });
  expect(text).toContain('[secret]');
  expect(text).not.toContain('Pl4nted');
  expect(text).not.toContain(basic.slice(4, 24));
  expect(
    text
      .trim()
      .split('\n')
      .map((line) => typeof JSON.parse(line)),
  ).toEqual(['object', 'object']);
});

test('the password of a database URL is not logged by itself either', () => {
  const url = 'postgres://app:p%40ss-w0rd@db.example/core';
  const text = logAll([url], (log) => log.error({ err: new Error(`login failed for ${url} with p@ss-w0rd`) }, 'down'));
  expect(text).not.toMatch(/p@ss-w0rd|p%40ss-w0rd/);
});

test('a secret is replaced at every offset of a Base64 text', () => {
  const characters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-'];
  const secret = fc.string({ unit: fc.constantFrom(...characters), minLength: 16, maxLength: 40 });
  fc.assert(
    fc.property(secret, fc.string({ maxLength: 7 }), fc.string({ maxLength: 7 }), (value, before, after) => {
      const encoded = Buffer.from(`${before}${value}${after}`).toString('base64');
      const safe = Buffer.from(toRedactor([value])(encoded).replaceAll('[secret]', ''), 'base64').toString('latin1');
      expect(safe).not.toContain(value.slice(4, 12));
    }),
  );
});

test('the body of a bad answer, which holds customer data, is never logged', () => {
  const error = new ResponseError('bad_json', 'the answer is no JSON', {
    method: 'POST',
    path: '/aml/search',
    status: 201,
    body: '{"query":"Gudrun Beispiel"',
  });
  expect(logAll([], (log) => log.error({ err: error }, 'bad'))).not.toContain('Gudrun');
});

test('a level logs what is as grave or graver', () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'warn', secrets: [], write: (line) => lines.push(line) });
  log.info('quiet');
  log.warn('loud');
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', msg: 'loud' });
});

test('a secret that becomes known later is replaced from then on, in every form', () => {
  const { redact, add } = openRedactor();
  expect(redact('token planted-token')).toBe('token planted-token');
  add('planted-token');
  add('planted-token');
  add('planted/second');
  expect(redact(`planted-token ${encodeURIComponent('planted/second')} ok`)).toBe('[secret] [secret] ok');
});
