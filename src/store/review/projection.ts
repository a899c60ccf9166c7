import { z } from 'zod';
import { StoreError } from '../../errors.js';
import {
  corroborationSchema,
  type FactsOf,
  matchSchema,
  partySchema,
  seenCustomerSchema,
  seenFactsSchema,
} from '../../vocabulary/facts.js';
import {
  absences,
  alertStates,
  type ChangeCause,
  changeCauses,
  dispositionVerdicts,
  matchChangeKinds,
  severities,
  type WorstTopic,
} from '../../vocabulary.js';
import { type Queryable, readColumn, readRow, readValue } from '../database/database.js';
import { recordset, type Sql, sql } from '../database/statement.js';
import { findListedSql, saveListedParties, toMatchRow } from '../night/listed-parties.js';
import { assessedTierSql, hiddenMatchesSql, seenCustomerSql, storedMatchesSql } from '../row-shapes.js';
import { type AppliedPart, type ProjectionScope, saveChangeAlerts } from './waiting.js';

const alertRow = z
  .object({
    alertId: z.number(),
    partyId: z.number(),
    /** The record with which the match was last seen. */
    customer: seenCustomerSchema,
    state: z.enum(alertStates),
    listed: matchSchema,
    severity: z.enum(severities),
    rule: z.string(),
    priority: z.number(),
    openedAt: z.date(),
    dueAt: z.date().nullable(),
    /** Whether it makes the customer a true match; only `false_positive` or `no_longer_matched` ends that. */
    isTrueMatch: z.boolean(),
    /** Whether an answer that is not applied found it as it is listed, after the party's last applied one. */
    isProvisional: z.boolean(),
    absence: z.enum(absences).nullable(),
    verdict: z.enum(dispositionVerdicts).nullable(),
    isFinal: z.boolean(),
    seen: seenFactsSchema.nullable(),
    expiresAt: z.date().nullable(),
  })
  .transform(({ verdict, isFinal, seen, expiresAt, ...alert }) => ({
    ...alert,
    disposition: verdict === null ? null : { verdict, isFinal, seen, expiresAt },
  }));
/** A stored review alert. */
export type StoredAlert = FactsOf<typeof alertRow>;

/** Locks the alerts of parties on an account until the transaction ends. All lock alerts in the order of their ids, so no deadlock occurs. */
async function holdAlertsOfParties(transaction: Queryable, accountId: number, partyIds: readonly number[]) {
  await transaction.execute(
    sql`select from alert where account_id = ${accountId} and party_id = any (${partyIds}) order by alert_id for update`,
  );
}

/** The alerts of parties on an account, by party id. */
async function readAlertsOf(database: Queryable, accountId: number, partyIds: readonly number[]) {
  const rows = await database.query(
    alertRow,
    sql`select alert.alert_id, alert.party_id, alert.state, alert.listed, alert.severity, alert.rule, alert.priority,
       alert.opened_at, alert.due_at, said.verdict, said.seen,
       coalesce(said.kind <> 'proposed', false) as "isFinal", said.expires_at,
       alert.is_true_match, alert.absence, ${seenCustomerSql} as customer,
       alert.absence is null and alert.state <> 'no_longer_matched' and exists (
         select from alert_event event
         join run on run.run_id = event.run_id
         join party_answer answer on answer.run_id = run.run_id and answer.party_id = alert.party_id and answer.wave > run.applied_wave
         where event.alert_id = alert.alert_id and event.run_id > coalesce(state.run_id, 0)
       ) as "isProvisional"
     from alert_with_match alert
     join party on party.party_id = alert.party_id
     join customer_version version on version.customer_id = party.customer_id and version.version = alert.customer_version
     left join disposition_with_text said on said.disposition_id = alert.disposition_id
     left join party_state state on state.party_id = alert.party_id and state.account_id = alert.account_id
     where alert.account_id = ${accountId} and alert.party_id = any (${partyIds})
     order by alert.alert_id`,
  );
  const byParty = new Map<number, StoredAlert[]>();
  for (const row of rows) byParty.set(row.partyId, [...(byParty.get(row.partyId) ?? []), row]);
  return byParty;
}

