import { z } from 'zod';
import type { PartyState } from '../matches/customer-state.js';
import type { Match } from '../matches/match.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { requireRows } from './require-all.js';
import { storedMatchSchema } from './stored-match.js';

/** The last valid answer for a party on an account. */
export interface PartyStateRow {
  partyId: number;
  requestId: number;
  responseId: number;
  customerVersion: number;
  settingsDigest: string;
  /** Scores last reported where they differ from the answer's, by match id. */
  reportedScores: Readonly<Record<string, number>>;
  /** Known matches that cut lists have hidden since. */
  unreturned: readonly Match[];
  state: PartyState;
}

/** A party state to save. */
export interface NewPartyState extends PartyStateRow {
  /** Whether all of it is stored already, so that only its date is new. */
  isKnown: boolean;
}

const stateRow = z
  .object({
    party_id: z.number(),
    request_id: z.number(),
    response_id: z.number(),
    customer_version: z.number(),
    settings_digest: z.string(),
    reported_scores: z.record(z.string(), z.number()).nullable(),
    unreturned: z.array(storedMatchSchema).nullable(),
    state: z.enum(['clear', 'below_threshold', 'incompletely_seen', 'open_hit']),
  })
  .transform(
    (row): PartyStateRow => ({
      partyId: row.party_id,
      requestId: row.request_id,
      responseId: row.response_id,
      customerVersion: row.customer_version,
      settingsDigest: row.settings_digest,
      reportedScores: row.reported_scores ?? {},
      unreturned: row.unreturned ?? [],
      state: row.state,
    }),
  );

/** The last valid answers for these parties, by party id. */
export async function readPartyStates(
  database: Queryable,
  accountId: number,
  partyIds: readonly number[],
): Promise<ReadonlyMap<number, PartyStateRow>> {
  const rows = await database.query(
    stateRow,
    `select party_id, request_id, response_id, customer_version, settings_digest, reported_scores, unreturned, state
     from party_state where account_id = $1 and party_id = any ($2::bigint[])`,
    [accountId, [...partyIds]],
  );
  return new Map(rows.map((row) => [row.partyId, row]));
}

/**
 * Holds the states that `partiesSql` gives (rows of `account_id` and `party_id`) until the transaction ends, in the order in which everybody
 * holds them: two transactions that update the same states never wait for each other.
 */
export async function holdStates(
  transaction: Queryable,
  partiesSql: string,
  parameters: readonly unknown[],
): Promise<void> {
  await transaction.execute(
    `select from party_state where (account_id, party_id) in (${partiesSql})
     order by party_id, account_id for no key update`,
    parameters,
  );
}

/** Whose answers they are, and of which run and moment. */
interface StateKey {
  accountId: number;
  runId: number;
  screenedAt: Date;
}

/** Saves the newest valid answers of parties in place of the former ones, which stay beside them until a later run answers. */
export async function savePartyStates(
  transaction: Queryable,
  key: StateKey,
  states: readonly NewPartyState[],
): Promise<void> {
  const others = states.filter(({ isKnown }) => !isKnown);
  await Promise.all([dateStates(transaction, key, states, others), replaceStates(transaction, key, others)]);
}

/** Dates what is known, and holds all of them in the order in which reviewers hold them, so that a run and a reviewer never wait for each other. */
async function dateStates(
  transaction: Queryable,
  { accountId, runId, screenedAt }: StateKey,
  states: readonly NewPartyState[],
  others: readonly NewPartyState[],
): Promise<void> {
  if (states.length === 0) return;
  const toIds = (rows: readonly NewPartyState[]): number[] => rows.map(({ partyId }) => partyId);
  const dated = await transaction.query(
    z.object({ known: z.number() }),
    'select date_states($1, $2, $3, $4, $5) as known',
    [accountId, runId, screenedAt, toIds(states), toIds(others)],
  );
  requireRows(firstRow(dated, 'party_state').known, states.length - others.length, 'party_state');
}

async function replaceStates(transaction: Queryable, key: StateKey, states: readonly NewPartyState[]): Promise<void> {
  if (states.length === 0) return;
  const rows = states.map((state) => ({
    party_id: state.partyId,
    request_id: state.requestId,
    response_id: state.responseId,
    customer_version: state.customerVersion,
    settings_digest: state.settingsDigest,
    state: state.state,
    reported_scores: Object.keys(state.reportedScores).length === 0 ? null : state.reportedScores,
    unreturned: state.unreturned.length === 0 ? null : state.unreturned,
  }));
  const saved = await transaction.execute(
    `insert into party_state (
       account_id, run_id, screened_at, party_id, request_id, response_id, customer_version, settings_digest, state,
       reported_scores, unreturned
     )
     select $1, $2, $3, party_id, request_id, response_id, customer_version, settings_digest, state,
       reported_scores, unreturned
     from jsonb_to_recordset($4::text::jsonb) as row (
       party_id bigint, request_id bigint, response_id bigint, customer_version integer, settings_digest text, state text,
       reported_scores jsonb, unreturned jsonb
     )
     on conflict (account_id, party_id) do update set
       run_id = excluded.run_id, screened_at = excluded.screened_at, request_id = excluded.request_id,
       response_id = excluded.response_id, customer_version = excluded.customer_version,
       settings_digest = excluded.settings_digest, state = excluded.state, reported_scores = excluded.reported_scores,
       unreturned = excluded.unreturned,
       -- Whose answer it replaces, and when that came; a run keeps what it replaced first.
       former_run_id = case when party_state.run_id = excluded.run_id then party_state.former_run_id else party_state.run_id end,
       former_screened_at =
         case when party_state.run_id = excluded.run_id then party_state.former_screened_at else party_state.screened_at end,
       former_answer = case when party_state.run_id = excluded.run_id then party_state.former_answer else jsonb_build_object(
         'request_id', party_state.request_id, 'response_id', party_state.response_id,
         'customer_version', party_state.customer_version, 'settings_digest', party_state.settings_digest,
         'state', party_state.state, 'reported_scores', party_state.reported_scores, 'unreturned', party_state.unreturned
       ) end`,
    [key.accountId, key.runId, key.screenedAt, JSON.stringify(rows)],
  );
  requireRows(saved, rows.length, 'party_state');
}
