import { z } from 'zod';
import { type AnswerState, answerStates, partyTypes, runKinds } from '../../vocabulary.js';
import { executeAll, findRow, findValue, insertRows, type Queryable } from '../database/database.js';
import { json, sql } from '../database/statement.js';
import { isOfOrganisation } from '../organisations.js';

const checkRow = z.object({
  type: z.enum(partyTypes),
  /** As typed. */
  name: z.string(),
  reason: z.string(),
  askedBy: z.string(),
  askedAt: z.date(),
  sentName: z.string(),
  outcome: z.enum(['in_progress', 'answered', 'not_answered']),
  outcomeReason: z.string().nullable(),
  responseId: z.number().nullable(),
  /** `not_screened` unless it was answered. */
  verdict: z.enum([...answerStates, 'not_screened']),
  /** Keyed digest (hex) of the answer. */
  responseDigest: z.string().nullable(),
  endedAt: z.date().nullable(),
});

/** Stores a check before its search. */
export async function insertCheck(
  transaction: Queryable,
  runId: number,
  requestId: number,
  { name, reason, askedBy, askedAt }: Pick<z.infer<typeof checkRow>, 'name' | 'reason' | 'askedBy' | 'askedAt'>,
): Promise<void> {
  const row = { runId, ordinal: 1, requestId, name, facts: { reason, askedBy, askedAt } };
  await insertRows(transaction, 'single_search', [row]);
}

/** Stores the outcome of a check (ordinal 1; with what the answer says), or of one search of a measurement. */
export async function finishSearch(
  transaction: Queryable,
  { runId, ordinal }: { runId: number; ordinal: number },
  outcome: { responseId?: number; verdict?: AnswerState; reason?: string },
  endedAt: Date,
): Promise<void> {
  const { responseId = null, verdict = null, reason = null } = outcome;
  await executeAll(
    transaction,
    1,
    sql`update single_search set response_id = ${responseId}, verdict = ${verdict}, outcome_reason = ${reason}, ended_at = ${endedAt}
     where run_id = ${runId} and ordinal = ${ordinal}`,
  );
}

/** Finds the running checks of an organisation whose lease is lost or expired; with `leaseKey` only those of this lease. */
export async function findDeadChecks(database: Queryable, organisation: string, leaseKey: string | null = null) {
  return database.query(
    z.object({ runId: z.number(), leaseKey: z.string() }),
    sql`select run.run_id, run.lease_key
     from run left join lease using (lease_key)
     where ${isOfOrganisation('run', organisation)} and run.kind = 'check' and run.state = 'running' and (
       lease.epoch is null or lease.epoch <> run.epoch or lease.expires_at <= clock_timestamp()
     ) and lease_key = coalesce(${leaseKey}, lease_key)
     order by run.run_id`,
  );
}

/** The check of a run; null for other runs. */
export function readCheck(database: Queryable, runId: number) {
  return findRow(
    database,
    checkRow,
    sql`select request.type, single.name, facts ->> 'reason' as reason, facts ->> 'askedBy' as "askedBy", (facts ->> 'askedAt')::timestamptz as "askedAt",
       request.name as "sentName", outcome_reason, response_id, coalesce(verdict, 'not_screened') as verdict,
       case when ended_at is null then 'in_progress' when response_id is null then 'not_answered' else 'answered' end as outcome,
       encode(response.digest, 'hex') as "responseDigest", ended_at
     from single_search single
     join run using (run_id)
     join screening_request request using (request_id)
     left join response using (response_id)
     where run_id = ${runId} and run.kind = 'check'`,
  );
}

const listShape = z.object({
  file: z.string(),
  format: z.string(),
  /** Every file of the list with the SHA-256 (hex) of its bytes. */
  files: z.array(z.object({ file: z.string(), sha256: z.string() })).readonly(),
  digest: z.string(),
  /** The number of entries, and of all their names and aliases. */
  listed: z.number(),
  spellings: z.number(),
});

const comparisonShape = listShape.extend({
  comparedParties: z.number(),
  forcedParties: z.number(),
  forcedCustomers: z.number(),
  comparedAt: z.coerce.date().nullable(),
});
/** The published list of a run; `comparedAt` is null until all customers are compared with it. */
export type ListComparison = z.infer<typeof comparisonShape>;

const forcedRow = z.object({ reference: z.string(), because: z.string() });
/** A customer whose search a list has forced. */
export type ForcedCustomer = z.infer<typeof forcedRow>;

/** Stores the published list of a run before the comparison with its customers. */
export async function noteList(transaction: Queryable, runId: number, list: z.infer<typeof listShape>): Promise<void> {
  const noted = { ...list, comparedParties: 0, forcedParties: 0, forcedCustomers: 0, comparedAt: null };
  await transaction.execute(
    sql`update run set published_list = coalesce(published_list, ${json(noted satisfies ListComparison)}) where run_id = ${runId}`,
  );
}

