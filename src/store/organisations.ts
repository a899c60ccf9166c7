import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { DatabaseMissingError, StoreError } from '../errors.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** Who owns rosters and a service account; `digestKey` is the secret of its keyed digests. */
export interface Organisation {
  organisationId: number;
  name: string;
  digestKey: Buffer;
}

/** A service account in one mode, told apart by its public key. */
export interface Account {
  accountId: number;
  isTest: boolean;
}

const organisationRow = z.object({ organisation_id: z.number(), digest_key: z.instanceof(Buffer) });
const accountRow = z.object({ account_id: z.number(), is_test: z.boolean() });
const rosterRow = z.object({ roster_id: z.number() });

/** Finds the organisation of this name or creates it; whoever only finds it needs no right to write. */
export async function ensureOrganisation(database: Queryable, name: string, now: Date): Promise<Organisation> {
  const known = await findOrganisation(database, name);
  if (known !== undefined) return known;
  await database.execute(
    'insert into organisation (name, digest_key, created_at) values ($1, $2, $3) on conflict (name) do nothing',
    [name, randomBytes(32), now],
  );
  const made = await findOrganisation(database, name);
  if (made !== undefined) return made;
  throw new StoreError('organisation_unknown', `${name} could not be stored; please report this`);
}

/** Finds the organisation of this name; throws DatabaseMissingError when nothing was ever stored for it. */
export async function readOrganisation(database: Queryable, name: string): Promise<Organisation> {
  const known = await findOrganisation(database, name);
  if (known !== undefined) return known;
  throw new DatabaseMissingError(`nothing was imported for ${name} yet`);
}

/** The organisation of this name; undefined when nothing was ever stored for it. */
export async function findOrganisation(database: Queryable, name: string): Promise<Organisation | undefined> {
  const [row] = await database.query(
    organisationRow,
    'select organisation_id, digest_key from organisation where name = $1',
    [name],
  );
  return row && { organisationId: row.organisation_id, name, digestKey: row.digest_key };
}

/** An account without a public key is the organisation's only such account of its mode: a renewed private key is the same account. */
const toPublicKey = (publicKey: string | null, isTest: boolean): string =>
  publicKey ?? `(none, ${isTest ? 'test' : 'live'} mode)`;

/** Finds the account with this public key or creates it; the base URL is kept as last used. */
export async function ensureAccount(
  database: Queryable,
  organisationId: number,
  account: { publicKey: string | null; isTest: boolean; baseUrl: string },
  now: Date,
): Promise<Account> {
  const rows = await database.query(
    accountRow,
    `insert into account (organisation_id, public_key, is_test, base_url, created_at) values ($1, $2, $3, $4, $5)
     on conflict (organisation_id, public_key) do update set base_url = excluded.base_url
     returning account_id, is_test`,
    [organisationId, toPublicKey(account.publicKey, account.isTest), account.isTest, account.baseUrl, now],
  );
  const row = firstRow(rows, 'account');
  return { accountId: row.account_id, isTest: row.is_test };
}

/** Whether an account of this organisation has been reached at this address. */
export async function hasAccountAt(database: Queryable, organisationId: number, baseUrl: string): Promise<boolean> {
  const rows = await database.query(
    z.object({ is_known: z.boolean() }),
    'select exists (select from account where organisation_id = $1 and base_url = $2) as is_known',
    [organisationId, baseUrl],
  );
  return firstRow(rows, 'account').is_known;
}

/** An account in words, by the end of its public key and its address; throws StoreError when there is none of this number. */
export async function readAccountName(database: Queryable, accountId: number): Promise<string> {
  const rows = await database.query(
    z.object({ name: z.string() }),
    `select 'account ...' || right(public_key, 4) || ' at ' || base_url as name from account where account_id = $1`,
    [accountId],
  );
  return firstRow(rows, 'account').name;
}

/**
 * The account in this mode, or in any without one, that the roster's last run used, else the organisation's last one; for what is judged
 * without asking the service. Null before the first.
 */
export async function findLastAccount(
  database: Queryable,
  rosterId: number,
  mode: 'test' | 'live' | undefined,
): Promise<Account | null> {
  const rows = await database.query(
    accountRow,
    `select account_id, is_test from account
     join run using (account_id)
     where ($2::boolean is null or account.is_test = $2)
       and account.organisation_id = (select organisation_id from roster where roster_id = $1)
     order by (run.roster_id is not distinct from $1) desc, run.run_id desc limit 1`,
    [rosterId, mode === undefined ? null : mode === 'test'],
  );
  const row = rows[0];
  return row ? { accountId: row.account_id, isTest: row.is_test } : null;
}

/** Finds the organisation's roster of this name or creates it. */
export async function ensureRoster(
  database: Queryable,
  organisationId: number,
  name: string,
  now: Date,
): Promise<number> {
  await database.execute(
    'insert into roster (organisation_id, name, created_at) values ($1, $2, $3) on conflict (organisation_id, name) do nothing',
    [organisationId, name, now],
  );
  const rows = await database.query(
    rosterRow,
    'select roster_id from roster where organisation_id = $1 and name = $2',
    [organisationId, name],
  );
  return firstRow(rows, 'roster').roster_id;
}

/** The number of an organisation's roster of this name; null where it was never begun. */
export async function findRoster(database: Queryable, organisation: string, name: string): Promise<number | null> {
  const rows = await database.query(
    rosterRow,
    `select roster_id from roster join organisation using (organisation_id)
     where organisation.name = $1 and roster.name = $2`,
    [organisation, name],
  );
  return rows[0]?.roster_id ?? null;
}

/** The names of all rosters by their number. */
export async function readRosterNames(database: Queryable): Promise<ReadonlyMap<number, string>> {
  const rows = await database.query(
    z.object({ roster_id: z.number(), name: z.string() }),
    'select roster_id, name from roster',
  );
  return new Map(rows.map((row) => [row.roster_id, row.name]));
}

/** All rosters of an organisation that were ever begun. */
export async function listRosters(
  database: Queryable,
  organisation: string,
): Promise<readonly { rosterId: number; name: string }[]> {
  return database.query(
    z.object({ rosterId: z.number(), name: z.string() }),
    `select roster_id as "rosterId", roster.name from roster join organisation using (organisation_id)
     where organisation.name = $1 order by roster_id`,
    [organisation],
  );
}
