import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { open, seal } from '../../../src/evidence/seal.js';

const key = randomBytes(32);
const text = '{"name":"Łukasz Çelik","countries":["PL"]}';

it('a sealed text opens with its key and for what it is about only', () => {
  const sealed = seal(key, 'record/12/3', text);
  expect(open(key, 'record/12/3', sealed)).toBe(text);
  expect(() => open(key, 'record/12/4', sealed)).toThrowError('the sealed text of record/12/4 cannot be opened');
  expect(() => open(randomBytes(32), 'record/12/3', sealed)).toThrowError(
    expect.objectContaining({ code: 'seal_broken' }),
  );
});

it('no change of a sealed text opens', () => {
  const bytes = Buffer.from(seal(key, 'answer/7', text), 'base64');
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => open(key, 'answer/7', changed.toString('base64'))).toThrowError('cannot be opened');
    expect(() => open(key, 'answer/7', bytes.subarray(0, at).toString('base64'))).toThrowError('cannot be opened');
  }
});

it('the same text gives the same bytes, and another text or place gives another nonce', () => {
  const readNonce = (sealed: string): string => sealed.slice(0, 16);
  const sealed = seal(key, 'answer/7', text);
  expect(seal(key, 'answer/7', text)).toBe(sealed);
  const others = [
    seal(key, 'answer/8', text),
    seal(key, 'answer/7', `${text} `),
    seal(randomBytes(32), 'answer/7', text),
  ];
  expect(new Set([sealed, ...others].map(readNonce)).size).toBe(4);
});
