import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { DatabaseMissingError, StoreError } from '../errors.js';
import type { RunMode } from '../vocabulary.js';
import { findRow, findValue, insertRows, type Queryable, readColumn, readRow, readValue } from './database/database.js';
import { insertInto, json, rawSql, type Sql, sql } from './database/statement.js';

/** Without its key, which reviewers may not read. */
const knownOrganisationRow = z.object({ organisationId: z.number(), name: z.string() });
export type KnownOrganisation = z.infer<typeof knownOrganisationRow>;
/** `digestKey` is the secret of its keyed digests. */
const organisationRow = knownOrganisationRow.extend({ digestKey: z.instanceof(Buffer) });
/** The owner of rosters and of a service account. */
export type Organisation = z.infer<typeof organisationRow>;

/** SQL: a row of `table` belongs to the organisation of this name. */
export const isOfOrganisation = (table: string, name: string): Sql =>
  sql`${rawSql(table)}.organisation_id = (select organisation_id from organisation where name = ${name})`;

const reviewOrganisationRow = knownOrganisationRow.extend({
  /** The secret of the codes of alerts and of the digests of what was seen. */
  reviewKey: z.instanceof(Buffer),
});
const accountRow = z.object({ accountId: z.number(), isTest: z.boolean() });
/** A service account in one mode, identified by its public key. */
export type Account = z.infer<typeof accountRow>;

/** Finds the organisation of this name or creates it; finding it needs neither a right to write nor one on its key. */
export async function ensureOrganisation(database: Queryable, name: string, now: Date): Promise<KnownOrganisation> {
  const known = await findOrganisation(database, name);
  if (known !== null) return known;
  await database.execute(
    sql`insert into organisation (name, digest_key, created_at) values (${name}, ${randomBytes(32)}, ${now}) on conflict (name) do nothing`,
  );
  const made = await findOrganisation(database, name);
  if (made !== null) return made;
  throw new StoreError('organisation_unknown', `${name} could not be stored; please report this`);
}

/** The organisation of this name with its key; throws DatabaseMissingError when none is stored. */
export function readOrganisation(database: Queryable, name: string): Promise<Organisation> {
  const columns = sql`organisation_id, name, digest_key`;
  return readKnown(database, organisationRow, name, columns);
}

/** The organisation of this name for a reviewer, who may not read the key of answers; throws DatabaseMissingError as `readOrganisation`. */
export function readReviewOrganisation(
  database: Queryable,
  name: string,
): Promise<z.infer<typeof reviewOrganisationRow>> {
  const columns = sql`organisation_id, name, review_key`;
  return readKnown(database, reviewOrganisationRow, name, columns);
}

async function readKnown<Row>(database: Queryable, row: z.ZodType<Row>, name: string, columns: Sql): Promise<Row> {
  const known = await findRow(database, row, sql`select ${columns} from organisation where name = ${name}`);
  if (known !== null) return known;
  throw new DatabaseMissingError(`nothing was imported for ${name} yet`);
}

/** The organisation of this name, or null; reading it needs no right to read keys. */
export function findOrganisation(database: Queryable, name: string): Promise<KnownOrganisation | null> {
  return findRow(
    database,
    knownOrganisationRow,
    sql`select organisation_id, name from organisation where name = ${name}`,
  );
}

/** The organisations with data, by name. */
export function readOrganisationNames(database: Queryable): Promise<readonly string[]> {
  return readColumn(
    database,
    z.string(),
    sql`select name from organisation where exists (select from roster where roster.organisation_id = organisation.organisation_id) order by name`,
  );
}

/** An organisation has one account without a public key per mode: a renewed private key is the same account. */
const toPublicKey = (publicKey: string | null, isTest: boolean): string =>
  publicKey ?? `(none, ${isTest ? 'test' : 'live'} mode)`;

