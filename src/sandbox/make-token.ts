import { randomBytes } from 'node:crypto';

const OPAQUE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const HUMANIZED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

const draw = (letters: string, length: number): string =>
  [...randomBytes(length)].map((byte) => letters[byte % letters.length]).join('');

/** Makes the opaque part of an identifier: 24 mixed-case letters and digits (service facts: tokens). */
export const makeToken = (): string => draw(OPAQUE, 24);

/** Makes a token for people: 9 upper-case letters and digits (service facts: tokens). */
export const makeHumanizedToken = (): string => draw(HUMANIZED, 9);
