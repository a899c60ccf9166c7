import { z } from 'zod';
import { type HeldBy, nameGuards } from '../../errors.js';
import type { RosterAcceptanceFacts, RosterChangeFacts, SnapshotFacts } from '../../reports/run-facts.js';
import type { AcceptedQuality } from '../../roster/guards.js';
import {
  columnDoubtsSchema,
  doubtedRowSchema,
  rejectSchema,
  rosterAcceptanceSchema,
  rosterChangesSchema,
  rosterSourceSchema,
  snapshotSchema,
} from '../../vocabulary/source-facts.js';
import type { RunMode } from '../../vocabulary.js';
import { findRow, insertRows, type Queryable, readColumn, readValue } from '../database/database.js';
import { sql } from '../database/statement.js';
import type { StagedImport } from './staging.js';

const { changes } = rosterAcceptanceSchema.shape;
const finding = rosterAcceptanceSchema.shape.heldBy.element;

/** Stores the acceptance of a run's roster against its guards. */
export async function saveRosterAcceptance(transaction: Queryable, runId: number, acceptance: RosterAcceptanceFacts) {
  const { acceptedBy, isAttested, reason, acceptedAt, changes } = acceptance;
  const heldBy = acceptance.heldBy.map(({ guard, message }) => ({ guard, message }));
  const row = { runId, kind: 'roster', acceptedBy, isAttested, reason, acceptedAt, heldBy, changes };
  await insertRows(transaction, 'acceptance', [row]);
}

/** The first changes that were accepted with a run's own roster. */
export async function readAcceptedChanges(database: Queryable, runId: number): Promise<readonly RosterChangeFacts[]> {
  const rows = await database.query(
    z.object({ changes }),
    sql`select changes from acceptance where run_id = ${runId} and kind = 'roster' order by acceptance_id`,
  );
  return rows.flatMap((accepted) => accepted.changes);
}

const holdRow = z.object({
  source: z.string(),
  sourceDigest: z.string(),
  /** The ids without a record of an accepted roster. */
  newIds: z.number(),
  /** The command that accepts it. */
  command: z.string(),
  heldBy: z.array(finding.extend({ look: z.string() })) satisfies z.ZodType<readonly HeldBy[]>,
  changes,
});
/** A roster that guards held while its run continued with the last accepted one. */
export type RosterHold = Omit<z.infer<typeof holdRow>, 'changes'> & Pick<RosterAcceptanceFacts, 'changes'>;

/** Stores a held roster and its new ids, of a run that continues with the last accepted one. */
export async function saveRosterHold(
  transaction: Queryable,
  staged: StagedImport,
  hold: Omit<RosterHold, 'newIds'> & { heldAt: Date },
): Promise<void> {
  const { heldAt, ...found } = hold;
  const customers = await saveHeldIds(transaction, staged, heldAt);
  const heldBy = found.heldBy.map(({ guard, message, look }) => ({ guard, message, look }));
  const reasons = nameGuards(heldBy);
  const row = { runId: staged.runId, kind: 'roster', reasons, customers, heldAt, roster: { ...found, heldBy } };
  await insertRows(transaction, 'run_hold', [row]);
}

/**
 * Stores the new ids of a held roster, its rejected rows included, and deletes those that only an earlier held roster
 * named. Gives the number of stored ids. Nothing else of a held roster takes effect.
 */
async function saveHeldIds(transaction: Queryable, { runId, rosterId, isDelta }: StagedImport, heldAt: Date) {
  await transaction.execute(sql`
    delete from unaccepted_customer unaccepted
    where roster_id = ${rosterId} and reason = 'roster_held' and not ${isDelta} and not exists (
      select from roster_staging staged
      where staged.run_id = ${runId} and staged.reference = unaccepted.reference and not staged.is_party
    )`);
  return transaction.execute(sql`
    insert into unaccepted_customer (roster_id, reference, reason, since, run_id)
    select ${rosterId}::bigint, reference, 'roster_held', ${heldAt}, ${runId}::bigint
    from (select distinct reference from roster_staging where run_id = ${runId} and reference is not null and not is_party) named
    where not exists (
      select from customer known where known.roster_id = ${rosterId} and known.reference = named.reference
    )
    on conflict (roster_id, reference) do update set run_id = excluded.run_id where unaccepted_customer.reason = 'roster_held'`);
}