/** A new alert (without an id) or the new facts of a stored one. */
export interface AlertChange
  extends Pick<StoredAlert, 'partyId' | 'state' | 'absence' | 'listed' | 'severity' | 'rule' | 'priority'> {
  alertId: number | null;
  /** The record with which the match was last seen; null keeps the stored one. */
  customerVersion: number | null;
  /** The most serious topic family of the listed party. */
  topic: WorstTopic;
  isBaseline: boolean;
  openedAt: Date;
  dueAt: Date | null;
  /** Whether its decision ends. */
  dropsDisposition: boolean;
  event: {
    kind: 'opened' | 'reopened' | 'escalated' | 'rekeyed' | 'absent' | 'auto_closed' | 'returned';
    reasons: readonly string[];
  } | null;
}

/** Stores the alert changes of a run with their history; throws StoreError unless all are stored. */
async function saveAlertChanges(
  transaction: Queryable,
  { accountId, runId, now }: { accountId: number; runId: number; now: Date },
  changes: readonly AlertChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map((change, place) => ({ ...change, place, ...change.event, ...toMatchRow(change.listed) }));
  // An absent match can have got the id under which it was removed; every other one was stored with its answer.
  const absent = changes.flatMap(({ absence, listed }) => (absence === null ? [] : [listed]));
  if (absent.length > 0) {
    const organisationId = await readValue(
      transaction,
      z.number(),
      sql`select organisation_id from account where account_id = ${accountId}`,
    );
    await saveListedParties(transaction, organisationId, absent);
  }
  const alerts = await readValue(
    transaction,
    z.number(),
    sql`with change as (
       select * from ${recordset(rows)} as row (
         place integer, alert_id bigint, party_id bigint, state text, digest text, rank integer, is_hit boolean, score double precision,
         customer_version integer, severity text, rule text, priority smallint, absence text, topic text, is_baseline boolean,
         opened_at timestamptz, due_at timestamptz, drops_disposition boolean, kind text, reasons text[]
       )
     ),
     numbered as (
       select change.*, found.listed_id, coalesce(change.alert_id, nextval(pg_get_serial_sequence('alert', 'alert_id'))) as id
       from change
       join account on account.account_id = ${accountId}
       cross join lateral ${findListedSql(sql`account.organisation_id`, 'change.digest')} found
     ),
     inserted as (
       insert into alert (
         alert_id, account_id, party_id, state, listed_id, rank, is_hit, score, customer_version, severity, rule, priority, is_baseline,
         opened_at, due_at, absence, absent_since, topic
       ) overriding system value
       select id, ${accountId}, party_id, state, listed_id, rank, is_hit, score, customer_version, severity, rule, priority, is_baseline,
         opened_at, due_at, absence, case when absence is not null then ${now}::timestamptz end, topic
       from numbered where alert_id is null
       returning alert_id
     ),
     updated as (
       update alert set
         state = numbered.state, listed_id = numbered.listed_id, rank = numbered.rank, is_hit = numbered.is_hit, score = numbered.score,
         customer_version = coalesce(numbered.customer_version, alert.customer_version), severity = numbered.severity,
         rule = numbered.rule, priority = numbered.priority, opened_at = numbered.opened_at, due_at = numbered.due_at,
         absence = numbered.absence, topic = numbered.topic,
         absent_since = case when numbered.absence is not null then coalesce(alert.absent_since, ${now}::timestamptz) end,
         disposition_id = case when numbered.drops_disposition then null else alert.disposition_id end
       from numbered where numbered.alert_id = alert.alert_id
       returning alert.alert_id
     ),
     reported as (
       insert into alert_event (alert_id, kind, happened_at, run_id, reasons, severity, listed_id, rank, is_hit, score)
       select id, kind, ${now}, ${runId}, coalesce(reasons, '{}'), severity, listed_id, rank, is_hit, score
       from numbered where kind is not null order by place
     )
     select ((select count(*) from inserted) + (select count(*) from updated))::integer as alerts`,
  );
  if (alerts === changes.length) return;
  throw new StoreError('alerts_not_whole', `${alerts} of ${changes.length} alerts could be stored; please report this`);
}

/**
 * SQL: the number of hits of a party's last answer (`state`), hits that a truncated list does not show included. Matches are not counted: without
 * statistics of them the planner compared every customer with every hit (100,000 customers: 10 s instead of 0.2 s).
 */
