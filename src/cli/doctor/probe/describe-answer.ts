import type { ProbeAnswer } from './probe-sender.js';

const plainKey = /^[A-Za-z_][\w.-]{0,39}$/;
const mostKeys = 8;
const deepest = 3;

/** A key as it may be shown: one that is no plain word may hold anything. */
export const toShownKey = (key: string): string => (plainKey.test(key) ? key : '?');

/** The keys of a JSON value as text, as in `{error: {type, message}}`; values are never shown, because they may be customer data. */
export function describeShape(value: unknown, depth = 0): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${describeShape(value[0], depth + 1)}]`;
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  if (depth === deepest) return '{...}';
  const entries = Object.entries(value);
  const shown = entries.slice(0, mostKeys).map(([key, inner]) => {
    const name = toShownKey(key);
    return typeof inner === 'object' && inner !== null ? `${name}: ${describeShape(inner, depth + 1)}` : name;
  });
  return `{${[...shown, ...(entries.length > mostKeys ? ['...'] : [])].join(', ')}}`;
}

/** What came in place of the answer that was expected, without any of its content. */
export function describeUnexpected({ status, code, value, isComplete }: ProbeAnswer): string {
  if (!isComplete) return `status ${status}, and an answer that is longer than service.maxResponseBytes or broke off`;
  if (status >= 200 && status < 300) {
    return `status ${status}, ${value === undefined ? 'no JSON' : `an answer of the form ${describeShape(value)}`}`;
  }
  return `status ${status}${code === `http_${status}` ? '' : ` (${code})`}`;
}
