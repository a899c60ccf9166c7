import { z } from 'zod';
import type { VanishedFigures } from '../changes/assess-vanished.js';
import type { HeldFacts } from '../reports/run-facts.js';
import { type HitFamily, hitFamilies, severities } from '../vocabulary.js';
import { findRow, type Queryable, readValue, toInsert } from './database/database.js';
import { joinPartySql, partyFactsSchema, partyFactsSql, storedMatchSchema, storedMatchSql } from './row-shapes.js';

/** What a run answered for on which account. */
interface AnsweredRun {
  runId: number;
  rosterId: number;
  accountId: number;
}

const partiesAtOnce = 5_000;

const matchesShape = z.array(storedMatchSchema);
const comparedRow = z
  .object({
    partyId: z.number(),
    requestId: z.number(),
    isCompared: z.boolean(),
    before: matchesShape,
    hiddenBefore: matchesShape,
    after: matchesShape.nullable(),
    hiddenAfter: matchesShape,
  })
  .transform(({ before, hiddenBefore, after, hiddenAfter, ...party }) => ({
    ...party,
    before: [...before, ...hiddenBefore],
    after: after && [...after, ...hiddenAfter],
  }));

/** SQL: the matches of an answer as JSON. */
const matchesSql = (responseId: string, where = 'true'): string => `
  (select coalesce(jsonb_agg(${storedMatchSql} order by match.rank), '[]') from match where match.response_id = ${responseId} and ${where})`;

/**
 * The parties of a roster that were or are hits, with what was known of each before a run and what the run's answer says, those that it did not
 * answer for included. `isCompared` only where the run sent the same search under the same settings of the search.
 */
export async function* readComparedParties(database: Queryable, { runId, rosterId, accountId }: AnsweredRun) {
  for (let last = 0; ; ) {
    const rows = await database.query(
      comparedRow,
      `select party_id, request_id, is_answered and former_request_id = request_id and is_same_search as "isCompared",
         case
           when not is_answered or former_answer is null then ${matchesSql('held.response_id', 'match.is_hit')}
           else ${matchesSql("(held.former_answer ->> 'response_id')::bigint")}
         end as before,
         coalesce(nullif(case when is_answered and former_answer is not null then former_answer -> 'unreturned' else unreturned end, 'null'), '[]')
           as "hiddenBefore",
         case when is_answered and former_answer is not null then ${matchesSql('held.response_id')} end as after,
         coalesce(unreturned, '[]') as "hiddenAfter"
       from (
         select state.party_id, state.request_id, state.response_id, state.unreturned, state.former_answer,
           state.run_id = $1 as is_answered,
           coalesce((state.former_answer ->> 'request_id')::bigint, state.request_id) as former_request_id,
           coalesce(former.settings #> '{service,aml}', run.settings #> '{service,aml}') is not distinct from run.settings #> '{service,aml}'
             as is_same_search
         from party_state state
         join run on run.run_id = $1
         join party on party.party_id = state.party_id
         join customer on customer.customer_id = party.customer_id and customer.roster_id = $2
         left join run former on former.run_id = state.former_run_id
         where state.account_id = $3 and state.party_id > $4
           and (state.state = 'open_hit' or state.former_answer ->> 'state' = 'open_hit')
           -- Of a party that is answered for the first time nothing was known, and of one that has left nothing is expected.
           and case when state.run_id = $1 then state.former_run_id is not null else customer.left_at is null and party.is_current end
         order by state.party_id
         limit $5
       ) held
       order by party_id`,
      [runId, rosterId, accountId, last, partiesAtOnce],
    );
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < partiesAtOnce) return;
    last = end.partyId;
  }
}