const hitsSql = sql`(
  (select hits from response where response.response_id = state.response_id)
  + (select count(*) from jsonb_array_elements(coalesce(state.unreturned, '[]')) hidden (one) where hidden.one -> 'isHit' = 'true')
)`;

/** SQL: the current parties (`state`) of a roster on an account whose answer has more hits than they have alerts. */
const toWithoutAlert = ({ rosterId, accountId }: ProjectionScope): Sql => sql`
  party_state state
  join party on party.party_id = state.party_id and party.is_current
  join customer on customer.customer_id = party.customer_id and customer.roster_id = ${rosterId}
  where state.account_id = ${accountId} and state.state = 'open_alert' and ${hitsSql} > (
    select count(*) from alert
    where alert.party_id = state.party_id and alert.account_id = state.account_id and alert.state <> 'no_longer_matched' and alert.absence is null
  )`;

/**
 * Computes the alerts of a roster on an account from dispositions and answers, and counts the differences: alerts in another state than their
 * dispositions give, and parties with a hit that is no alert. Both are 0 once the alerts of all runs are made.
 */
export async function findStateDisagreements(database: Queryable, { rosterId, accountId }: ProjectionScope) {
  return readRow(
    database,
    z.object({ alerts: z.number(), hits: z.number() }),
    sql`select (select count(*)::integer from ${toWithoutAlert({ rosterId, accountId })}) as hits, count(*)::integer as alerts
     from alert
     join party on party.party_id = alert.party_id
     join customer on customer.customer_id = party.customer_id and customer.roster_id = ${rosterId}
     left join disposition said on said.disposition_id = alert.disposition_id
     where alert.account_id = ${accountId} and (
       alert.is_true_match is distinct from (
         exists (select from disposition made where made.alert_id = alert.alert_id) and counts_as_true_match(alert.alert_id)
       )
       or not coalesce(case
         when said.disposition_id is null or said.verdict = 'inconclusive' and said.kind <> 'proposed' then alert.state = 'open'
         when said.kind = 'proposed' then alert.state = 'pending_approval'
         when said.verdict = 'true_match' then alert.state = case when alert.absence is null then 'true_match' else 'open' end
         when said.verdict = 'false_positive' then alert.state = case when alert.absence is null then 'false_positive' else 'no_longer_matched' end
         when said.verdict = 'no_longer_matched' then alert.state = 'no_longer_matched' and alert.absence is not null
       end, false)
     )`,
  );
}

/**
 * Finds the parties whose alerts may be out of date: their matches or record have changed, the roster has removed or restored them, a decision
 * has expired by `now`, a hit has no alert, or a held run has opened one.
 */
function findUnprojectedParties(
  database: Queryable,
  { rosterId, accountId, now, ...part }: ProjectionScope & AppliedPart & { now: Date },
) {
  return readColumn(
    database,
    z.number(),
    // Without an alert and a hit only a serious change needs review; a first night has ten times as many others.
    sql`select party_id from (
     select event.party_id from change_event event
     where event.run_id = ${part.runId} and event.wave > ${part.afterWave} and (
       event.severity in ('critical', 'high')
       or exists (select from alert where alert.party_id = event.party_id and alert.account_id = ${accountId})
       or exists (
         select from party_state state
         where state.party_id = event.party_id and state.account_id = ${accountId} and state.state = 'open_alert'
       )
     )
     union
     select alert.party_id
     from alert
     join party on party.party_id = alert.party_id
     join customer on customer.customer_id = party.customer_id and customer.roster_id = ${rosterId}
     -- No row if only held runs have answered.
     left join party_state state on state.party_id = alert.party_id and state.account_id = alert.account_id
     left join disposition_with_text said on said.disposition_id = alert.disposition_id
     where alert.account_id = ${accountId} and alert.state <> 'no_longer_matched' and case
       when not party.is_current then alert.absence is null or alert.absence in ('not_returned', 'below_threshold')
       when alert.absence is null then alert.customer_version <> state.customer_version or said.expires_at <= ${now}
       else alert.absence = 'customer_changed'
     end
     union
     select state.party_id from ${toWithoutAlert({ rosterId, accountId })}
     union
     -- Alerts of a held run are compared with the next valid answer.
     select alert.party_id
     from run
     join alert_event event on event.run_id = run.run_id
     join alert on alert.alert_id = event.alert_id and alert.state <> 'no_longer_matched' and alert.absence is null
     join party_state state on state.party_id = alert.party_id and state.account_id = alert.account_id and state.run_id >= run.run_id
     where run.roster_id = ${rosterId} and run.account_id = ${accountId} and (
       run.run_id = ${part.runId} or exists (select from run_hold hold where hold.run_id = run.run_id and hold.kind = 'answers')
     )
     ) found
     -- Nobody decides about an erased customer again.
     where not exists (select from party join erasure using (customer_id) where party.party_id = found.party_id)
     order by 1`,
  );
}