/** Stores the counts of the finished comparison with a run's list. */
export async function finishComparison(
  transaction: Queryable,
  runId: number,
  sums: Pick<ListComparison, 'comparedParties' | 'forcedParties' | 'forcedCustomers'>,
  comparedAt: Date,
): Promise<void> {
  await transaction.execute(
    sql`update run set published_list = published_list || ${json({ ...sums, comparedAt })} where run_id = ${runId}`,
  );
}

/** The published list of a run. */
export function readListComparison(database: Queryable, runId: number): Promise<ListComparison | null> {
  return findValue(
    database,
    comparisonShape,
    sql`select published_list from run where run_id = ${runId} and published_list ? 'spellings'`,
  );
}

/**
 * The lists of abandoned earlier runs of the roster that were never compared with all customers, unless a later run has compared them or all
 * parties of this run's plan have been screened since. `runId` is the abandoned run.
 */
export async function findUncomparedLists(database: Queryable, runId: number) {
  return database.query(
    z.object({ file: z.string(), runId: z.number(), kind: z.enum(runKinds), startedAt: z.date() }),
    sql`select earlier.published_list ->> 'file' as file, earlier.run_id, earlier.kind, earlier.started_at
     from run ours
     join run earlier on earlier.roster_id = ours.roster_id and earlier.mode = ours.mode and earlier.run_id < ours.run_id
       and earlier.state = 'abandoned' and earlier.published_list -> 'comparedAt' = 'null'
     where ours.run_id = ${runId}
       and not exists (
         select from run later
         where later.roster_id = ours.roster_id and later.mode = ours.mode and later.run_id > earlier.run_id
           and later.published_list -> 'digest' = earlier.published_list -> 'digest' and later.published_list ->> 'comparedAt' is not null
       )
       and exists (
         select from screening
         left join party_state state on state.account_id = ours.account_id and state.party_id = screening.party_id
         where screening.run_id = ours.run_id and coalesce(state.screened_at < earlier.started_at, true)
       )
     order by earlier.run_id`,
  );
}

/** The first `limit` customers with forced searches in a run, and the reason. */
export async function readForcedCustomers(database: Queryable, runId: number, limit: number) {
  return database.query(
    forcedRow,
    sql`select customer.reference, min(forced.because collate "C") as because
     from forced
     join party using (party_id)
     join customer using (customer_id)
     where forced.run_id = ${runId}
     group by customer.reference
     order by customer.reference collate "C"
     limit ${limit}`,
  );
}

/** The settings of a recall measurement; stored before the first search. */
const factsShape = listShape.omit({ spellings: true }).extend({
  seed: z.string(),
  spelling: z.enum(['as_listed', 'variants']),
  sampleSize: z.number(),
  /** The share that must be found; null without a goal. */
  atLeast: z.number().nullable(),
});

const nameShape = z.object({
  listedId: z.string().nullable(),
  listedName: z.string(),
  type: z.enum(partyTypes),
  script: z.string(),
  variant: z.string(),
  sentName: z.string(),
});
const alertRow = nameShape.extend({
  ordinal: z.number(),
  outcome: z.enum(['remaining', 'answered', 'failed']),
  outcomeReason: z.string().nullable(),
  responseId: z.number().nullable(),
  results: z.number(),
  hits: z.number(),
});
/** Stores a measurement and its sample; `requestIds` are the requests of the names in the same order. */
export async function insertAssurance(
  transaction: Queryable,
  runId: number,
  facts: z.infer<typeof factsShape>,
  names: readonly z.infer<typeof nameShape>[],
  requestIds: readonly number[],
): Promise<void> {
  await transaction.execute(
    sql`update run set published_list = ${json({ ...facts, spellings: undefined })} where run_id = ${runId}`,
  );
  const items = names.map(({ sentName, ...entry }, at) => ({
    runId,
    ordinal: at + 1,
    requestId: requestIds[at],
    name: sentName,
    facts: entry,
  }));
  await insertRows(transaction, 'single_search', items);
}

/** Changes the share of a sample that must be found. */
export async function setLeastShare(transaction: Queryable, runId: number, atLeast: number | null): Promise<void> {
  await transaction.execute(
    sql`update run set published_list = published_list || jsonb_build_object('atLeast', ${atLeast}::float8) where run_id = ${runId}`,
  );
}

/** The measurement of a run with its sample: the listed names in order, each with the outcome of its search; null for other runs. */
export async function readAssurance(database: Queryable, runId: number) {
  const facts = await findValue(
    database,
    factsShape,
    sql`select published_list from run where run_id = ${runId} and published_list ? 'seed'`,
  );
  if (facts === null) return null;
  const items = await database.query(
    alertRow,
    sql`select item.ordinal, facts ->> 'listedId' as "listedId", facts ->> 'listedName' as "listedName", facts ->> 'type' as type,
       facts ->> 'script' as script, facts ->> 'variant' as variant, item.name as "sentName", item.outcome_reason, item.response_id,
       case when ended_at is null then 'remaining' when item.response_id is null then 'failed' else 'answered' end as outcome,
       coalesce(response.total, 0) as results,
       coalesce(response.hits, 0) as hits
     from single_search item
     left join response using (response_id)
     where item.run_id = ${runId}
     order by item.ordinal`,
  );
  return { ...facts, items };
}
