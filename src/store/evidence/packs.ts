import { z } from 'zod';
import type { EvidenceHead } from '../../evidence/manifest.js';
import { packsSchema } from '../../vocabulary/facts.js';
import { packEndings } from '../../vocabulary.js';
import { type Database, findRow, type Queryable, readRow, readValue } from '../database/database.js';
import { sql } from '../database/statement.js';

const packRow = z.object({
  packId: z.number(),
  organisationId: z.number(),
  runId: z.number(),
  rosterId: z.number().nullable(),
  accountId: z.number().nullable(),
  /** Its number in the run. */
  number: z.number(),
  ending: z.enum(packEndings),
  queuedAt: z.date(),
  version: z.string(),
  /** What it holds of the run. */
  wave: z.number(),
  provenWave: z.number(),
  appliedWave: z.number(),
  isHeld: z.boolean(),
  unconfirmedBecause: z.string().nullable(),
  calls: z.record(z.string(), z.number()),
  /** What the pack of the run before holds; 0 without one. */
  formerWave: z.number(),
  formerEvent: z.number(),
  afterImport: z.number(),
  throughImport: z.number(),
  isPlanned: z.boolean(),
  afterDossierChange: z.number(),
  throughDossierChange: z.number(),
  stateChange: z.number(),
  alertEvent: z.number(),
  sequence: z.number().nullable(),
  runJson: z.string().nullable(),
  manifestSha256: z.string().nullable(),
  formerSha256: z.string().nullable(),
});
/** A pack of a run. */
export type PackRow = z.infer<typeof packRow>;
const preparedRow = packRow.extend({ sequence: z.number(), runJson: z.string() });
/** A pack with its place in the chain. */
export type PreparedPack = z.infer<typeof preparedRow>;

const packSql = sql`
  select pack.*, run.roster_id, run.account_id, run.version, coalesce(former.wave, 0) as former_wave, coalesce(former.alert_event, 0) as former_event
  from evidence_pack pack
  join run using (run_id)
  left join evidence_pack former on former.run_id = pack.run_id and former.number = pack.number - 1`;

/** Queues the pack of a run that ends, or is applied now, unless its settings say that it has none. */
export async function queuePack(transaction: Queryable, runId: number): Promise<void> {
  // Whoever changes the state of a customer holds this row until the end of the transaction: no lower number follows the last change.
  await transaction.execute(
    sql`select from organisation join run using (organisation_id) where run_id = ${runId} for no key update of organisation`,
  );
  await transaction.execute(
    sql`insert into evidence_pack (
       organisation_id, run_id, number, ending, queued_at, wave, proven_wave, applied_wave, is_held, unconfirmed_because, calls,
       is_planned, after_import, through_import, after_dossier_change, through_dossier_change, state_change, alert_event, head_sequence
     )
     select run.organisation_id, run.run_id, former.last + 1,
       case when run.state in ('stopped', 'abandoned') then run.state when former.is_ended then 'accepted' else 'ended' end,
       now(), run.wave, run.proven_wave, run.applied_wave, run.is_held, run.unconfirmed_because,
       coalesce((select jsonb_object_agg(worker, calls order by worker) from run_worker where run_worker.run_id = run.run_id), '{}'),
       run.state <> 'stopped'
         or exists (select from call where call.run_id = run.run_id and outcome <> 'not_sent')
         or exists (select from batch where batch.run_id = run.run_id),
       records.packed, greatest(records.packed, records.newest), dossiers.packed, greatest(dossiers.packed, dossiers.newest),
       coalesce((select max(change_id) from customer_state_change), 0),
       coalesce((select max(event_id) from alert_event), 0),
       (select max(sequence) from evidence_pack where evidence_pack.organisation_id = run.organisation_id and written_at is not null)
     from run
     cross join lateral (
       select coalesce(max(number), 0) as last, coalesce(bool_or(ending = 'ended'), false) as is_ended from evidence_pack where evidence_pack.run_id = run.run_id
     ) former
     cross join lateral (
       select
         coalesce((
           select max(through_import) from evidence_pack join run other using (run_id) where other.roster_id = run.roster_id
         ), 0) as packed,
         coalesce((select max(import_id) from roster_import where roster_import.roster_id = run.roster_id), 0) as newest
     ) records
     cross join lateral (
       select
         coalesce((
           select max(through_dossier_change) from evidence_pack join run other using (run_id) where other.account_id = run.account_id
         ), 0) as packed,
         case when run.kind = 'sweep' then (select max(change_id) from dossier_change) end as newest
     ) dossiers
     where run.run_id = ${runId} and run.settings #> '{evidence,dir}' is distinct from 'null'`,
  );
}

/** Whether the search of a run ends with this pack. Each run has at most one such pack. */
export const isClosing = ({ ending }: PackRow): boolean => ending === 'ended' || ending === 'abandoned';

/** The packs of an organisation without a place in the chain, in the order in which they were queued. */
export const readQueuedPacks = (database: Queryable, organisationId: number): Promise<PackRow[]> =>
  database.query(
    packRow,
    sql`${packSql} where pack.organisation_id = ${organisationId} and pack.sequence is null order by pack.pack_id`,
  );

