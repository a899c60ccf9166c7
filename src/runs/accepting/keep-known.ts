import type { z } from 'zod';

/**
 * What a schema still knows of a value that was stored under an older one: as little as possible of what it refuses is left out; undefined
 * where nothing is left.
 */
export function keepKnown(schema: z.ZodType, stored: unknown): unknown {
  let kept = stored;
  for (;;) {
    const issue = schema.safeParse(kept).error?.issues[0];
    if (issue === undefined || kept === undefined) return kept;
    kept = leaveOut(kept, issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : issue.path);
  }
}

/** The value without what stands at a path; undefined where nothing stands there, because it misses what it must have. */
function leaveOut(value: unknown, path: readonly PropertyKey[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined || typeof value !== 'object' || value === null) return undefined;
  const inner: unknown = Reflect.get(value, key);
  if (inner === undefined) return undefined;
  const left = leaveOut(inner, rest);
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => [
    name,
    name === String(key) ? left : each,
  ]);
  const kept = entries.filter(([, each]) => each !== undefined);
  return Array.isArray(value) ? kept.map(([, each]) => each) : Object.fromEntries(kept);
}
