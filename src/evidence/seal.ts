import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
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
