import { z } from 'zod';
import { type CustomerState, customerStates, runModes } from '../../vocabulary.js';
import type { Database } from '../database/database.js';
import { rawSql, type Sql, sql } from '../database/statement.js';
import { screeningKindsSql, toSqlList } from '../row-shapes.js';
import { runIdSql } from '../runs.js';
import { joinCountedSql, type Moment } from './show.js';

/** What became of a customer in a run, best first. */
export const planOutcomes = ['skipped', 'reused', 'screened', 'remaining', 'failed'] as const;
export type PlanOutcome = (typeof planOutcomes)[number];

const memberRow = z
  .object({
    customerId: z.number().nullable(),
    /** The number of `runId`; null without one. */
    runNumber: z.number().nullable(),
    roster: z.string(),
    reference: z.string(),
    /** The version of the record then; null without an accepted one. */
    record: z.number().nullable(),
    /** Whether the customer had left the roster, and only an alert keeps it in scope. */
    hasLeft: z.boolean(),
    mode: z.enum(runModes).nullable(),
    /** The newest run that had the customer in scope, and the worst outcome of its parties there; null without one. */
    runId: z.string().nullable(),
    outcome: z.enum(planOutcomes).nullable(),
    /** Why its parties were skipped, or have no answer that counts; null for others. */
    because: z.string().nullable(),
    /** Of the oldest of the last answers that counted then. */
    asOf: z.date().nullable(),
    recordedState: z.enum(customerStates).nullable(),
    recordedReason: z.string().nullable(),
    /** Why no record was accepted, or why only a hit counts. */
    gap: z.string().nullable(),
    /** Whether each party has an answer that counted, of this run or of the one that searched last. */
    isScreened: z.boolean(),
    isExpired: z.boolean(),
    isUnbalanced: z.boolean(),
    hadAnswers: z.boolean(),
  })
  .transform(({ gap, isScreened, isExpired, isUnbalanced, hadAnswers, ...member }) => {
    const { runId, recordedState, recordedReason, because } = member;
    const findReason = (): string | null => {
      if (gap !== null) return gap;
      // Retention removed the runs: what they found is in their packs.
      if (runId === null) return hadAnswers ? 'history_gone' : 'never';
      // Nobody relies on a run whose sums do not hold.
      if (isUnbalanced) return 'unbalanced';
      if (!isScreened) return because ?? 'remaining';
      if (isExpired) return 'expired';
      return recordedState === null ? 'never' : recordedReason;
    };
    const reason = findReason();
    return { ...member, state: toState(recordedState, reason), reason };
  });
/** A customer in scope at a moment. `state` is the recorded one only where answers of then support it; `reason` says why they do not. */
export type PopulationMember = z.infer<typeof memberRow>;

/** As in the function `state_by`: a waiting alert or a true match holds whatever the answers are worth; nothing else does. */
export function toState(recorded: CustomerState | null, reason: string | null): CustomerState | 'unknown' {
  if (recorded === 'open_alert' || recorded === 'true_match') return recorded;
  if (reason === null && recorded !== null) return recorded;
  return reason === 'history_gone' ? 'unknown' : 'not_screened';
}

/** SQL: the run (`run`) is one of those that decide about the roster of a customer (`listed`) at a moment. */
const isCountedRunSql = (at: Date): Sql => sql`
  run.roster_id = listed.roster_id and run.kind in (${screeningKindsSql}) and run.started_at <= ${at} and run.mode = listed.mode
  and (run.account_id is null or run.account_id = listed.account_id)`;

/** SQL: what became of a party (`party`) in a run by a moment. An answer that was not applied or is not proven screens nobody, as in `evidence show`. */
const outcomeSql = (runId: string, moment: Pick<Moment, 'at' | 'isNow'>): Sql => sql`(
  select
    case when not worth.is_void then judged.outcome when worth.is_applied then 'failed' else 'remaining' end as outcome,
    case when not worth.is_void then judged.outcome_reason when worth.is_applied then 'not_confirmed' else 'not_applied' end as because,
    judged.outcome in ('screened', 'reused') and not worth.is_void as is_screened,
    planned.answered_at, run.state = 'unbalanced' as is_unbalanced
  from planned_party planned
  join run on run.run_id = planned.run_id
  ${joinCountedSql(moment)}
  left join failure on failure.run_id = planned.run_id and failure.request_id = planned.request_id and planned.search_order is not null
  left join reused on reused.run_id = planned.run_id and reused.party_id = planned.party_id and reused.wave is not null
  left join run answering on answering.run_id = reused.answered_run_id
  cross join lateral (select case when planned.answered_at <= ${moment.at} then planned.wave end as wave) answered
  cross join lateral judge_outcome(
    planned.skipped_because, answered.wave, planned.is_reused, failure.reason,
    counted.proven_wave, counted.applied_wave, counted.is_held, counted.unconfirmed_because
  ) judged
  cross join lateral (
    select answer.is_applied, judged.outcome in ('screened', 'reused') and not (answer.is_applied and answer.is_proven) as is_void
    from (
      select coalesce(answered.wave <= counted.applied_wave, false) as is_applied,
        run.mode = 'test' or coalesce(answering.proven_wave, counted.proven_wave) > 0 as is_proven
    ) answer
  ) worth
  where planned.run_id = ${rawSql(runId)} and planned.party_id = party.party_id
  offset 0
)`;

