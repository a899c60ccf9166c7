import { createHmac } from 'node:crypto';

// Crockford's alphabet, without the ambiguous letters I, L, O and U.
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const halfBits = 20n;
const halfMask = (1n << halfBits) - 1n;
const rounds = [0, 1, 2, 3] as const;
const codeLength = 8;
const seenVersionLength = 10;

/** An alert in a working list: its number and the version that was seen. */
interface AlertCode {
  alertId: number;
  seenVersion: string;
}

/** The prefix of the code of one alert (`N`), of a row for many alerts (`B`), or of a discrepancy (`D`). */
type AlertCodeLetter = 'N' | 'B' | 'D';

/**
 * The code of a row in a working list: the letter, 8 characters for the alert, 10 for the seen version, and a check character. It reveals
 * nothing without the organisation's key, and no spreadsheet reads it as a number or a date.
 */
export function toAlertCode({ alertId, seenVersion }: AlertCode, key: Buffer, letter: AlertCodeLetter = 'N'): string {
  const body = `${toText(encipher(BigInt(alertId), key, rounds), codeLength)}${seenVersion}`;
  return `${letter}${body.slice(0, codeLength)}-${body.slice(codeLength)}-${toCheckCharacter(body)}`;
}

/** Reads such a code, regardless of spaces and case; null when it is none or has a typing error. */
export function parseAlertCode(cell: string, key: Buffer, letter: AlertCodeLetter = 'N'): AlertCode | null {
  const text = cell
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[\s\-']/g, '')
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1');
  if (!/^[NBD][0-9A-HJKMNP-TV-Z]{19}$/.test(text) || !text.startsWith(letter)) return null;
  const body = text.slice(1, -1);
  if (toCheckCharacter(body) !== text.at(-1)) return null;
  const alertId = encipher(fromText(body.slice(0, codeLength)), key, rounds.toReversed());
  return alertId > BigInt(Number.MAX_SAFE_INTEGER)
    ? null
    : { alertId: Number(alertId), seenVersion: body.slice(codeLength) };
}

/** The seen version after an event. */
export const toEventSeenVersion = (eventId: number, key: Buffer): string =>
  toSeenVersion(createHmac('sha256', key).update(`event ${eventId}`).digest('hex'));

/** The first 50 bits of a digest (hex) as a seen version. */
export const toSeenVersion = (digest: string): string =>
  toText(BigInt(`0x${digest.slice(0, 13)}`) >> 2n, seenVersionLength);

// A Feistel network over 40 bits (Luby and Rackoff, 1988); the reversed order of rounds deciphers.
function encipher(value: bigint, key: Buffer, order: readonly number[]): bigint {
  const isForward = order[0] === 0;
  let [left, right] = [value >> halfBits, value & halfMask];
  for (const round of order) {
    if (isForward) [left, right] = [right, left ^ toRound(right, key, round)];
    else [left, right] = [right ^ toRound(left, key, round), left];
  }
  return (left << halfBits) | right;
}

function toRound(half: bigint, key: Buffer, round: number): bigint {
  const digest = createHmac('sha256', key).update(`alert ${round} ${half}`).digest();
  return BigInt(digest.readUInt32BE(0)) & halfMask;
}

/** The Luhn algorithm modulo 32: detects each wrong character and nearly every swap of two neighbours. */
function toCheckCharacter(body: string): string {
  const size = alphabet.length;
  let sum = 0;
  for (const [index, letter] of [...body].toReversed().entries()) {
    const product = alphabet.indexOf(letter) * (index % 2 === 0 ? 2 : 1);
    sum += Math.floor(product / size) + (product % size);
  }
  return alphabet[(size - (sum % size)) % size] ?? '0';
}

function toText(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest >>= 5n) text = `${alphabet[Number(rest & 31n)]}${text}`;
  return text;
}

const fromText = (text: string): bigint =>
  [...text].reduce((value, letter) => (value << 5n) | BigInt(alphabet.indexOf(letter)), 0n);
