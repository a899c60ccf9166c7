import { z } from 'zod';
import { instant } from '../../vocabulary/facts.js';
import { type EvidenceKeyKind, evidenceKeyKinds } from '../../vocabulary.js';
import { type Database, type Queryable, readValue } from '../database/database.js';
import { sql } from '../database/statement.js';

const keyRow = z.object({ kind: z.enum(evidenceKeyKinds), id: z.number(), key: z.instanceof(Buffer) });
/** A key as it is stored: 32 bytes, or those wrapped. */
type StoredKey = z.infer<typeof keyRow>;

/** The keys of these customers, answers or runs; one that has none gets what `make` gives. */
export async function ensureKeys(
  database: Queryable,
  kind: EvidenceKeyKind,
  ids: readonly number[],
  make: (id: number) => Buffer,
): Promise<ReadonlyMap<number, Buffer>> {
  const read = async (): Promise<ReadonlyMap<number, Buffer>> =>
    new Map((await readKeys(database, kind, ids)).map(({ id, key }) => [id, key]));
  const known = await read();
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length === 0) return known;
  const keys = missing.map((id) => make(id).toString('hex'));
  await database.execute(
    sql`insert into evidence_key (kind, id, key)
     select ${kind}::text, id, decode(key, 'hex') from unnest(${missing}::bigint[], ${keys}::text[]) as made (id, key)
     on conflict do nothing`,
  );
  // Another process may have been first.
  return read();
}

/** The keys of these customers, answers or runs, as far as there are any. */
export const readKeys = (
  database: Queryable,
  kind: EvidenceKeyKind,
  ids: readonly number[],
): Promise<readonly StoredKey[]> =>
  database.query(
    keyRow,
    sql`select kind, id, key from evidence_key where kind = ${kind} and id = any (${ids}) order by id`,
  );

/** All keys, in batches. */
export const listKeys = (database: Database, batchSize: number): AsyncIterable<StoredKey[]> =>
  database.cursor(keyRow, 'select kind, id, key from evidence_key order by kind, id', batchSize);

/** Stores keys that are wrapped in another way; one that was erased meanwhile stays away. */
export const rewrapKeys = (database: Database, keys: readonly StoredKey[]): Promise<void> =>
  database.transaction(async (transaction) => {
    await transaction.execute(sql`select set_config('nightscreen.erases', 'on', true)`);
    await transaction.execute(
      sql`update evidence_key set key = decode(wrapped.key, 'hex')
       from unnest(
         ${keys.map(({ kind }) => kind)}::text[], ${keys.map(({ id }) => id)}::bigint[], ${keys.map(({ key }) => key.toString('hex'))}::text[]
       ) as wrapped (kind, id, key)
       where evidence_key.kind = wrapped.kind and evidence_key.id = wrapped.id`,
    );
  });

/** `customer`: it has the keys of this customer only. */
const copySchema = z.object({
  file: z.string(),
  host: z.string(),
  at: instant,
  by: z.string(),
  customer: z.number().optional(),
});

/** Notes a copy of the keys of one organisation, or of all, outside of the database. */
export async function noteKeyCopy(
  database: Queryable,
  copy: z.output<typeof copySchema>,
  organisationId: number | null,
): Promise<void> {
  await database.execute(
    sql`update organisation set key_copies = key_copies || ${JSON.stringify([copy])}::text::jsonb
     where organisation_id = coalesce(${organisationId}, organisation_id)`,
  );
}

/** The copies outside of the database that have keys of these customers, oldest first. */
export async function readKeyCopies(database: Queryable, organisationId: number, customerIds: readonly number[]) {
  const copies = await readValue(
    database,
    z.array(copySchema),
    sql`select key_copies from organisation where organisation_id = ${organisationId}`,
  );
  return copies.filter(({ customer }) => customer === undefined || customerIds.includes(customer));
}