/** What the runs of the same roster and account begun since then no longer found, without held ones and those before a held one that was accepted. */
export async function readVanishedBefore(
  database: Queryable,
  { runId, rosterId, accountId }: AnsweredRun,
  since: Date,
): Promise<Readonly<Partial<Record<HitFamily, number>>>> {
  const rows = await database.query(
    z.object({ family: z.enum(hitFamilies), vanished: z.number() }),
    `select figures.family, sum(figures.vanished)::integer as vanished
     from run_vanishing figures
     join run on run.run_id = figures.run_id
     where run.roster_id = $2 and run.account_id = $3 and run.run_id < $1 and run.started_at >= $4
       and not exists (select from run_hold hold where hold.run_id = run.run_id and hold.kind = 'answers')
       and run.run_id > coalesce((
         select max(accepted.run_id) from run_hold hold join run accepted on accepted.run_id = hold.run_id
         where accepted.roster_id = $2 and accepted.account_id = $3 and hold.kind = 'answers' and hold.accepted_at is not null
       ), 0)
     group by figures.family`,
    [runId, rosterId, accountId, since],
  );
  return Object.fromEntries(rows.map(({ family, vanished }) => [family, vanished]));
}

/** Keeps the figures of a run in place of those of an earlier end of it. */
export async function saveVanishing(transaction: Queryable, runId: number, figures: readonly VanishedFigures[]) {
  await transaction.execute('delete from run_vanishing where run_id = $1', [runId]);
  await transaction.execute(
    `insert into run_vanishing (run_id, family, known, vanished, standing)
     select $1, family, known, vanished, current
     from jsonb_to_recordset($2::text::jsonb) as row (family text, known integer, vanished integer, current integer)`,
    [runId, JSON.stringify(figures)],
  );
}

const secondSearchRow = z.object({ searches: z.number(), vanished: z.number() });

/** Searches that a run has made again because their answers missed known hits, and how many had vanished by then, summed over the families; or null. */
export function readSecondSearches(database: Queryable, runId: number) {
  return findRow(database, secondSearchRow, 'select searches, vanished from run_second_search where run_id = $1', [
    runId,
  ]);
}

/** Notes what a run searches for again; it does so once. */
export async function saveSecondSearches(
  transaction: Queryable,
  runId: number,
  { searches, vanished }: z.infer<typeof secondSearchRow>,
): Promise<void> {
  await transaction.execute('insert into run_second_search (run_id, searches, vanished) values ($1, $2, $3)', [
    runId,
    searches,
    vanished,
  ]);
}

/** How many customers a run has answered for. */
export function countAnswered(database: Queryable, runId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    `select count(distinct party.customer_id)::integer as customers from screening join party using (party_id)
     where screening.run_id = $1 and screening.outcome in ('screened', 'reused')`,
    [runId],
  );
}

const holdRow = z.object({
  /** All of its answers, or only what webhooks would send of it. */
  kind: z.enum(['answers', 'webhooks']),
  reasons: z.array(z.string()).readonly(),
  customers: z.number(),
  /** Alerts that its answers opened all the same. */
  openedAlerts: z.number(),
  /** How many customers of the roster are in which state meanwhile. */
  states: z.record(z.string(), z.number()),
  heldAt: z.date(),
  acceptedAt: z.date().nullable(),
});
/** What of a run is or was held until somebody accepts it, and why. */
export async function readRunHolds(database: Queryable, runId: number) {
  return database.query(
    holdRow,
    `select kind, reasons, customers, opened_alerts, states, held_at, accepted_at
     from run_hold where run_id = $1 order by kind`,
    [runId],
  );
}

/** Notes that a run is held, with how many alerts its answers have opened or made worse where those are held. */
export async function saveRunHold(
  transaction: Queryable,
  runId: number,
  { kind, reasons, customers, states, heldAt }: Omit<z.infer<typeof holdRow>, 'acceptedAt' | 'openedAlerts'>,
): Promise<void> {
  const openedAlerts = kind === 'answers' ? await countOpenedAlerts(transaction, runId) : 0;
  const row = { runId, kind, reasons, customers, openedAlerts, states, heldAt };
  await transaction.execute(...toInsert('run_hold', row));
}