/** The roster that guards held in this run; null when there was none. */
export function readRosterHold(database: Queryable, runId: number): Promise<RosterHold | null> {
  return findRow(
    database,
    holdRow,
    sql`select roster ->> 'source' as source, roster ->> 'sourceDigest' as "sourceDigest", customers as "newIds",
       roster ->> 'command' as command, roster -> 'heldBy' as "heldBy", roster -> 'changes' as changes
     from run_hold where run_id = ${runId} and kind = 'roster'`,
  );
}

/** The acceptances of the roster that a run used: those of the run itself and of the import it used. */
export async function readRosterAcceptances(database: Queryable, runId: number) {
  return database.query(
    rosterAcceptanceSchema,
    sql`select accepted_by, is_attested, reason, accepted_at, held_by, changes
     from acceptance
     where kind = 'roster' and run_id in (
       select ${runId}::bigint
       union all
       (select roster_import.run_id from roster_import join run on run.run_id = ${runId} and run.roster_id = roster_import.roster_id
        where roster_import.run_id <= ${runId} order by import_id desc limit 1)
     )
     order by acceptance_id`,
  );
}

/** The rows that a run's import rejected, by file and line, at most `limit`. */
export async function readRejects(database: Queryable, runId: number, limit: number | null = null) {
  return database.query(
    rejectSchema,
    sql`select reject.line, reject.file, reject.column_name as "column", reject.reason,
       reject.value_class, reject.reference, reject.fields
     from roster_row reject
     join roster_import using (import_id)
     where roster_import.run_id = ${runId} and reject.reason is not null
     order by coalesce(reject.file, '') collate "C", reject.line, reject.ordinal
     limit ${limit}`,
  );
}

/** The first rows that a run's import accepted with values in doubt, by file and line. */
export async function readDoubtedRows(database: Queryable, runId: number) {
  return database.query(
    doubtedRowSchema,
    sql`select doubt.line, doubt.file, doubt.reference, doubt.doubts, doubt.fields, doubt.is_party
     from roster_row doubt
     join roster_import using (import_id)
     where roster_import.run_id = ${runId} and doubt.reason is null
     order by coalesce(doubt.file, '') collate "C", doubt.line, doubt.ordinal`,
  );
}

/**
 * Messages about columns of names that the roster's last whole snapshot or a later delta leaves out, unless a person accepted them with it:
 * nobody in them is searched for.
 */
export function readUnmappedNames(database: Queryable, rosterId: number): Promise<readonly string[]> {
  return readValue(
    database,
    z.array(z.string()),
    sql`select array(
       select distinct unnest(unmapped_names) from roster_import
       where roster_id = ${rosterId} and not 'unmapped_columns' = any (overridden_guards) and import_id >= coalesce((
         select max(import_id) from roster_import where roster_id = ${rosterId} and not is_delta
       ), 0)
       order by 1
     ) as messages`,
  );
}

/** The number of rows that a run's import rejected. */
export function countRejects(database: Queryable, runId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    sql`select count(*) as count from roster_row join roster_import using (import_id)
     where roster_import.run_id = ${runId} and reason is not null`,
  );
}

/** Whether the organisation's roster of this name was ever imported. */
export function hasImport(database: Queryable, organisationId: number, roster: string): Promise<boolean> {
  return readValue(
    database,
    z.boolean(),
    sql`select exists (
       select from roster_import join roster using (roster_id) where organisation_id = ${organisationId} and roster.name = ${roster}
     ) as found`,
  );
}

/** The source, digest and row counts of a run's import; null when there is none. */
export function readImportOrigin(database: Queryable, runId: number) {
  return findRow(
    database,
    z.object({ source: z.string(), digest: z.string(), rows: z.number(), rejected: z.number() }),
    sql`select source, source_digest as digest, rows, rejected from roster_import
     where run_id = ${runId} order by import_id desc limit 1`,
  );
}

