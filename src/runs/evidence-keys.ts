import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { usageError } from '../errors.js';
import { isWrapped, readWrappingKeys, unwrapKey, type WrappingKeys, wrapKey } from '../evidence/seal.js';
import { writePrivately } from '../files.js';
import { ensureKeys, listKeys, noteKeyCopy, readKeys, rewrapKeys } from '../store/evidence/keys.js';
import type { EvidenceKeyKind } from '../vocabulary.js';
import type { AppContext } from './app-context.js';

/** The environment variable with the keys that wrap all others. */
const wrappingVariable = 'EVIDENCE_KEY';

function listWrappingKeys({ secret }: AppContext): WrappingKeys {
  const text = secret(wrappingVariable);
  if (text === undefined) return [];
  const keys = readWrappingKeys(text);
  if (keys !== null) return keys;
  throw usageError(`variable ${wrappingVariable}`, 'it is no key of 32 bytes in base64');
}

const keyBytes = 32;

/** The keys of these customers, answers or runs; those that have none get one. Throws ConfigError and EvidenceError. */
export async function openKeys(
  app: AppContext,
  kind: EvidenceKeyKind,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Uint8Array>> {
  const wrapping = listWrappingKeys(app);
  const make = (id: number): Buffer => wrapKey(wrapping, `${kind}/${id}`, randomBytes(keyBytes));
  const stored = await ensureKeys(app.database, kind, ids, make);
  return new Map([...stored].map(([id, key]) => [id, unwrapKey(wrapping, `${kind}/${id}`, key)]));
}

/** The same, but only those that are there. */
export async function openKnownKeys(app: AppContext, kind: EvidenceKeyKind, ids: readonly number[]) {
  const wrapping = listWrappingKeys(app);
  const stored = await readKeys(app.database, kind, ids);
  return stored.map(({ id, key }) => ({ kind, id, key: unwrapKey(wrapping, `${kind}/${id}`, key) }));
}

const batchSize = 5_000;

/** Wraps all keys with the first key of EVIDENCE_KEY; gives their number. Throws ConfigError without EVIDENCE_KEY. */
export async function wrapAllKeys(app: AppContext): Promise<number> {
  const wrapping = requireWrappingKeys(app);
  let count = 0;
  for await (const keys of listKeys(app.database, batchSize)) {
    const wrapped = keys.map(({ kind, id, key }) => {
      const about = `${kind}/${id}`;
      return { kind, id, key: wrapKey(wrapping, about, unwrapKey(wrapping, about, key)) };
    });
    await rewrapKeys(app.database, wrapped);
    count += keys.length;
  }
  return count;
}

/** A copy of all keys that was exported to a file. */
export interface KeyCopy {
  file: string;
  host: string;
  at: Date;
  by: string;
}

/**
 * Writes all keys to a file, wrapped as they are stored: a line for each, as JSON. The copy is noted, because an erasure must reach it too. Throws
 * ConfigError without EVIDENCE_KEY, and for keys that are not wrapped.
 */
export async function exportKeys(app: AppContext, file: string, by: string): Promise<{ keys: number; copy: KeyCopy }> {
  requireWrappingKeys(app);
  let keys = 0;
  async function* toLines(): AsyncGenerator<string> {
    for await (const batch of listKeys(app.database, batchSize)) {
      for (const { kind, id, key } of batch) {
        if (!isWrapped(key)) throw toUnwrappedError();
        keys += 1;
        yield `${JSON.stringify({ kind, id, key: key.toString('base64') })}\n`;
      }
    }
  }
  await writePrivately(file, toLines());
  const copy = { file, host: hostname(), at: app.clock.now(), by };
  // It has the keys of all organisations.
  await noteKeyCopy(app.database, copy, null);
  return { keys, copy };
}

const toUnwrappedError = () =>
  usageError(
    'keys',
    'some keys are stored as they are, without EVIDENCE_KEY; wrap them first: nightscreen evidence keys wrap',
  );

function requireWrappingKeys(app: AppContext): WrappingKeys {
  const wrapping = listWrappingKeys(app);
  if (wrapping.length > 0) return wrapping;
  throw usageError(
    `variable ${wrappingVariable}`,
    'it is not set: without it nothing wraps the keys; make one with `openssl rand -base64 32` and keep a copy away from the database',
  );
}