/** Finds the account with this public key or creates it; stores the base URL of the last use. */
export async function ensureAccount(
  database: Queryable,
  organisationId: number,
  account: { publicKey: string | null; isTest: boolean; baseUrl: string },
  now: Date,
): Promise<Account> {
  const { isTest, baseUrl } = account;
  const publicKey = toPublicKey(account.publicKey, isTest);
  const row = { organisationId, publicKey, isTest, baseUrl, createdAt: now };
  // A row that stays as it is is not locked: a closing run that has found another list cap holds it.
  const kept = await findRow(
    database,
    accountRow,
    sql`select account_id, is_test from account
     where organisation_id = ${organisationId} and public_key = ${publicKey} and base_url = ${baseUrl}`,
  );
  return (
    kept ??
    readRow(
      database,
      accountRow,
      sql`${insertInto('account', [row])}
       on conflict (organisation_id, public_key) do update set base_url = excluded.base_url
       returning account_id, is_test`,
    )
  );
}

/** Whether an account of this organisation has answered at this address. */
export function hasAccountAt(database: Queryable, organisationId: number, baseUrl: string): Promise<boolean> {
  return readValue(
    database,
    z.boolean(),
    sql`select exists (select from account where organisation_id = ${organisationId} and base_url = ${baseUrl}) as is_known`,
  );
}

/** Describes an account by the end of its public key and its address; throws StoreError when there is none. */
export function readAccountName(database: Queryable, accountId: number): Promise<string> {
  return readValue(
    database,
    z.string(),
    sql`select 'account ...' || right(public_key, 4) || ' at ' || base_url as name from account where account_id = ${accountId}`,
  );
}

/**
 * The account of the roster's last run in this mode (or any), else of the organisation's last run, for work without a call to the service.
 * Null before the first.
 */
export async function findLastAccount(database: Queryable, rosterId: number, mode: RunMode | undefined) {
  const isTest = mode === undefined ? null : mode === 'test';
  return findRow(
    database,
    accountRow,
    sql`select account_id, is_test from account
     join run using (account_id)
     where account.is_test = coalesce(${isTest}, account.is_test)
       and account.organisation_id = (select organisation_id from roster where roster_id = ${rosterId})
     order by (run.roster_id is not distinct from ${rosterId}) desc, run.run_id desc limit 1`,
  );
}

export async function ensureRoster(database: Queryable, organisationId: number, name: string, now: Date) {
  await database.execute(
    sql`insert into roster (organisation_id, name, created_at) values (${organisationId}, ${name}, ${now}) on conflict (organisation_id, name) do nothing`,
  );
  return readValue(
    database,
    z.number(),
    sql`select roster_id from roster where organisation_id = ${organisationId} and name = ${name}`,
  );
}

/** The number of an organisation's roster of this name, or null. */
export function findRoster(database: Queryable, organisation: string, name: string): Promise<number | null> {
  return findValue(
    database,
    z.number(),
    sql`select roster_id from roster join organisation using (organisation_id)
     where organisation.name = ${organisation} and roster.name = ${name}`,
  );
}

/** The names of an organisation's rosters by their numbers. */
export async function readRosterNames(database: Queryable, organisation: string): Promise<ReadonlyMap<number, string>> {
  const rows = await database.query(
    z.object({ rosterId: z.number(), name: z.string() }),
    sql`select roster_id, roster.name from roster join organisation using (organisation_id)
     where organisation.name = ${organisation} order by roster_id`,
  );
  return new Map(rows.map((row) => [row.rosterId, row.name]));
}

const recordRow = z.object({
  recordId: z.number(),
  settings: z.record(z.string(), z.unknown()),
  /** SHA-256 (hex). */
  digest: z.string(),
  differences: z.array(z.string()).readonly(),
  acceptedBy: z.string(),
  isAttested: z.boolean(),
  /** Who accepted them first, where two people were needed. */
  proposedBy: z.string().nullable(),
  reason: z.string(),
  acceptedAt: z.date(),
});
/** Accepted assessment settings. */
export type SettingsRecord = z.infer<typeof recordRow>;

const columns = sql`acceptance_id as "recordId", acceptance.settings, digest, differences, accepted_by, is_attested, proposed_by,
  reason, accepted_at`;

/**
 * The last accepted settings of an organisation; null before the first. `isLocked`: no other process records its settings until the
 * transaction ends. `exceptReason`: records with this reason do not count.
 */
