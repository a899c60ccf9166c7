import { z } from 'zod';
import type { DossierChange } from '../../changes/dossier-changes.js';
import type { DossierSnapshot } from '../../dossiers/dossier.js';
import type { WalkedPage, WindowWalk } from '../../dossiers/sweep-dossiers.js';
import { dossierSchema } from '../../vocabulary/source-facts.js';
import { detailStops } from '../../vocabulary.js';
import { findRow, insertRows, type Queryable, readColumn, readRow, readValue } from '../database/database.js';
import { insertInto, json, replaceInto, type Sql, sql } from '../database/statement.js';

const dossierRow = z.object({ snapshot: dossierSchema, isGone: z.boolean() });

/** The stored dossiers among these ids, by id. */
export async function readDossiers(database: Queryable, accountId: number, dossierIds: readonly string[]) {
  const rows = await database.query(
    dossierRow,
    sql`select snapshot, gone_at is not null as is_gone from dossier where account_id = ${accountId} and dossier_id = any (${dossierIds})`,
  );
  return new Map(rows.map((row) => [row.snapshot.id, { snapshot: row.snapshot, isGone: row.isGone }]));
}

/** Saves new and changed dossiers. */
export async function saveDossiers(
  transaction: Queryable,
  accountId: number,
  runId: number,
  dossiers: readonly DossierSnapshot[],
): Promise<void> {
  if (dossiers.length === 0) return;
  await transaction.execute(sql`
    insert into dossier (account_id, dossier_id, snapshot, changed_by_run_id)
    select ${accountId}, snapshot ->> 'id', snapshot, ${runId} from jsonb_array_elements(${json(dossiers)}) as snapshot
    on conflict (account_id, dossier_id) do update set
      snapshot = excluded.snapshot, changed_by_run_id = excluded.changed_by_run_id, gone_at = null, missing_run_id = null`);
}

/** Saves the changes that a sweep has found. */
export async function saveDossierChanges(
  transaction: Queryable,
  runId: number,
  changes: readonly DossierChange[],
  seenAt: Date,
): Promise<void> {
  const rows = changes.map(({ kind, fields, before, after }) => {
    const dossierId = after?.id ?? before?.id;
    return { runId, dossierId, kind, fields, before, after, seenAt };
  });
  await insertRows(transaction, 'dossier_change', rows);
}

/**
 * Takes over the unreported changes of stopped earlier sweeps of the account. Gives the number of new, gone and changed dossiers that the sweep
 * reports. A starting point reports no changes, so the dossiers on its pages are counted.
 */
export async function countSweptDossiers(
  transaction: Queryable,
  { accountId, runId, isStart }: { accountId: number; runId: number; isStart: boolean },
) {
  await transaction.execute(sql`
    update dossier_change set run_id = ${runId}
    from run
    where run.run_id = dossier_change.run_id and run.account_id = ${accountId} and run.run_id < ${runId}
      and run.sweep is null`);
  return readRow(
    transaction,
    z.object({ appeared: z.number(), changed: z.number(), gone: z.number() }),
    isStart
      ? sql`select coalesce(sum(appeared), 0)::integer as appeared, coalesce(sum(changed), 0)::integer as changed, 0 as gone
         from swept_page where run_id = ${runId}`
      : sql`select count(*) filter (where kind = 'dossier_appeared')::integer as appeared,
           count(*) filter (where kind = 'dossier_gone')::integer as gone,
           count(*) filter (where kind not in ('dossier_appeared', 'dossier_gone'))::integer as changed
         from dossier_change where run_id = ${runId}`,
  );
}

const idsPerPage = 5_000;

const unlistedRow = z.object({ id: z.string(), wasMissing: z.boolean(), isAccepted: z.boolean() });

/** The dossiers that were not gone before, in pages by id; `isAccepted` where a person has accepted the sweep that missed it. */
async function* readPresent(database: Queryable, accountId: number) {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: readonly z.infer<typeof unlistedRow>[] = await database.query(
      unlistedRow,
      sql`select dossier_id as id, missing_run_id is not null as "wasMissing", accepted.run_id is not null as "isAccepted"
       from dossier left join accepted_run accepted on accepted.run_id = dossier.missing_run_id
       where account_id = ${accountId} and dossier_id > ${after} and gone_at is null
       order by dossier_id limit ${idsPerPage}`,
    );
    yield page;
    after = page.length < idsPerPage ? undefined : page.at(-1)?.id;
  }
}