/**
 * SQL: the parties of a customer (`listed`) in the newest run (`last`) that had it in scope, in sum. A party that the run skipped has the answer of
 * the run that last searched for it.
 */
const partiesSql = (moment: Pick<Moment, 'at' | 'isNow'>): Sql => sql`
  select
    (array[${toSqlList(planOutcomes)}])[max(array_position(array[${toSqlList(planOutcomes)}], newest.outcome))] as outcome,
    bool_and(answer.is_screened) as is_screened,
    coalesce(bool_or(newest.is_unbalanced or searched.is_unbalanced), false) as is_unbalanced,
    coalesce(
      min(answer.because) filter (where not answer.is_screened and newest.outcome <> 'skipped'),
      min(answer.because) filter (where not answer.is_screened),
      min(newest.because) filter (where newest.outcome = 'skipped')
    ) as because,
    min(coalesce(answer.answered_at, former.answered_at)) as as_of,
    max(answer.answered_at) as latest_at
  from party
  cross join lateral ${outcomeSql('last.run_id', moment)} newest
  left join lateral (
    select before.* from (
      select run.run_id from run
      cross join lateral (
        select from planned where planned.run_id = run.run_id and planned.party_id = party.party_id and planned.search_order is not null limit 1
      ) planned
      where ${isCountedRunSql(moment.at)} and run.run_id < last.run_id
      order by run.run_id desc limit 1
    ) earlier
    cross join lateral ${outcomeSql('earlier.run_id', moment)} before
  ) searched on newest.outcome = 'skipped'
  cross join lateral (
    select
      case when newest.outcome = 'skipped' then coalesce(searched.is_screened, false) else newest.is_screened end as is_screened,
      case
        when newest.outcome <> 'skipped' then newest.because
        when searched.outcome is not null then searched.because
        when newest.because = 'not_due' then 'history_gone'
        else newest.because
      end as because,
      case when newest.is_screened then newest.answered_at when searched.is_screened then searched.answered_at end as answered_at
  ) answer
  -- The age of what is known of a party that has no answer that counts.
  left join lateral (
    select planned.answered_at
    from run
    cross join lateral (
      select * from planned_party where planned_party.run_id = run.run_id and planned_party.party_id = party.party_id offset 0
    ) planned
    ${joinCountedSql(moment)}
    where ${isCountedRunSql(moment.at)} and run.run_id <= last.run_id
      and planned.answered_at <= ${moment.at} and planned.wave <= counted.applied_wave
    order by run.run_id desc limit 1
  ) former on not answer.is_screened
  where party.customer_id = listed.customer_id`;

const membersAtOnce = 2_000;

/**
 * The customers in scope of rosters at a moment, by roster and reference. One who had left stays while the newest run has it in scope. Runs of a test
 * key count only where no live one had begun.
 */