const snapshotColumns = sql`
  is_delta, joined, changed, absent, leavers, returned, conflicts, party_rows, party_rejected, unreadable_ids,
  case when party_rows = 0 then 0 else (
    select count(*)::integer from customer
    join customer_version named using (customer_id)
    cross join jsonb_path_query(named.record, '$.parties[*] ? (@.role == "other")')
    where customer.roster_id = roster_import.roster_id and named.import_id <= roster_import.import_id
      and not exists (
        select from customer_version later
        where later.customer_id = named.customer_id and later.version > named.version
          and later.import_id <= roster_import.import_id
      )
  ) end as "otherRoles",
  (select count(distinct dropped -> 'partyId')::integer from jsonb_array_elements(dropped_parties) dropped) as "droppedParties",
  (
    select count(distinct reject.reference)::integer from roster_row reject
    join customer on customer.roster_id = roster_import.roster_id and customer.reference = reject.reference
    where reject.import_id = roster_import.import_id and not reject.is_party and reject.reason <> 'conflicting_id'
      and customer.first_import_id < reject.import_id
  ) as "keptRecords",
  overridden_guards, coalesce(changes -> 'reread', '[]') as reread, doubts`;
/** The result of a run's own import; null when it imported nothing. */
export function readSnapshot(database: Queryable, runId: number): Promise<SnapshotFacts | null> {
  return findRow(
    database,
    snapshotSchema,
    sql`select ${snapshotColumns} from roster_import where run_id = ${runId} order by import_id desc limit 1`,
  );
}

/** The import that a run of the roster used: its own, otherwise the last one before it. */
export function readRosterSource(database: Queryable, rosterId: number | null, runId: number) {
  return findRow(
    database,
    rosterSourceSchema,
    sql`select source, source_digest as digest, imported_at, ${snapshotColumns}
     from roster_import where roster_id = ${rosterId} and run_id <= ${runId}
     order by import_id desc limit 1`,
  );
}

/** How each import of the runs behind `after`, up to `until`, changed a roster; a first import is left out. */
export function readRosterChanges(
  database: Queryable,
  rosterId: number | null,
  { after, until }: { after: number; until: number },
) {
  return readColumn(
    database,
    rosterChangesSchema,
    sql`select changes from roster_import
     where roster_id = ${rosterId} and run_id > ${after} and run_id <= ${until} and changes is not null order by import_id`,
  );
}

/** The staged rows that equal rejected rows of an earlier import; a contradicting row equals one of the same customer. */
function countSameRejects(transaction: Queryable, runId: number, importId: number, isParty: boolean): Promise<number> {
  return readValue(
    transaction,
    z.number(),
    sql`with staged as (
       select reject_reason as reason, coalesce(reference, '') as reference, coalesce(fields::text, '') as fields, count(*) as rows
       from roster_staging where run_id = ${runId} and is_party = ${isParty} and reject_reason is not null
       group by 1, 2, 3
     ),
     accepted as (
       select reason, coalesce(reference, '') as reference,
         case when reason = 'conflicting_id' then '' else fields::text end as fields, count(*) as rows
       from roster_row where import_id = ${importId} and is_party = ${isParty} and reason is not null group by 1, 2, 3
     )
     select coalesce(sum(least(staged.rows, accepted.rows)), 0)::integer as rows
     from staged join accepted using (reason, reference, fields)`,
  );
}

const acceptedRow = z.object({ importId: z.number(), duplicates: z.number(), doubts: z.array(columnDoubtsSchema) });

/**
 * For each finding about the quality of rows the staged rows that the roster's last import had as well when a person accepted it against this guard
 * with a key of this mode; in a trial, those of its last import.
 */
export async function readAcceptedQuality(
  transaction: Queryable,
  { runId, rosterId, isDelta }: StagedImport,
  found: readonly { guard: string }[],
  { mode, isTrial }: { mode: RunMode; isTrial: boolean },
): Promise<AcceptedQuality> {
  const accepted: AcceptedQuality = { rejected: 0, partyRejected: 0, duplicates: 0, doubts: [] };
  for (const guard of ['rejects', 'duplicates', 'doubts']) {
    if (!found.some((finding) => finding.guard === guard)) continue;
    const former = await findRow(
      transaction,
      acceptedRow,
      sql`select import_id, roster_import.duplicates, roster_import.doubts
       from roster_import join run using (run_id)
       where roster_import.roster_id = ${rosterId} and is_delta = ${isDelta} and run.mode = ${mode} and (${isTrial} or ${guard} = any (overridden_guards))
       order by import_id desc limit 1`,
    );
    if (former === null) continue;
    const { importId, duplicates, doubts } = former;
    if (guard === 'rejects') {
      accepted.rejected = await countSameRejects(transaction, runId, importId, false);
      accepted.partyRejected = await countSameRejects(transaction, runId, importId, true);
    } else if (guard === 'duplicates') accepted.duplicates = duplicates;
    else accepted.doubts = doubts;
  }
  return accepted;
}