/**
 * The number of dossiers that earlier sweeps knew, and of those among them that a proven sweep has not listed (`lost`), without those that a
 * person has accepted as missing.
 */
export async function countLost(database: Queryable, accountId: number, isListed: (id: string) => boolean) {
  // Dossiers that this sweep has found first, also before it was stopped and resumed.
  const appeared = await readValue(
    database,
    z.number(),
    sql`select count(*)::integer as appeared from dossier_change join run using (run_id)
     where run.account_id = ${accountId} and run.sweep is null and dossier_change.kind = 'dossier_appeared'`,
  );
  const counted = { known: -appeared, lost: 0 };
  for await (const page of readPresent(database, accountId)) {
    counted.known += page.length;
    counted.lost += page.filter(({ id, isAccepted }) => !isAccepted && !isListed(id)).length;
  }
  return counted;
}

/**
 * Marks the dossiers that a proven sweep has not listed as gone or, for one that is held because too many are missing (`heldRunId`), as missing; listed ones are no longer
 * missing. Writes in pages, each by `write`, so that transactions stay small; `write` gets the last snapshots of the gone ones.
 */
export async function markUnlisted(
  database: Queryable,
  sweep: { accountId: number; isListed: (id: string) => boolean; heldRunId: number | null; now: Date },
  write: (work: (transaction: Queryable) => Promise<readonly DossierSnapshot[]>) => Promise<void>,
): Promise<void> {
  const { accountId, isListed, heldRunId, now } = sweep;
  for await (const page of readPresent(database, accountId)) {
    const unlisted = page.filter(({ id }) => !isListed(id)).map(({ id }) => id);
    const isBack = page.filter(({ id, wasMissing }) => wasMissing && isListed(id)).map(({ id }) => id);
    if (unlisted.length + isBack.length === 0) continue;
    await write(async (transaction) => {
      await transaction.execute(
        sql`update dossier set missing_run_id = null where account_id = ${accountId} and dossier_id = any (${isBack})`,
      );
      const marked = await readColumn(
        transaction,
        dossierSchema,
        sql`update dossier set missing_run_id = ${heldRunId}, gone_at = ${heldRunId === null ? now : null}
         where account_id = ${accountId} and dossier_id = any (${unlisted}) and gone_at is null
         returning snapshot`,
      );
      return heldRunId === null ? marked : [];
    });
  }
}

/** The number of dossiers that a held sweep missed, and that no later sweep has listed, missed or removed. */
export function countMissing(database: Queryable, runId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    sql`select count(*)::integer as missing from dossier where missing_run_id = ${runId} and gone_at is null`,
  );
}

const detailsShape = z.object({
  asked: z.number(),
  kept: z.number(),
  notAvailable: z.number(),
  missing: z.number(),
  stoppedBecause: z.enum(detailStops).nullable(),
});
const sweepShape = z.object({
  pages: z.number(),
  dossiers: z.number(),
  appeared: z.number(),
  changed: z.number(),
  gone: z.number(),
  proven: z.boolean(),
  unprovenBecause: z.string().nullable(),
  /** Counts of looked-up dossier records; `missing` ones are left for the next sweep. Null if look-ups are off. */
  details: detailsShape.nullable(),
});
/** The result of a sweep. */
export type Sweep = z.infer<typeof sweepShape>;

/** Saves the result of a sweep. */
export async function saveSweep(transaction: Queryable, runId: number, sweep: Sweep): Promise<void> {
  await transaction.execute(sql`update run set sweep = ${JSON.stringify(sweep)} where run_id = ${runId}`);
}

/** The result of a sweep; null before its end. `isStart`: no sweep of the account had ended before. */
export async function readSweep(database: Queryable, runId: number) {
  const found = await findRow(
    database,
    z.object({ sweep: sweepShape, isStart: z.boolean() }),
    sql`select sweep, not exists (
         select from run before
         where before.account_id = run.account_id and before.run_id < run.run_id and before.sweep is not null
       ) as "isStart"
     from run where run_id = ${runId} and sweep is not null`,
  );
  return found && { ...found.sweep, isStart: found.isStart };
}

