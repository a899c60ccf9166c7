import { z } from 'zod';
import type { ControlFacts } from '../../reports/run-facts.js';
import { controlResultSchema, controlRoundSchema, type FactsOf } from '../../vocabulary/facts.js';
import { findRow, insertRows, type Queryable, readColumn, readValue } from '../database/database.js';
import { recordset, sql } from '../database/statement.js';

const outcomeRow = controlResultSchema.omit({ rounds: true }).extend({
  ...controlRoundSchema.shape,
  ordinal: z.number(),
  responseId: z.number().nullable(),
});
/** The result of a control search, with its round (from 1) and the number of searches answered before it. */
export type ControlOutcome = FactsOf<typeof outcomeRow>;

/** The number of the next round of a run. */
export function findNextRound(database: Queryable, runId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    sql`select coalesce(max(round), 0)::integer + 1 as next from control_outcome where run_id = ${runId}`,
  );
}

export async function saveControlOutcome(
  transaction: Queryable,
  runId: number,
  outcome: ControlOutcome,
): Promise<void> {
  await insertRows(transaction, 'control_outcome', [{ runId, ...outcome }]);
}

/** The number of control searches of a run that failed at least once. */
export function countFailedControls(database: Queryable, runId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    sql`select count(distinct ordinal)::integer as failed from control_outcome where run_id = ${runId} and verdict = 'failed'`,
  );
}

/** Finds or creates the request rows of these searches; returns their ids in order. */
export async function ensureRequests(
  transaction: Queryable,
  organisationId: number,
  requests: readonly { type: string; name: string }[],
): Promise<readonly number[]> {
  const asked = requests.map(({ type, name }, place) => ({ organisationId, type, name, place }));
  const list = sql`${recordset(asked)} as asked (organisation_id bigint, type text, name text, place integer)`;
  await transaction.execute(
    sql`insert into screening_request (organisation_id, type, name) select distinct organisation_id, type, name from ${list}
     on conflict (organisation_id, type, name) do nothing`,
  );
  return readColumn(
    transaction,
    z.number(),
    sql`select request.request_id from ${list} join screening_request request using (organisation_id, type, name) order by asked.place`,
  );
}

/** The control searches of a run with all their rounds, failed ones first. */
export async function readControlFacts(database: Queryable, runId: number): Promise<readonly ControlFacts[]> {
  const outcomes = await database.query(
    outcomeRow,
    sql`select round, occasion, searches, ordinal, type, name, expect, topics, label, verdict, found, response_id, asked_at
     from control_outcome where run_id = ${runId} order by round, ordinal`,
  );
  const bySearch = new Map<string, ControlOutcome[]>();
  for (const outcome of outcomes) {
    const { type, name, expect, topics } = outcome;
    const key = JSON.stringify([type, name, expect, topics]);
    bySearch.set(key, [...(bySearch.get(key) ?? []), outcome]);
  }
  const facts = [...bySearch.values()].flatMap(toFacts);
  const isFailed = ({ verdict }: ControlFacts): boolean => verdict === 'failed';
  return [...facts.filter(isFailed), ...facts.filter((control) => !isFailed(control))];
}

function toFacts(outcomes: readonly ControlOutcome[]): ControlFacts[] {
  const worst = outcomes.find(({ verdict }) => verdict === 'failed') ?? outcomes[0];
  if (!worst) return [];
  const { type, name, expect, topics, label, verdict, found } = worst;
  const rounds = outcomes.map((outcome) => controlRoundSchema.parse(outcome));
  return [{ type, name, expect, topics, label, verdict, found, rounds }];
}

const controlsRow = z.object({
  runId: z.number(),
  askedAt: z.date(),
  hasPassed: z.boolean(),
  /** Whether it had a search that expects a match and one that expects none. */
  isConclusive: z.boolean(),
});
/** The last whole round of control searches of any run on the account by then, without single ones after a failed search; or null. */
export function readLastControls(database: Queryable, accountId: number, askedBy: Date) {
  return findRow(
    database,
    controlsRow,
    sql`select control.run_id, max(control.asked_at) as "askedAt", bool_and(control.verdict = 'passed') as "hasPassed",
       count(distinct control.expect) = 2 as "isConclusive"
     from (
       select run_id from run
       where account_id = ${accountId} and exists (select from control_outcome where control_outcome.run_id = run.run_id)
       order by run_id desc limit 20
     ) recent
     join control_outcome control using (run_id)
     where control.occasion <> 'control' and control.asked_at <= ${askedBy}
     group by control.run_id, control.round
     order by max(control.asked_at) desc
     limit 1`,
  );
}