/** The first pack of the chain of an organisation that is not written yet; null where all are. */
export const findWaitingPack = (database: Queryable, organisationId: number): Promise<PreparedPack | null> =>
  findRow(
    database,
    preparedRow,
    sql`${packSql}
     where pack.organisation_id = ${organisationId} and pack.written_at is null and pack.sequence is not null
     order by pack.sequence limit 1`,
  );

/** The packs of an organisation that were written, in the order of the chain. */
export const readWrittenPacks = (database: Queryable, organisationId: number): Promise<PreparedPack[]> =>
  database.query(
    preparedRow,
    sql`${packSql} where pack.organisation_id = ${organisationId} and pack.written_at is not null order by pack.sequence`,
  );

const headRow = z.object({ sequence: z.number(), sha256: z.string() }) satisfies z.ZodType<EvidenceHead>;

const placeRow = z.object({
  runId: z.number(),
  number: z.number(),
  sequence: z.number().nullable(),
  manifestSha256: z.string().nullable(),
});
/** A pack in its folder and in the chain. */
export type PackPlace = z.infer<typeof placeRow>;

/** The packs of these runs, those at these places in the chain, and those that hold these versions of the record of a customer, in the order of the chain. */
export const readPackPlaces = (
  database: Queryable,
  organisationId: number,
  of: {
    runIds: readonly number[];
    sequences: readonly number[];
    record: { customerId: number; versions: readonly number[] } | null;
  },
): Promise<readonly PackPlace[]> =>
  database.query(
    placeRow,
    sql`select pack.run_id, pack.number, pack.sequence, pack.manifest_sha256
     from evidence_pack pack
     where pack.organisation_id = ${organisationId} and (
       pack.run_id = any (${of.runIds}) or pack.sequence = any (${of.sequences}) or exists (
         select from customer_version version
         join roster_import imported using (import_id)
         join run on run.run_id = pack.run_id and run.roster_id = imported.roster_id
         where version.customer_id = ${of.record?.customerId ?? null}::bigint and version.version = any (${of.record?.versions ?? []})
           and imported.import_id > pack.after_import and imported.import_id <= pack.through_import
       )
     )
     order by pack.sequence nulls first, pack.pack_id`,
  );

/** The last pack of an organisation that was written; null without one. */
export const findLastPack = (database: Queryable, organisationId: number): Promise<EvidenceHead | null> =>
  findRow(
    database,
    headRow,
    sql`select sequence, manifest_sha256 as sha256 from evidence_pack
     where organisation_id = ${organisationId} and manifest_sha256 is not null order by sequence desc limit 1`,
  );

/** The number of packs of an organisation that are not written yet, and since when the first of them waits. */
export const countWaitingPacks = (database: Queryable, organisation: string) =>
  readRow(
    database,
    z.object({ waiting: z.number(), since: z.date().nullable() }),
    sql`select count(*)::integer as waiting, min(queued_at) as since
     from evidence_pack join organisation using (organisation_id)
     where organisation.name = ${organisation} and written_at is null`,
  );

/** Gives a pack its place in the chain, and fixes what it holds; a second time changes nothing. */
export async function preparePack(database: Database, pack: PackRow, runJson: string): Promise<void> {
  await database.transaction(async (transaction) => {
    // Two processes that prepare packs of one organisation wait for each other.
    await transaction.execute(
      sql`select from organisation where organisation_id = ${pack.organisationId} for no key update`,
    );
    const prepared = await transaction.execute(
      sql`update evidence_pack pack set run_json = ${runJson}, sequence = chain.last + 1
       from (select coalesce(max(sequence), 0) as last from evidence_pack where organisation_id = ${pack.organisationId}) chain
       where pack.pack_id = ${pack.packId} and pack.sequence is null`,
    );
    if (prepared === 1) await notePacked(transaction, pack);
  });
}