const lastSweepRow = z.object({
  runId: z.number(),
  accountId: z.number(),
  isTest: z.boolean(),
  finishedAt: z.date(),
  unprovenBecause: z.string().nullable(),
});

/** The last sweep that has ended, of an account or of any account of an organisation; null before the first. */
export async function findLastSweep(database: Queryable, of: number | { organisationId: number }) {
  const condition =
    typeof of === 'number' ? sql`run.account_id = ${of}` : sql`run.organisation_id = ${of.organisationId}`;
  return findRow(
    database,
    lastSweepRow,
    sql`select run_id, account_id, account.is_test, run.finished_at,
       case when not (run.sweep -> 'proven')::boolean then coalesce(run.sweep ->> 'unprovenBecause', 'the last sweep is not proven complete') end
         as "unprovenBecause"
     from run join account using (account_id)
     where ${condition} and run.sweep is not null and run.finished_at is not null
     order by run_id desc limit 1`,
  );
}

/** Saves the windows of a sweep. */
export async function saveSweepWindows(
  transaction: Queryable,
  runId: number,
  windows: readonly Pick<WindowWalk, 'from' | 'to'>[],
) {
  const toInstant = (ms: number) => (ms > 0 && Number.isFinite(ms) ? new Date(ms) : null);
  const rows = windows.map(({ from, to }, place) => {
    const span = { createdFrom: toInstant(from), createdTo: toInstant(to) };
    return { runId, ordinal: place + 1, place, ...span };
  });
  await insertRows(transaction, 'swept_page', rows);
}

/** Saves pages of windows, so that a stopped sweep continues after them. */
export async function saveSweptPages(
  transaction: Queryable,
  runId: number,
  pages: readonly (WalkedPage & { appeared: number; changed: number })[],
): Promise<void> {
  const last = await readValue(
    transaction,
    z.number(),
    sql`select max(ordinal) as last from swept_page where run_id = ${runId}`,
  );
  const rows = pages.map(({ windowIndex, hasEnded, dossiers, appeared, changed }, index) => ({
    runId,
    ordinal: last + index + 1,
    place: windowIndex,
    hasEnded,
    dossierIds: dossiers.map(({ id }) => id),
    createdAt: dossiers.map(({ createdAt }) => createdAt),
    appeared,
    changed,
  }));
  await insertRows(transaction, 'swept_page', rows);
}

/**
 * The progress of a sweep: its windows with their saved pages, none at its begin and after its end. `isStart`: no sweep of the account has ended
 * yet, so its findings are no changes.
 */
export async function readSweepProgress(database: Queryable, accountId: number, runId: number) {
  const isStart = await readValue(
    database,
    z.boolean(),
    sql`select not exists (select from run where account_id = ${accountId} and sweep is not null) as found`,
  );
  const windows = await database.query(
    z.object({ place: z.number(), from: z.date().nullable(), to: z.date().nullable(), hasEnded: z.boolean() }),
    sql`select place, max(created_from) as from, max(created_to) as to, bool_or(has_ended) as has_ended
     from swept_page where run_id = ${runId} group by place order by place`,
  );
  const pages = await database.query(
    z.object({ place: z.number(), ids: z.array(z.string()), created: z.array(z.string()) }),
    sql`select place, dossier_ids as ids, created_at as created from swept_page where run_id = ${runId} order by ordinal`,
  );
  const walks = windows.map(
    ({ place, from, to, hasEnded }): WindowWalk => ({
      from: from?.getTime() ?? 0,
      to: to?.getTime() ?? Number.POSITIVE_INFINITY,
      hasEnded,
      walked: pages
        .filter((page) => page.place === place)
        .flatMap(({ ids, created }) => ids.map((id, index) => ({ id, createdAt: created[index] ?? '' }))),
    }),
  );
  return { isStart, walks };
}

/** Removes the saved pages of a sweep that has ended. */
export async function dropSweptPages(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute(sql`delete from swept_page where run_id = ${runId}`);
}

const recordIdRow = z.object({
  dossierId: z.string(),
  kind: z.enum(['dossier', 'entity', 'decision']),
  id: z.string(),
});
/** A record to look up: a dossier, or an applicant or a decision that the dossier names. */
export type DossierRecordId = z.infer<typeof recordIdRow>;