export async function readAcceptedSettings(
  database: Queryable,
  organisationId: number,
  { isLocked = false, exceptReason = '' } = {},
): Promise<SettingsRecord | null> {
  if (isLocked) {
    await database.execute(sql`select from organisation where organisation_id = ${organisationId} for no key update`);
  }
  return findRow(
    database,
    recordRow,
    sql`select ${columns} from acceptance where organisation_id = ${organisationId} and not is_proposal and reason <> ${exceptReason}
     order by acceptance_id desc limit 1`,
  );
}

/** The accepted settings at the start of a run; null when unknown. */
export function readRunSettings(database: Queryable, runId: number): Promise<SettingsRecord | null> {
  return findRow(
    database,
    recordRow,
    sql`select ${columns} from run join acceptance on acceptance_id = run.settings_id where run.run_id = ${runId}`,
  );
}

/** All accepted settings of an organisation, oldest first. */
export async function readSettingsHistory(database: Queryable, organisation: string) {
  return database.query(
    recordRow,
    sql`select ${columns} from acceptance join organisation using (organisation_id)
     where organisation.name = ${organisation} and not is_proposal order by acceptance_id`,
  );
}

/** Settings that somebody accepts. */
type OfferedSettings = Omit<SettingsRecord, 'recordId' | 'proposedBy'>;

const toRow = (organisationId: number, offered: OfferedSettings) => ({ kind: 'settings', organisationId, ...offered });

/**
 * Records settings as accepted from now on. The organisation is locked, so that nothing is recorded twice. Where two people are needed, the
 * database refuses them unless another person has proposed them, and notes that person.
 */
export function saveSettingsRecord(transaction: Queryable, organisationId: number, offered: OfferedSettings) {
  return readValue(
    transaction,
    z.number(),
    sql`${insertInto('acceptance', [toRow(organisationId, offered)])} returning acceptance_id`,
  );
}

/** The paths of the settings that only two people accept: with four eyes in force, those that may release somebody. */
export async function findSettingsOfTwo(
  database: Queryable,
  organisationId: number,
  settings: SettingsRecord['settings'],
): Promise<readonly string[]> {
  return readValue(
    database,
    z.array(z.string()),
    sql`select find_settings_of_two(${organisationId}, ${json(settings)})`,
  );
}

/** Who has accepted these settings since the last record, and waits for another person. */
export function readProposers(database: Queryable, organisationId: number, settings: SettingsRecord['settings']) {
  return readValue(database, z.array(z.string()), sql`select find_proposers(${organisationId}, ${json(settings)})`);
}

/** Records that one person accepts settings, which another must accept too. */
export async function proposeSettings(transaction: Queryable, organisationId: number, offered: OfferedSettings) {
  await insertRows(transaction, 'acceptance', [{ isProposal: true, ...toRow(organisationId, offered) }]);
}

/** The settings accepted after one record of the run's organisation, up to those of the run, oldest first. */
export async function readSettingsChanges(database: Queryable, runId: number, formerRecordId: number | null) {
  if (formerRecordId === null) return [];
  return database.query(
    recordRow.omit({ recordId: true, settings: true, digest: true }),
    sql`select ${columns} from acceptance
     join run on run.run_id = ${runId} and run.organisation_id = acceptance.organisation_id
     where acceptance_id > ${formerRecordId} and acceptance_id <= run.settings_id and not is_proposal
     order by acceptance_id`,
  );
}

export function readRostersOf(database: Queryable, organisationId: number): Promise<readonly string[]> {
  return readColumn(
    database,
    z.string(),
    sql`select name from roster where organisation_id = ${organisationId} order by name`,
  );
}

/** Whether a customer of this reference is or was in a roster of the organisation. */
export function isKnownCustomer(database: Queryable, organisationId: number, name: string): Promise<boolean> {
  return readValue(
    database,
    z.boolean(),
    sql`select exists (
       select from customer join roster using (roster_id)
       where roster.organisation_id = ${organisationId} and customer.reference = ${name}
     ) as is_known`,
  );
}

/** Whether this name was ever assigned an alert of the organisation. */
export function wasEverAssignee(database: Queryable, organisationId: number, name: string): Promise<boolean> {
  return readValue(
    database,
    z.boolean(),
    sql`select exists (
         select from alert join account using (account_id) left join alert_event using (alert_id)
         where account.organisation_id = ${organisationId} and ${name} in (alert.assigned_to, alert_event.assigned_to)
       ) as was_assignee`,
  );
}