/** Notes which answers, dispositions, reports and erasures are in a pack: those that are in none before. */
async function notePacked(transaction: Queryable, pack: PackRow): Promise<void> {
  const { packId, runId, organisationId, wave } = pack;
  await transaction.execute(
    sql`insert into packed (kind, id, pack_id)
     select distinct 'answer', answered.response_id, ${packId}::bigint
     from (
       select response_id from answer where run_id = ${runId} and wave <= ${wave}
       union all select response_id from reused where run_id = ${runId} and wave <= ${wave}
       union all select response_id from single_search where run_id = ${runId} and ${isClosing(pack)}
     ) answered
     where response_id is not null
       and not exists (select from packed where packed.kind = 'answer' and packed.id = answered.response_id and packed.part = 0)`,
  );
  await transaction.execute(
    sql`insert into packed (kind, id, pack_id)
     select 'disposition', disposition.disposition_id, ${packId}::bigint
     from disposition join alert using (alert_id) join account using (account_id)
     where account.organisation_id = ${organisationId}
       -- Whose transaction was late has a lower number than those of others; so many are looked through again.
       and disposition.disposition_id > coalesce((select max(id) from packed where kind = 'disposition'), 0) - 10000
       and not exists (select from packed where packed.kind = 'disposition' and packed.id = disposition.disposition_id and packed.part = 0)`,
  );
  await transaction.execute(
    sql`insert into packed (kind, id, pack_id)
     select 'acceptance', accepted.acceptance_id, ${packId}::bigint
     from acceptance accepted
     left join run on run.run_id = accepted.run_id
     left join roster on roster.roster_id = accepted.roster_id
     where coalesce(accepted.organisation_id, run.organisation_id, roster.organisation_id) = ${organisationId}
       and not exists (select from packed where packed.kind = 'acceptance' and packed.id = accepted.acceptance_id and packed.part = 0)`,
  );
  await transaction.execute(
    sql`insert into packed (kind, id, pack_id)
     select 'discrepancy', event.event_id, ${packId}::bigint
     from discrepancy_event event join discrepancy using (discrepancy_id) join account using (account_id)
     where account.organisation_id = ${organisationId} and (event.run_id = ${runId} or event.run_id is null)
       and not exists (select from packed where packed.kind = 'discrepancy' and packed.id = event.event_id and packed.part = 0)`,
  );
  await transaction.execute(
    sql`insert into packed (kind, id, pack_id)
     select 'erasure', customer_id, ${packId}::bigint
     from erasure join customer using (customer_id) join roster using (roster_id)
     where roster.organisation_id = ${organisationId}
       and not exists (select from packed where packed.kind = 'erasure' and packed.id = erasure.customer_id and packed.part = 0)`,
  );
  await transaction.execute(
    sql`insert into packed (kind, id, part, pack_id)
     select 'report', report.run_id, report.revision, ${packId}::bigint
     from report join run using (run_id)
     where run.organisation_id = ${organisationId} and report.manifest_sha256 is not null
       and not exists (
         select from packed where packed.kind = 'report' and packed.id = report.run_id and packed.part = report.revision
       )`,
  );
}

/**
 * Lets the packs that are not written follow a chain of which the database does not know the end: `head` is its last pack, `lastRun` and `lastPack`
 * are the highest numbers of a run, and of a pack of this run, in its folder. Later runs get higher numbers.
 */
export async function followChain(
  database: Database,
  pack: PreparedPack,
  { head, lastRun, lastPack }: { head: EvidenceHead; lastRun: number; lastPack: number },
): Promise<void> {
  const { packId, organisationId, runId } = pack;
  const [places, numbers] = [head.sequence + 1 - pack.sequence, Math.max(0, lastPack + 1 - pack.number)];
  await database.transaction(async (transaction) => {
    await transaction.execute(
      sql`select from organisation where organisation_id = ${organisationId} for no key update`,
    );
    const followed = await transaction.execute(
      sql`update evidence_pack set former_sha256 = ${head.sha256}
       where pack_id = ${packId} and sequence = ${pack.sequence} and written_at is null`,
    );
    // Another process was first.
    if (followed === 0) return;
    await transaction.execute(
      sql`update evidence_pack set sequence = sequence + ${places}::integer
       where organisation_id = ${organisationId} and written_at is null and sequence is not null`,
    );
    await transaction.execute(
      sql`update evidence_pack set number = number + ${numbers}::integer where run_id = ${runId} and written_at is null`,
    );
    await transaction.execute(
      sql`select setval(pg_get_serial_sequence('run', 'run_id'), greatest(${lastRun}::bigint, (select max(run_id) from run)))`,
    );
  });
}

/** Notes that a pack is written; its manifest has this digest. */
export async function noteWritten(
  database: Queryable,
  packId: number,
  manifestSha256: string,
  now: Date,
): Promise<void> {
  await database.execute(
    sql`update evidence_pack set manifest_sha256 = ${manifestSha256}, written_at = ${now}
     where pack_id = ${packId} and written_at is null`,
  );
}

/** The pack at a place in the chain of an organisation, if it is written; null otherwise. */
export const findHead = (database: Queryable, organisationId: number, sequence: number): Promise<EvidenceHead | null> =>
  findRow(
    database,
    headRow,
    sql`select sequence, manifest_sha256 as sha256 from evidence_pack
     where organisation_id = ${organisationId} and sequence = ${sequence} and manifest_sha256 is not null`,
  );

/** Whether a run has packs, and the last one that was written before them. */
export function readPacksBefore(database: Queryable, runId: number): Promise<z.infer<typeof packsSchema>> {
  return readRow(
    database,
    packsSchema,
    sql`select pack.run_id is not null as are_written,
       case when head.sequence is not null then
         json_build_object('sequence', head.sequence, 'sha256', head.manifest_sha256)
       end as before
     from (select) one
     left join evidence_pack pack on pack.run_id = ${runId} and pack.number = (select min(number) from evidence_pack where run_id = ${runId})
     left join evidence_pack head on head.organisation_id = pack.organisation_id and head.sequence = pack.head_sequence`,
  );
}

/** Whether a pack of a run could not be written yet. */
export const isPackWaiting = (database: Queryable, runId: number): Promise<boolean> =>
  readValue(
    database,
    z.boolean(),
    sql`select exists (select from evidence_pack where run_id = ${runId} and written_at is null) as waiting`,
  );