// A dossier is due if a sweep has found it changed since its look-up; a named record is due once its dossier is fetched.
const toAskSql = (accountId: number): Sql => sql`
  select dossier.dossier_id, named.kind, named.record_id, dossier.changed_by_run_id
  from dossier_record named
  join dossier on dossier.account_id = named.account_id and dossier.dossier_id = named.dossier_id and dossier.gone_at is null
  where named.account_id = ${accountId} and named.run_id is null
  union all
  select dossier.dossier_id, 'dossier', dossier.dossier_id, dossier.changed_by_run_id
  from dossier
  left join dossier_record asked on asked.account_id = dossier.account_id and asked.dossier_id = dossier.dossier_id
    and asked.kind = 'dossier'
  where dossier.account_id = ${accountId} and dossier.gone_at is null
    and (asked.run_id is null or asked.run_id < dossier.changed_by_run_id)`;

/** The records that a sweep must look up, those of the last changed dossiers first; `left` is the remainder of `most`. */
export async function listRecordsToAsk(
  database: Queryable,
  { accountId, runId, most }: { accountId: number; runId: number; most: number },
) {
  const askedSql = sql`select count(*)::integer as asked from dossier_record where run_id = ${runId}`;
  const left = Math.max(0, most - (await readValue(database, z.number(), askedSql)));
  const due = await database.query(
    recordIdRow,
    sql`select dossier_id, kind, record_id as id from (${toAskSql(accountId)}) as due
     order by changed_by_run_id desc, kind = 'dossier', dossier_id, record_id limit ${left}`,
  );
  return { left, due };
}

/** The number of records that a sweep has looked up, that it received, and that are still missing. */
export async function countRecords(database: Queryable, accountId: number, runId: number) {
  return readRow(
    database,
    z.object({ asked: z.number(), kept: z.number(), missing: z.number() }),
    sql`select count(*)::integer as asked, (count(*) filter (where reason is null))::integer as kept,
       (select count(*) from (${toAskSql(accountId)}) as due)::integer as missing
     from dossier_record where run_id = ${runId}`,
  );
}

/**
 * Saves the outcome of a look-up. A record replaces the former one, and a dossier's record also gives the applicants and decisions that it names.
 * A reason for a missing record keeps the former one.
 */
export async function saveDossierRecord(
  transaction: Queryable,
  { id: recordId, ...asked }: DossierRecordId & { accountId: number; runId: number; askedAt: Date },
  record:
    | { reason: string }
    | {
        body: string;
        withheldLinks: number;
        /** All null unless it is an entity. */
        applicant: { name: string | null; birthDate: string | null; country: string | null };
        named: readonly DossierRecordId[];
      },
): Promise<void> {
  const { accountId, dossierId, kind, askedAt } = asked;
  const key = ['account_id', 'dossier_id', 'kind', 'record_id'];
  const save = (found: object) =>
    transaction.execute(replaceInto('dossier_record', [{ ...asked, recordId, ...found }], key));
  if ('reason' in record) {
    await save(record);
    return;
  }
  const listed = (await readDossiers(transaction, accountId, [dossierId])).get(dossierId);
  const { body, withheldLinks, applicant, named } = record;
  const dossierUpdatedAt = listed?.snapshot.updatedAt ?? null;
  await save({ fetchedAt: askedAt, reason: null, dossierUpdatedAt, body, withheldLinks, ...applicant });
  if (kind === 'dossier') await saveNamedRecords(transaction, accountId, dossierId, named);
}

/** Makes the applicants and decisions that a dossier names due, and deletes those that it no longer names. */
async function saveNamedRecords(
  transaction: Queryable,
  accountId: number,
  dossierId: string,
  named: readonly DossierRecordId[],
): Promise<void> {
  const ids = named.map(({ id }) => id);
  await transaction.execute(sql`
    delete from dossier_record
    where account_id = ${accountId} and dossier_id = ${dossierId} and kind <> 'dossier' and record_id <> all (${ids})`);
  if (named.length === 0) return;
  const rows = named.map(({ kind, id }) => ({ accountId, dossierId, kind, recordId: id }));
  await transaction.execute(sql`
    ${insertInto('dossier_record', rows)}
    on conflict (account_id, dossier_id, kind, record_id) do update set run_id = null, asked_at = null`);
}
