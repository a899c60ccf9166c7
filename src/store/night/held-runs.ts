import { z } from 'zod';
import type { VanishedFigures } from '../../changes/assess-vanished.js';
import type { HeldFacts } from '../../reports/run-facts.js';
import { matchSchema } from '../../vocabulary/facts.js';
import { type HitFamily, hitFamilies } from '../../vocabulary.js';
import { insertRows, type Queryable, readValue } from '../database/database.js';
import { json, type Sql, sql } from '../database/statement.js';
import { hiddenMatchesSql, stateAtSql, storedMatchesSql } from '../row-shapes.js';

interface AnsweredRun {
  runId: number;
  rosterId: number;
  accountId: number;
}

const partiesAtOnce = 5_000;

const matchesShape = z.array(matchSchema);
const comparedRow = z
  .object({
    partyId: z.number(),
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

/** SQL: the service was asked in the same way by the run `former` as by the run of the comparison. */
const isSameSearchSql = sql`former.settings #> '{service,aml}' is not distinct from run.settings #> '{service,aml}'`;

/**
 * The parties of a roster that were or are hits, with their matches before a run and in its answer up to a wave, also those that it did not
 * screen. `isCompared` only when the run sent the same search under the same settings. A first answer has nothing to compare with, and an
 * offboarded customer has no expected hits.
 */
export async function* readComparedParties(
  database: Queryable,
  { runId, rosterId, accountId }: AnsweredRun,
  upTo: number,
) {
  for (let last = 0; ; ) {
    const rows = await database.query(
      comparedRow,
      sql`with answered as (
         select answer.party_id, answer.request_id, answer.response_id
         from party_answer answer where answer.run_id = ${runId} and answer.wave <= ${upTo}
       )
       -- Answers that say something else than the former ones.
       select * from (
         select next.party_id,
           coalesce(next.former_request_id = answered.request_id and ${isSameSearchSql}, false) as "isCompared",
           ${storedMatchesSql('next.former_response_id')} as before, ${hiddenMatchesSql('next.former_unreturned')} as "hiddenBefore",
           ${storedMatchesSql('answered.response_id')} as after, ${hiddenMatchesSql('next.unreturned')} as "hiddenAfter"
         from next_state next
         join answered using (party_id)
         join run on run.run_id = ${runId}
         join run former on former.run_id = next.former_run_id
         where next.run_id = ${runId} and 'open_alert' in (next.state, next.former_state) and next.party_id > ${last}
         union all
         -- Known hits that were found again as they were, or not searched for.
         select state.party_id, answered.party_id is not null and ${isSameSearchSql},
           ${storedMatchesSql('state.response_id', 'match.is_hit')}, ${hiddenMatchesSql('state.unreturned')}, null, '[]'
         from party_state state
         join run on run.run_id = ${runId}
         join run former on former.run_id = state.run_id
         join party on party.party_id = state.party_id and party.is_current
         join customer on customer.customer_id = party.customer_id and customer.roster_id = ${rosterId} and customer.left_at is null
         left join answered on answered.party_id = state.party_id
         where state.account_id = ${accountId} and state.state = 'open_alert' and state.party_id > ${last}
           and (answered.party_id is null or not exists (
             select from next_state next where next.run_id = ${runId} and next.party_id = state.party_id
           ))
       ) compared
       order by party_id
       limit ${partiesAtOnce}`,
    );
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < partiesAtOnce) return;
    last = end.partyId;
  }
}

/**
 * The vanished hits of earlier runs of the same roster and account since then. Held runs do not count, nor do runs before an accepted held
 * one.
 */
export async function readVanishedBefore(
  database: Queryable,
  { runId, rosterId, accountId }: AnsweredRun,
  since: Date,
): Promise<Readonly<Partial<Record<HitFamily, number>>>> {
  const rows = await database.query(
    z.object({ family: z.enum(hitFamilies), vanished: z.number() }),
    sql`select figures.family, sum(figures.vanished)::integer as vanished
     from run
     cross join jsonb_to_recordset(run.vanishing) as figures (family text, vanished integer)
     where run.roster_id = ${rosterId} and run.account_id = ${accountId} and run.run_id < ${runId} and run.started_at >= ${since}
       and not exists (select from run_hold hold where hold.run_id = run.run_id and hold.kind = 'answers')
       and run.run_id > coalesce((
         select max(accepted.run_id)
         from run_hold hold join accepted_run using (run_id) join run accepted using (run_id)
         where accepted.roster_id = ${rosterId} and accepted.account_id = ${accountId} and hold.kind = 'answers'
       ), 0)
     group by figures.family`,
  );
  return Object.fromEntries(rows.map(({ family, vanished }) => [family, vanished]));
}

/** Stores the figures of a run; replaces those of an earlier end. */
export async function saveVanishing(transaction: Queryable, runId: number, figures: readonly VanishedFigures[]) {
  const vanishing = figures.map(({ current, ...figure }) => ({ ...figure, standing: current }));
  await transaction.execute(sql`update run set vanishing = ${json(vanishing)} where run_id = ${runId}`);
}

const holdRow = z.object({
  /** All its answers, or only its webhooks; of a sweep, the removal of the dossiers that it did not list. */
  kind: z.enum(['answers', 'webhooks', 'dossiers']),
  reasons: z.array(z.string()).readonly(),
  customers: z.number(),
  /** The number of customers of the roster by state during the hold. */
  states: z.record(z.string(), z.number()),
  heldAt: z.date(),
  acceptedAt: z.date().nullable(),
});

/** Stores a hold of a run; a hold of answers counts the states of the roster. */
export async function saveRunHold(
  transaction: Queryable,
  { runId, rosterId }: { runId: number; rosterId: number | null },
  { kind, reasons, customers, heldAt }: Pick<z.infer<typeof holdRow>, 'kind' | 'reasons' | 'customers' | 'heldAt'>,
): Promise<void> {
  const states = kind === 'answers' && rosterId !== null ? await countStates(transaction, rosterId, heldAt) : {};
  await insertRows(transaction, 'run_hold', [{ runId, kind, reasons, customers, states, heldAt }]);
}

async function countStates(transaction: Queryable, rosterId: number, now: Date): Promise<Record<string, number>> {
  const rows = await transaction.query(
    z.object({ state: z.string(), customers: z.number() }),
    sql`select state, count(*)::integer as customers
     from (
       select ${stateAtSql('shown', now)} as state
       from shown_account shown
       join customer_standing standing
         on standing.roster_id = shown.roster_id and standing.account_id is not distinct from shown.account_id
       where shown.roster_id = ${rosterId}
       union all
       select 'not_screened' from unaccepted_customer where roster_id = ${rosterId}
     ) standing
     group by state order by state`,
  );
  return Object.fromEntries(rows.map(({ state, customers }) => [state, customers]));
}

/**
 * Holds back the webhooks of the state changes after `after` when they newly open alerts of at least `atLeast` customers of the roster.
 * Customers of whom only dispositions expired neither count nor wait. Returns the numbers of customers and held messages, or null.
 */
export async function holdWebhookEvents(
  transaction: Queryable,
  { runId, rosterId }: { runId: number; rosterId: number },
  after: number,
  atLeast: number,
): Promise<{ customers: number; messages: number } | null> {
  const customers = await countNewlyOpen(transaction, { runId, rosterId }, after);
  if (customers < atLeast) return null;
  const messages = await transaction.execute(
    sql`update webhook_event set held_run_id = ${runId}
     from customer_state_change change join customer on customer.customer_id = change.customer_id and customer.roster_id = ${rosterId}
     where webhook_event.change_id = change.change_id and change.change_id > ${after} and webhook_event.held_run_id is null
       and change.customer_id not in ${ofExpiryOnlySql(runId)}`,
  );
  return { customers, messages };
}

/** SQL: the customers of whom dispositions expired in the run, and nothing else opened an alert. */
const ofExpiryOnlySql = (runId: number): Sql => sql`(
  select party.customer_id
  from alert_event event join alert using (alert_id) join party using (party_id)
  where event.run_id = ${runId} and event.kind in ('opened', 'reopened', 'escalated', 'returned', 'absent')
  group by party.customer_id
  having bool_or('expired' = any (event.reasons))
    and bool_and(event.kind = 'absent' or event.kind = 'reopened' and event.reasons = '{expired}')
)`;

/** Counts known customers that the changes after `after` turned into open alerts from another state than open alert or true match. */
function countNewlyOpen(
  transaction: Queryable,
  { runId, rosterId }: { runId: number; rosterId: number },
  after: number,
): Promise<number> {
  return readValue(
    transaction,
    z.number(),
    sql`select count(distinct change.customer_id)::integer as customers
     from customer_state_change change
     join customer on customer.customer_id = change.customer_id and customer.roster_id = ${rosterId}
     -- The state before an expiry.
     cross join lateral (
       select earlier.to_state from customer_state_change earlier
       where earlier.customer_id = change.customer_id and earlier.change_id < change.change_id and earlier.to_state <> 'not_screened'
       order by earlier.change_id desc limit 1
     ) before
     where change.change_id > ${after} and change.to_state = 'open_alert' and before.to_state not in ('open_alert', 'true_match')
       and change.customer_id not in ${ofExpiryOnlySql(runId)}`,
  );
}

const acceptanceRow = z.object({
  isProposal: z.boolean(),
  acceptedBy: z.string(),
  isAttested: z.boolean(),
  reason: z.string(),
  acceptedAt: z.date(),
});
/** The holds of a run, accepted ones included, and its proposals and acceptances in order. */
export async function readRunHolds(database: Queryable, runId: number) {
  const holds = await database.query(
    holdRow,
    sql`select kind, reasons, customers, states, held_at, accepted_at
     from run_hold left join accepted_run using (run_id) where run_id = ${runId} and kind <> 'roster' order by kind`,
  );
  const acceptances = await database.query(
    acceptanceRow,
    sql`select is_proposal, accepted_by, is_attested, reason, accepted_at
     from acceptance where run_id = ${runId} and kind = 'answers' order by acceptance_id`,
  );
  return { holds, acceptances, accepted: acceptances.find(({ isProposal }) => !isProposal) };
}

/** Whether this login may do the work of a run: it owns the tables. On the embedded database every user does. */
export function ownsTables(database: Queryable): Promise<boolean> {
  return readValue(
    database,
    z.boolean(),
    `select pg_has_role(session_user, relowner, 'member') as owns from pg_class where oid = 'run'::regclass`,
  );
}

/** Stores a proposal, or an acceptance of all holds of a run, which releases its webhooks. */
export async function saveRunAcceptance(
  transaction: Queryable,
  runId: number,
  { isProposal, acceptedBy, isAttested, reason, acceptedAt }: z.infer<typeof acceptanceRow>,
): Promise<void> {
  const row = { runId, kind: 'answers', isProposal, acceptedBy, isAttested, reason, acceptedAt };
  await insertRows(transaction, 'acceptance', [row]);
  if (isProposal) return;
  await transaction.execute(sql`update webhook_event set held_run_id = null where held_run_id = ${runId}`);
}

/** The holds of a run, and its acceptances. */
export async function readHeldFacts(database: Queryable, runId: number): Promise<readonly HeldFacts[]> {
  const { holds, acceptances, accepted: last } = await readRunHolds(database, runId);
  if (holds.length === 0) return [];
  // A proposal alone makes no new revision of the report, which must stay as it was written.
  const accepted = last === undefined ? [] : acceptances;
  // The report of a sweep has the reason where it says that it is not proven.
  return holds.flatMap(({ kind, reasons, customers, states }) =>
    kind === 'dossiers' ? [] : [{ kind, reasons, customers, states, accepted }],
  );
}

/** The newest later run of the same roster and account with held answers, or null. */
export function findLaterHeld(database: Queryable, { runId, rosterId, accountId }: AnsweredRun) {
  return readValue(
    database,
    z.number().nullable(),
    sql`select max(run.run_id) as "runId" from run_hold hold join run on run.run_id = hold.run_id
     where hold.kind = 'answers' and not exists (select from accepted_run where accepted_run.run_id = hold.run_id)
       and run.roster_id = ${rosterId} and run.account_id = ${accountId} and run.run_id > ${runId}`,
  );
}