/** A change that is not in an alert yet. */
const changeShape = z.object({
  matchId: z.string(),
  kind: z.enum(matchChangeKinds),
  severity: z.enum(severities),
  rule: z.string(),
  corroboration: corroborationSchema,
  isBaseline: z.boolean(),
});
type UnprojectedChange = z.infer<typeof changeShape>;

const partyRow = z
  .object({
    partyId: z.number(),
    customerVersion: z.number(),
    customer: seenCustomerSchema,
    /** Whether the roster still names it. */
    isCurrent: z.boolean(),
    riskTier: partySchema.shape.riskTier,
    returned: z.array(matchSchema),
    hidden: z.array(matchSchema),
    changes: z.array(changeShape.extend({ cause: z.enum(changeCauses), formerId: z.string().nullable() })),
  })
  .transform(({ returned, hidden, changes, ...party }) => {
    const byMatch = new Map<string, UnprojectedChange>();
    const causes = new Map<string, ChangeCause>();
    for (const { formerId, cause, ...change } of changes) {
      causes.set(formerId ?? change.matchId, cause).set(change.matchId, cause);
      const earlier = [byMatch.get(change.matchId), byMatch.get(formerId ?? change.matchId)];
      byMatch.set(change.matchId, earlier.reduce<UnprojectedChange>(pickWorse, change));
    }
    return {
      ...party,
      /** Those of the last answer, and known ones that a truncated list does not show. */
      matches: [...returned, ...hidden],
      /** The most severe change of each match, by its current id. */
      changes: byMatch,
      /** The cause of the last change of a match, by its former and its current id. */
      causes,
    };
  });
/** A party whose alerts may be out of date. */
export type UnprojectedParty = FactsOf<typeof partyRow>;

const toPlace = ({ severity }: UnprojectedChange): number => severities.indexOf(severity);

/** The later change, unless the earlier one is more severe: a later small change does not weaken a hit. */
const pickWorse = (later: UnprojectedChange, earlier: UnprojectedChange | undefined): UnprojectedChange =>
  earlier !== undefined && toPlace(earlier) < toPlace(later) ? earlier : later;

const changeSql = sql`jsonb_build_object(
  'matchId', event.match_id, 'severity', event.severity, 'rule', event.rule, 'kind', event.kind, 'cause', event.cause,
  'isBaseline', event.is_baseline, 'formerId', (select match_id from listed_party where listed_id = event.before_listed_id),
  'corroboration', jsonb_build_object(
    'birthDate', coalesce(event.birth_date_agreement, 'unknown'), 'country', coalesce(event.country_agreement, 'unknown')
  )
)`;

/** The current facts of parties, each with the record that was searched for. */
async function readUnprojectedParties(
  database: Queryable,
  { accountId, runId, afterWave }: ProjectionScope & AppliedPart,
  partyIds: readonly number[],
): Promise<readonly UnprojectedParty[]> {
  return database.query(
    partyRow,
    sql`select party.party_id, version.version as "customerVersion", ${assessedTierSql} as "riskTier",
       party.is_current, ${seenCustomerSql} as customer,
       ${storedMatchesSql('state.response_id')} as returned,
       ${hiddenMatchesSql('state.unreturned')} as hidden,
       (select coalesce(jsonb_agg(${changeSql} order by event.change_id), '[]')
        from change_event event where event.run_id = ${runId} and event.wave > ${afterWave} and event.party_id = party.party_id) as changes
     from party
     join customer on customer.customer_id = party.customer_id
     left join party_state state on state.account_id = ${accountId} and state.party_id = party.party_id
     join customer_version version
       on version.customer_id = party.customer_id and version.version = coalesce(state.customer_version, customer.version)
     where party.party_id = any (${partyIds})
     order by party.party_id`,
  );
}

