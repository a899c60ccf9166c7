import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { EvidenceError } from '../errors.js';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts a text with a key of 32 bytes, bound to what it is about, such as `answer/789`. The result is base64. The same key, `about` and
 * text give the same result, so that a lost pack can be made again byte for byte. Other texts get other nonces, as AES-GCM requires.
 */
export function seal(key: Uint8Array, about: string, text: string): string {
  const nonce = createHmac('sha256', key).update(`${about}\n${text}`).digest().subarray(0, nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(about));
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

/** Decrypts what `seal` made. Throws EvidenceError `seal_broken` for another key, for another `about` and for changed bytes. */
export function open(key: Uint8Array, about: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const nonce = bytes.subarray(0, nonceBytes);
  const tagAt = Math.max(nonceBytes, bytes.length - tagBytes);
  try {
    const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(about)).setAuthTag(bytes.subarray(tagAt));
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, tagAt)), decipher.final()]).toString('utf8');
  } catch (cause) {
    const message = `the sealed text of ${about} cannot be opened; the key is another one, or the text was changed`;
    throw new EvidenceError('seal_broken', message, { cause });
  }
}

/** The keys with which `EVIDENCE_KEY` wraps all others: the first one wraps, each of them opens. */
export type WrappingKeys = readonly Uint8Array[];

const keyBytes = 32;

/** Reads one or several keys of 32 bytes in base64, with commas between them; null for anything else. */
export function readWrappingKeys(text: string): WrappingKeys | null {
  const keys = text.split(',').map((one) => Buffer.from(one.trim(), 'base64'));
  return keys.every(({ length }) => length === keyBytes) ? keys : null;
}

/** Encrypts a key with the first of these; without any it stays as it is. `about` names it, as in `customer/12`. */
export function wrapKey([first]: WrappingKeys, about: string, key: Uint8Array): Buffer {
  if (first === undefined) return Buffer.from(key);
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, first, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(about));
  return Buffer.concat([nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()]);
}

/** Whether a stored key is encrypted. */
export const isWrapped = (stored: Uint8Array): boolean => stored.length !== keyBytes;

/** Gives what `wrapKey` was given. Throws EvidenceError `key_not_opened` without the right key. */
export function unwrapKey(keys: WrappingKeys, about: string, stored: Uint8Array): Uint8Array {
  if (!isWrapped(stored)) return stored;
  const tagAt = stored.length - tagBytes;
  for (const key of keys) {
    try {
      const decipher = createDecipheriv(algorithm, key, stored.subarray(0, nonceBytes), { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(about)).setAuthTag(stored.subarray(tagAt));
      return Buffer.concat([decipher.update(stored.subarray(nonceBytes, tagAt)), decipher.final()]);
    } catch {}
  }
  const message = `the key of ${about} is wrapped, and EVIDENCE_KEY ${keys.length === 0 ? 'is not set' : 'does not open it'}. Set EVIDENCE_KEY to the key that wrapped it`;
  throw new EvidenceError('key_not_opened', message);
}