/** How many alerts a run that is being held has opened or made worse. */
function countOpenedAlerts(database: Queryable, runId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    `select count(distinct item_id)::integer as alerts from review_event
     where run_id = $1 and kind in ('opened', 'reopened', 'escalated', 'returned')`,
    [runId],
  );
}

const acceptanceRow = z.object({
  isProposal: z.boolean(),
  acceptedBy: z.string(),
  isAttested: z.boolean(),
  reason: z.string(),
  acceptedAt: z.date(),
});
/** Who proposed to accept a run, and who accepted it, in their order. */
export async function readRunAcceptances(database: Queryable, runId: number) {
  return database.query(
    acceptanceRow,
    `select is_proposal, accepted_by, is_attested, reason, accepted_at
     from run_acceptance where run_id = $1 order by acceptance_id`,
    [runId],
  );
}

/** Keeps that somebody proposes to accept a run, or accepts it and with it whatever of it is held. */
export async function saveRunAcceptance(
  transaction: Queryable,
  runId: number,
  { isProposal, acceptedBy, isAttested, reason, acceptedAt }: z.infer<typeof acceptanceRow>,
): Promise<void> {
  const row = { runId, isProposal, acceptedBy, isAttested, reason, acceptedAt };
  await transaction.execute(...toInsert('run_acceptance', row));
  if (isProposal) return;
  await transaction.execute('update run_hold set accepted_at = $2 where run_id = $1', [runId, acceptedAt]);
}

const alertRow = z.object({
  alertId: z.number(),
  party: partyFactsSchema,
  severity: z.enum(severities),
  listedName: z.string(),
  topics: z.array(z.string()),
});
/** More are in the workbook. */
const mostAlerts = 200;

/** What of a run is or was held, with the most severe of the alerts that its answers opened and who accepted it. */
export async function readHeldFacts(database: Queryable, runId: number): Promise<readonly HeldFacts[]> {
  const holds = await readRunHolds(database, runId);
  if (holds.length === 0) return [];
  const accepted = (await readRunAcceptances(database, runId)).find(({ isProposal }) => !isProposal);
  const alerts = await database.query(
    alertRow,
    `select item.item_id as "alertId", ${partyFactsSql} as party, item.severity, item.listed ->> 'name' as "listedName",
       array(select jsonb_array_elements_text(item.listed -> 'topics')) as topics
     from review_item item
     ${joinPartySql('item')}
     where ${openedBySql}
     order by item.priority desc, item.item_id
     limit $2`,
    [runId, mostAlerts],
  );
  return holds.map(({ kind, reasons, customers, states, openedAlerts }) => ({
    ...{ kind, reasons, customers, states, openedAlerts },
    alerts: kind === 'answers' ? alerts : [],
    accepted: accepted
      ? {
          by: accepted.acceptedBy,
          isAttested: accepted.isAttested,
          reason: accepted.reason,
          at: accepted.acceptedAt,
        }
      : null,
  }));
}

/** SQL: the alert (`item`) was opened, or made worse, when the run ($1) was held, and not by later answers. */
const openedBySql = `exists (
  select from review_event event
  join run_hold hold on hold.run_id = event.run_id and hold.kind = 'answers'
  where event.run_id = $1 and event.item_id = item.item_id and event.kind in ('opened', 'reopened', 'escalated', 'returned')
    and event.happened_at <= hold.held_at
)`;

/** The newest later run of the same roster and account whose answers are held, or null. */
export function findLaterHeld(database: Queryable, { runId, rosterId, accountId }: AnsweredRun) {
  return readValue(
    database,
    z.number().nullable(),
    `select max(run.run_id) as "runId" from run_hold hold join run on run.run_id = hold.run_id
     where hold.kind = 'answers' and hold.accepted_at is null
       and run.roster_id = $2 and run.account_id = $3 and run.run_id > $1`,
    [runId, rosterId, accountId],
  );
}