/**
 * The parties for which the answers that a held run does not apply show something new, or a decided match with another record of the customer; at
 * most `limit` after party `last`.
 */
async function readHeldParties(
  database: Queryable,
  { rosterId, accountId, runId }: ProjectionScope & { runId: number },
  { last, limit }: { last: number; limit: number },
): Promise<readonly UnprojectedParty[]> {
  return database.query(
    partyRow,
    sql`select answer.party_id, coalesce(state.customer_version, answer.customer_version) as "customerVersion",
       ${assessedTierSql} as "riskTier", party.is_current, ${seenCustomerSql} as customer,
       ${storedMatchesSql('answer.response_id')} as returned,
       ${hiddenMatchesSql('next.unreturned')} as hidden,
       (select coalesce(jsonb_agg(${changeSql} order by event.change_id), '[]')
        from found_change event where event.run_id = ${runId} and event.party_id = answer.party_id) as changes
     from next_state next
     join party_answer answer on answer.run_id = next.run_id and answer.party_id = next.party_id
     join run on run.run_id = next.run_id
     join party on party.party_id = next.party_id
     join customer on customer.customer_id = party.customer_id and customer.roster_id = ${rosterId}
     join customer_version version
       on version.customer_id = party.customer_id and version.version = answer.customer_version
     left join party_state state on state.account_id = ${accountId} and state.party_id = next.party_id
     where next.run_id = ${runId} and next.party_id > ${last}
       and answer.wave > run.applied_wave and (run.proven_wave = 0 or answer.wave <= run.proven_wave)
       and (
         exists (
           select from change event
           where event.run_id = ${runId} and event.party_id = next.party_id
             and event.kind not in ('match_removed', 'match_not_returned', 'hit_lost')
         )
         or exists (
           select from alert
           where alert.party_id = next.party_id and alert.account_id = ${accountId} and alert.disposition_id is not null
             and alert.customer_version <> answer.customer_version
         )
       )
     order by next.party_id
     limit ${limit}`,
  );
}

const partiesAtOnce = 500;

/**
 * Makes the alerts of all parties of a roster on an account whose alerts may be out of date, and stores the alert's state with each change. For a
 * held run it then does the same with the answers that are not applied. The alerts are locked until the
 * transaction ends.
 */
export async function projectParties(
  transaction: Queryable,
  scope: ProjectionScope & AppliedPart & { now: Date; isHeld: boolean },
  toChanges: (
    party: UnprojectedParty,
    alerts: readonly StoredAlert[],
    hasHeldAnswers: boolean,
  ) => readonly AlertChange[],
): Promise<void> {
  const { accountId } = scope;
  const project = async (parties: readonly UnprojectedParty[], ids: readonly number[], hasHeldAnswers: boolean) => {
    const alerts = await readAlertsOf(transaction, accountId, ids);
    const changes = parties.flatMap((party) => toChanges(party, alerts.get(party.partyId) ?? [], hasHeldAnswers));
    await saveAlertChanges(transaction, scope, changes);
  };
  const partyIds = await findUnprojectedParties(transaction, scope);
  await holdAlertsOfParties(transaction, accountId, partyIds);
  for (let start = 0; start < partyIds.length; start += partiesAtOnce) {
    const chunk = partyIds.slice(start, start + partiesAtOnce);
    const parties = await readUnprojectedParties(transaction, scope, chunk);
    await project(parties, chunk, false);
    const changed = parties.filter(({ changes }) => [...changes.values()].some(({ isBaseline }) => !isBaseline));
    const changedIds = changed.map(({ partyId }) => partyId);
    await saveChangeAlerts(transaction, scope, changedIds);
  }
  for (let last = 0; scope.isHeld; ) {
    const parties = await readHeldParties(transaction, scope, { last, limit: partiesAtOnce });
    const ids = parties.map(({ partyId }) => partyId);
    await holdAlertsOfParties(transaction, accountId, ids);
    await project(parties, ids, true);
    if (parties.length < partiesAtOnce) return;
    last = ids.at(-1) ?? last;
  }
}
