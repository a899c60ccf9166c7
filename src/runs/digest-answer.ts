import { createHmac } from 'node:crypto';
import { z } from 'zod';

const json = z.json();

/** The keyed digest of an answer: HMAC-SHA-256 over its canonical JSON, so that white space and key order make no difference. */
export function digestAnswer(digestKey: Buffer, body: string): Buffer {
  return createHmac('sha256', digestKey)
    .update(toCanonicalJson(json.parse(JSON.parse(body))))
    .digest();
}

/** JSON with the keys of every object in order and no white space. */
function toCanonicalJson(value: z.infer<typeof json>): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${toCanonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