export const readPopulation = (
  database: Database,
  rosterIds: readonly number[],
  moment: Pick<Moment, 'at' | 'isNow'>,
): AsyncIterable<PopulationMember[]> => {
  const { at } = moment;
  return database.cursor(
    memberRow,
    sql`with shown as materialized (
       select chosen.*, (
         select max(run.run_id) from run
         where run.roster_id = chosen.roster_id and run.kind in (${screeningKindsSql}) and run.started_at <= ${at}
           and run.mode = chosen.mode and run.in_scope is not null and run.selection is distinct from 'dirty'
       ) as full_run_id
       from (
         select roster.roster_id, roster.name as roster, newest.mode, newest.account_id, (
           select run.cadence -> 'hours' from run
           where run.roster_id = roster.roster_id and run.started_at <= ${at} and run.account_id = newest.account_id and run.cadence is not null
           order by run.run_id desc limit 1
         ) as hours
         from roster
         left join lateral (
           select run.mode, run.account_id from run
           where run.roster_id = roster.roster_id and run.kind in (${screeningKindsSql}) and run.started_at <= ${at}
           order by run.mode, run.account_id is null, run.run_id desc limit 1
         ) newest on true
         where roster.roster_id = any (${rosterIds})
       ) chosen
     ), standing as materialized (
       select distinct on (standing.customer_id) standing.customer_id, standing.kind = 'left' as has_left
       from roster_standing standing join roster_import imported using (import_id)
       where imported.roster_id = any (${rosterIds}) and imported.imported_at <= ${at} and standing.kind in ('left', 'returned')
       order by standing.customer_id, standing.import_id desc
     ), listed as (
       select shown.*, customer.customer_id, customer.reference, coalesce(standing.has_left, false) as has_left,
         version.version, coalesce(version.risk_tier, 'high') as risk_tier, said.to_state, said.reason
       from shown
       join customer on customer.roster_id = shown.roster_id
       left join standing on standing.customer_id = customer.customer_id
       cross join lateral (
         select version.version, version.risk_tier
         from customer_version version join roster_import imported using (import_id)
         where version.customer_id = customer.customer_id and imported.imported_at <= ${at}
         order by version.version desc limit 1
       ) version
       left join lateral (
         select change.to_state, change.reason from customer_state_change change
         where change.customer_id = customer.customer_id and change.changed_at <= ${at} and change.is_test = (shown.mode = 'test')
         order by change.change_id desc limit 1
       ) said on true
       where not coalesce(standing.has_left, false) or said.to_state in ('open_alert', 'true_match')
     )
     select * from (
     select listed.customer_id, last.run_id as run_number, listed.roster, listed.reference, listed.version as record, listed.has_left, listed.mode, last.name as run_id, parties.outcome,
       parties.because, parties.as_of, listed.to_state as recorded_state, listed.reason as recorded_reason, last.gap,
       coalesce(parties.is_screened, false) as is_screened, coalesce(parties.is_unbalanced, false) as is_unbalanced,
       coalesce(reason_at(null, parties.as_of, parties.latest_at, ${at}::timestamptz - to_validity(to_cadence(listed.hours, listed.risk_tier)), ${at}) is not null, false) as is_expired,
       last.run_id is null and exists (
         select from customer_state_change change
         where change.customer_id = listed.customer_id and change.changed_at <= ${at} and change.as_of is not null
       ) as had_answers
     from listed
     left join lateral (
       select run.run_id, ${runIdSql('run')} as name,
         (select gap.reason from run_gap gap where gap.run_id = run.run_id and gap.reference = listed.reference) as gap
       from run
       cross join lateral (
         select from party join planned on planned.run_id = run.run_id and planned.party_id = party.party_id
         where party.customer_id = listed.customer_id limit 1
       ) planned
       where ${isCountedRunSql(at)}
       order by run.run_id desc limit 1
     ) last on true
     left join lateral (${partiesSql(moment)}) parties on true
     where not listed.has_left or last.run_id >= listed.full_run_id
       -- Whom its pack has in scope is known only from there.
       or exists (select from run whole where whole.run_id = listed.full_run_id and whole.history_removed_at is not null)
     union all
     select null, null, shown.roster, named.reference, null, false, shown.mode, named.run_id, case when named.run_id is not null then 'skipped' end,
       null, null, null, null, named.reason, false, false, false, false
     from shown
     cross join lateral (
       select gap.reference, gap.reason, ${runIdSql('run')} as run_id
       from run_gap gap join run using (run_id)
       where gap.run_id = shown.full_run_id and gap.customer_id is null
       union all
       select unaccepted.reference, unaccepted.reason, null
       from unaccepted_customer unaccepted
       where unaccepted.roster_id = shown.roster_id and unaccepted.since <= ${at}
         and not exists (select from run_gap gap where gap.run_id = shown.full_run_id and gap.reference = unaccepted.reference)
     ) named
     where not exists (
       select from customer join roster_import first on first.import_id = customer.first_import_id
       where customer.roster_id = shown.roster_id and customer.reference = named.reference and first.imported_at <= ${at}
     )
     ) member
     order by roster collate "C", reference collate "C"`,
    membersAtOnce,
  );
};
