import { z } from 'zod';
import { type FactsOf, waitingAlertSchema } from '../../vocabulary/facts.js';
import { type AlertNews, alertNews } from '../../vocabulary.js';
import { findRow, findValue, type Queryable, readColumn, readValue } from '../database/database.js';
import { insertInto, rawSql, type Sql, sql } from '../database/statement.js';
import { joinPartySql, partyFactsSql, replacedSql, screeningKindsSql } from '../row-shapes.js';

/** The alerts of a roster's customers on an account. */
export interface ProjectionScope {
  rosterId: number;
  accountId: number;
}

/** The answers that a run has just applied: those of the waves after this one. */
export interface AppliedPart {
  runId: number;
  afterWave: number;
}

/** SQL: why an alert is open again, `undone` after an undo; empty for an alert that was never decided. */
const reopenedBecauseSql = (alert: string): Sql =>
  rawSql(`coalesce((
  select reported.reasons
  from (
    select happened_at, reasons from alert_event
    where alert_event.alert_id = ${alert}.alert_id and kind in ('opened', 'reopened')
    union all
    select undone.decided_at, array['undone']
    from disposition undone join disposition said on said.disposition_id = undone.refers_to and said.kind <> 'proposed'
    where undone.alert_id = ${alert}.alert_id and undone.kind = 'undone'
  ) reported
  order by reported.happened_at desc limit 1
), '{}')`);

/**
 * SQL: joins the last decision about a similar match of the party that disappeared when the alert's match came, and that match; without a row
 * for none, and for an alert with a decision of its own. The facts that it depends on never change.
 */
const joinReplacedSql = (alert: string): Sql =>
  rawSql(`left join lateral (
  select made.disposition_id, former.listed_id
  from alert_with_match former
  join disposition made on made.alert_id = former.alert_id and made.verdict is not null
  where former.party_id = ${alert}.party_id and former.account_id = ${alert}.account_id and former.alert_id < ${alert}.alert_id
    and former.listed ->> 'schema' = ${alert}.listed ->> 'schema'
    and (
      string_to_array(lower(former.listed ->> 'name'), ' ') && string_to_array(lower(${alert}.listed ->> 'name'), ' ')
      or exists (
        select from jsonb_array_elements_text(former.listed -> 'birthDates') as born (day)
        where length(born.day) > 4 and ${alert}.listed -> 'birthDates' @> to_jsonb(born.day)
      )
    )
    and not exists (select from disposition own where own.alert_id = ${alert}.alert_id)
    and exists (
      select from alert_event opened
      join change_event lost on lost.run_id = opened.run_id and lost.party_id = former.party_id
        and lost.match_id = former.match_id and lost.after_listed_id is null
      where opened.alert_id = ${alert}.alert_id and opened.kind = 'opened' and made.decided_at <= opened.happened_at
      -- \`offset 0\`: runs for the few former alerts only, by indexes.
      offset 0
    )
  order by lower(former.listed ->> 'name') = lower(${alert}.listed ->> 'name') desc, made.disposition_id desc limit 1
) replaced on true`);

/** SQL: what an older system said of an alert, as `waitingRow` reads it; null where it said nothing. */
const legacySql = (alert: string): Sql =>
  rawSql(`${alert}.legacy || jsonb_build_object(
     'verdict', ${alert}.legacy ->> 'verdict', 'reviewer', ${alert}.legacy ->> 'decidedBy', 'reason', ${alert}.legacy ->> 'reason',
     'decidedAt', ${alert}.legacy ->> 'decidedAt'
   )`);

/** A waiting alert, as read from the tables or as stored in a report's sheet. */
const waitingRow = waitingAlertSchema.extend({
  alertId: z.number(),
  /** The number of its last disposition. */
  lastSaidId: z.number().nullable(),
});

/** The number of these alerts by account, where they belong to several; the account with most first. */
export async function countByAccount(database: Queryable, alertIds: readonly number[]) {
  const counted = await database.query(
    z.object({ account: z.string(), alerts: z.number() }),
    sql`select 'account ...' || right(public_key, 4) || ' at ' || base_url as account, count(*)::integer as alerts
     from alert join account using (account_id) where alert_id = any (${alertIds})
     group by account_id, public_key, base_url order by 2 desc, account_id`,
  );
  return counted.length > 1 ? counted : [];
}

/** A stored waiting alert. */
export type StoredWaitingAlert = FactsOf<typeof waitingRow> & { news: AlertNews | null };

/** SQL: a decision (`made`), as `waitingRow` reads it. */
const decisionSql = sql`jsonb_build_object(
  'verdict', made.verdict, 'reviewer', made.reviewer, 'reason', made.reason, 'decidedAt', made.decided_at
)`;

/** SQL: the waiting alerts (`event`), as `waitingRow` reads them; the caller adds conditions and order. */
const waitingAlertsSql = sql`
  select event.alert_id as "alertId", case when account.is_test then 'test' else 'live' end as mode, ${partyFactsSql} as party,
    event.listed, event.severity, event.rule, event.priority, event.opened_at as "openedAt", event.due_at as "dueAt", event.state,
    event.absence, event.absent_since as "absentSince", ${replacedSql('replaced.disposition_id', 'replaced.listed_id')} as replaced,
    event.assigned_to as "assignedTo", ${reopenedBecauseSql('event')} as "reopenedBecause",
    case when event.state = 'pending_approval' then (
      select ${decisionSql} from disposition_with_text made where made.disposition_id = event.disposition_id
    ) end as proposal,
    (
      select ${decisionSql} from disposition_with_text made where made.alert_id = event.alert_id and made.verdict is not null
        and not (event.state = 'pending_approval' and made.disposition_id = event.disposition_id)
      order by made.disposition_id desc limit 1
    ) as "lastDecision",
    ${legacySql('event')} || jsonb_build_object(
      'isSample', event.legacy -> 'isSample' = 'true' and not exists (select from disposition made where made.alert_id = event.alert_id)
    ) as legacy,
    (select max(said.disposition_id) from disposition said where said.alert_id = event.alert_id) as "lastSaidId"
  from alert_with_match event
  ${joinPartySql('event')}
  join roster on roster.roster_id = customer.roster_id
  join account on account.account_id = event.account_id
  ${joinReplacedSql('event')}
  where event.state in ('open', 'pending_approval')`;

/** SQL: the most urgent alerts first. */
const urgencySql = sql`event.priority desc, event.due_at, event.alert_id`;

/** SQL: the alerts that these runs opened or made more severe, each with what they did. An escalation counts least. */
export const toNewsSql = (runIds: readonly number[]): Sql => sql`
  select distinct on (event.alert_id) event.alert_id,
    case
      when event.reasons = '{expired}' or event.kind = 'absent' and 'expired' = any (event.reasons) then 'expired'
      when event.kind = 'absent' then 'reopened'
      else event.kind
    end as news
  from alert_event event
  where event.run_id = any (${runIds}) and (
    event.kind in ('opened', 'reopened', 'escalated', 'returned')
    -- An absence opens a decided alert only for these reasons.
    or event.kind = 'absent' and event.reasons && '{expired,true_match}'
  )
  order by event.alert_id, event.kind = 'escalated', event.event_id desc`;

/** What the runs did with each of the alerts that they opened or made more severe. */
async function readNews(database: Queryable, runIds: readonly number[]): Promise<ReadonlyMap<number, AlertNews>> {
  const rows = await database.query(z.object({ alertId: z.number(), news: z.enum(alertNews) }), toNewsSql(runIds));
  return new Map(rows.map(({ alertId, news }) => [alertId, news]));
}

/** The last screening of each roster and account that ended, and later runs over some customers. */
function readLatestRuns(database: Queryable, organisationId: number) {
  return readColumn(
    database,
    z.number(),
    sql`select run_id
     from (
       select run_id,
         max(run_id) filter (where selection in ('due', 'all') or kind = 'onboard') over (partition by roster_id, account_id) as whole_id
       from run
       where organisation_id = ${organisationId} and kind in (${screeningKindsSql}) and open_alerts is not null
         and state in ('complete', 'incomplete', 'unbalanced')
     ) ended
     where run_id >= whole_id`,
  );
}

/**
 * Stores that a working list is written, and gives its number with what waits for reviewers, or for `assignee`, on all accounts; the most
 * urgent first.
 */
export async function openReviewSheet(
  database: Queryable,
  list: { organisationId: number; roster: string | null; assignee: string | null; exportedBy: string; now: Date },
) {
  const { organisationId, roster, assignee, exportedBy, now } = list;
  const sheet = insertInto('review_sheet', [{ organisationId, exportedAt: now, exportedBy }]);
  const sheetId = await readValue(database, z.number(), sql`${sheet} returning sheet_id`);
  const waiting = await database.query(
    waitingRow,
    sql`${waitingAlertsSql}
       and roster.organisation_id = ${organisationId}
       and (${roster}::text is null or roster.name = ${roster})
       and (${assignee}::text is null or event.assigned_to = ${assignee})
     order by ${urgencySql}`,
  );
  const news = await readNews(database, await readLatestRuns(database, organisationId));
  return { sheetId, waiting: waiting.map((alert) => ({ ...alert, news: news.get(alert.alertId) ?? null })) };
}

/**
 * Stores the first `maxItems` of what waits for reviewers of a roster's customers on an account at `now`, as the report sheet of the run that
 * closes: what its answers opened or made more severe, then the others, each the most urgent first. An alert that an earlier report showed
 * unchanged is not stored again.
 */
export async function saveReportSheet(
  transaction: Queryable,
  runId: number,
  { rosterId, accountId }: ProjectionScope,
  { now, maxItems }: { now: Date; maxItems: number },
): Promise<void> {
  await transaction.execute(sql`
    with news as materialized (${toNewsSql([runId])}),
    waiting as materialized (
      select alert.alert_id, alert.revision, alert.priority, alert.due_at, alert.listed_id, alert.rank, alert.is_hit, alert.score,
        alert.alert_id in (select alert_id from news where news <> 'expired') as is_new
      from alert
      join party on party.party_id = alert.party_id
      join customer on customer.customer_id = party.customer_id and customer.roster_id = ${rosterId}
      where alert.account_id = ${accountId} and alert.state in ('open', 'pending_approval')
    ),
    urgent as (
      select alert_id, revision, listed_id, rank, is_hit, score, row_number() over (order by event.is_new desc, ${urgencySql}) as place
      from (select * from waiting event order by event.is_new desc, ${urgencySql} limit ${maxItems}) event
    ),
    -- Numbered here, because the planner has no statistics to join large lists again.
    listed as materialized (
      select urgent.*, known.shown_id is null as is_added,
        coalesce(known.shown_id, nextval(pg_get_serial_sequence('shown_alert', 'shown_id'))) as shown_id
      from urgent
      left join lateral (
        select latest.shown_id
        from (
          select shown_id, revision from shown_alert where shown_alert.alert_id = urgent.alert_id order by shown_id desc limit 1
        ) latest
        -- All facts shown change the alert's revision, or never change.
        where latest.revision = urgent.revision
      ) known on true
    ),
    added as (
      insert into shown_alert (shown_id, alert_id, revision, listed_id, rank, is_hit, score, facts) overriding system value
      select listed.shown_id, listed.alert_id, listed.revision, listed.listed_id, listed.rank, listed.is_hit, listed.score,
        to_jsonb(alert) - 'listed' || jsonb_build_object('legacy', alert.legacy - array['verdict', 'reviewer', 'reason', 'comment', 'decidedBy', 'decidedAt'])
      from listed
      -- \`offset 0\`: one alert after another, by indexes.
      cross join lateral (${waitingAlertsSql} and event.alert_id = listed.alert_id offset 0) alert
      where listed.is_added
    )
    insert into review_sheet (organisation_id, exported_at, exported_by, run_id, shown_ids, waiting)
    select organisation_id, ${now}, 'report', run_id, array(select shown_id from listed order by place), (select count(*) from waiting)
    from run where run_id = ${runId}`);
}

/**
 * The report sheet that a run stored when it last closed, with its alerts and the count of all waiting ones; null without a sheet. The news are
 * those of `runIds`.
 */
export async function readReportSheet(database: Queryable, runId: number, runIds: readonly number[] = [runId]) {
  const sheet = await findRow(
    database,
    z.object({ sheetId: z.number(), waiting: z.number() }),
    sql`select sheet_id, waiting from review_sheet where run_id = ${runId} and exported_by = 'report' order by sheet_id desc limit 1`,
  );
  if (sheet === null) return null;
  const alerts = await readColumn(
    database,
    waitingRow,
    sql`select shown.facts || jsonb_build_object(
       'listed', show_match(listed, shown.rank, shown.is_hit, shown.score),
       'legacy', ${legacySql('alert')} || nullif(shown.facts -> 'legacy', 'null')
     ) as facts
     from review_sheet sheet
     cross join lateral unnest(sheet.shown_ids) with ordinality as chosen (shown_id, place)
     join shown_alert shown on shown.shown_id = chosen.shown_id
     join alert on alert.alert_id = shown.alert_id
     left join listed_party listed on listed.listed_id = shown.listed_id
     where sheet.sheet_id = ${sheet.sheetId}
     order by chosen.place`,
  );
  const news = await readNews(database, runIds);
  return { ...sheet, alerts: alerts.map((alert) => ({ ...alert, news: news.get(alert.alertId) ?? null })) };
}

/** SQL: a held run (one for which `where` is true) has opened or changed the alert (`alert`). */
const isOfHeldRunSql = (where = sql`true`): Sql => sql`exists (
  select from alert_event event
  join run_hold hold on hold.run_id = event.run_id and hold.kind = 'answers'
  where event.alert_id = alert.alert_id and ${where}
)`;

/**
 * SQL: an absent alert (`alert`, of `party` and `customer`) may be closed in bulk: it has no proposal and is no true match, the customer's record
 * is unchanged, the last answer is complete, and no run that is still held has changed it.
 */
const isPlainlyAbsentSql = sql`(
  alert.state = 'open' and alert.absence in ('not_returned', 'below_threshold', 'settings_changed') and not alert.is_true_match
  and alert.customer_version = customer.version and customer.left_at is null and party.is_current
  and not ${isOfHeldRunSql(sql`hold.run_id not in (select run_id from accepted_run)`)}
  and exists (
    select from party_state state
    join response on response.response_id = state.response_id
    join account on account.account_id = state.account_id
    where state.party_id = alert.party_id and state.account_id = alert.account_id and state.customer_version = alert.customer_version
      and state.unreturned is null and not response.truncated and response.total is distinct from account.list_cap
  )
)`;

/** Days and complete answers for which a match is absent before the policy closes its alert. */
const policyDays = 7;
const policyAnswers = 3;

/**
 * The alerts of a roster on an account that the accepted policy `review.autoClose` closes when a run closes at `now`. They have no disposition,
 * no topic above political exposure, and an absence caused by the service alone. The absence lasts at least seven days and three complete
 * answers of closed runs (a reused answer does not count). No held run has changed them, and no settings were accepted meanwhile.
 */
export async function findAutoClosable(
  transaction: Queryable,
  runId: number,
  { rosterId, accountId }: ProjectionScope,
  now: Date,
): Promise<readonly { alertId: number; absentSince: Date }[]> {
  return transaction.query(
    z.object({ alertId: z.number(), absentSince: z.date() }),
    sql`select alert.alert_id, alert.absent_since
     from alert
     join party on party.party_id = alert.party_id
     join customer on customer.customer_id = party.customer_id and customer.roster_id = ${rosterId}
     join roster on roster.roster_id = customer.roster_id
     where alert.account_id = ${accountId} and alert.absence in ('not_returned', 'below_threshold') and alert.topic in ('pep', 'associate', 'other')
       and alert.absent_since <= ${now}::timestamptz - make_interval(days => ${policyDays}) and ${isPlainlyAbsentSql}
       and not ${isOfHeldRunSql()}
       and not exists (select from disposition said where said.alert_id = alert.alert_id)
       and alert.legacy is null
       and not exists (
         select from acceptance accepted
         where accepted.organisation_id = roster.organisation_id and not accepted.is_proposal and accepted.accepted_at > alert.absent_since
       )
       and ${policyAnswers} <= (
         select count(*)
         from screening
         join run on run.run_id = screening.run_id and run.account_id = alert.account_id
         join response on response.response_id = screening.response_id and not response.truncated
         where screening.party_id = alert.party_id and screening.outcome = 'screened'
           and (run.run_id = ${runId} or run.state in ('complete', 'incomplete'))
           -- The time of the answer counts, because an acceptance moves the end of a run. The absence has the end of its run as date.
           and (screening.answered_at >= alert.absent_since or exists (
             select from alert_event found
             where found.alert_id = alert.alert_id and found.run_id = run.run_id and found.happened_at = alert.absent_since
           ))
           -- A former limit of list lengths may have truncated earlier answers.
           and not exists (
             select from account
             cross join jsonb_to_recordset(account.list_caps) as cap (length bigint, "goneAt" timestamptz)
             where account.account_id = alert.account_id and cap.length = response.total
               and coalesce(cap."goneAt" > screening.answered_at, true)
           )
       )
     order by alert.alert_id`,
  );
}

/** The alerts among these that may be closed in bulk as no longer matched, each with its account. */
export async function findPlainlyAbsent(
  database: Queryable,
  alertIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (alertIds.length === 0) return new Map();
  const rows = await database.query(
    z.object({ alertId: z.number(), accountId: z.number() }),
    sql`select alert.alert_id, alert.account_id
     from alert
     join party on party.party_id = alert.party_id
     join customer on customer.customer_id = party.customer_id
     where alert.alert_id = any (${alertIds}) and ${isPlainlyAbsentSql}`,
  );
  return new Map(rows.map(({ alertId, accountId }) => [alertId, accountId]));
}

/** Stores the alerts of a bulk row; gives its number. */
export function saveBulk(database: Queryable, sheetId: number, alertIds: readonly number[]): Promise<number> {
  return readValue(
    database,
    z.number(),
    sql`insert into review_sheet (organisation_id, exported_at, exported_by, alert_ids)
     select organisation_id, exported_at, exported_by, ${alertIds}::bigint[] from review_sheet where sheet_id = ${sheetId} returning sheet_id`,
  );
}

/** The alerts of an organisation's bulk row; empty for an unknown number. */
export async function readBulk(
  database: Queryable,
  organisationId: number,
  bulkId: number,
): Promise<readonly number[]> {
  const found = await findValue(
    database,
    z.array(z.number()),
    sql`select alert_ids from review_sheet
     where organisation_id = ${organisationId} and sheet_id = ${bulkId} and alert_ids is not null`,
  );
  return found ?? [];
}

/** The most dispositions of an alert that a report shows. */
const saidAtMost = 3;

/**
 * Stores the alert's state with each newly projected change of these parties, for reports. Changes of first screenings are left out, because
 * they have opened their alerts.
 */
export async function saveChangeAlerts(
  transaction: Queryable,
  { accountId, runId, afterWave }: ProjectionScope & AppliedPart,
  partyIds: readonly number[],
): Promise<void> {
  if (partyIds.length === 0) return;
  await transaction.execute(sql`
    insert into change_alert (
      change_id, state, opened_at, due_at, assigned_to, reopened_because, said, replaced_disposition_id, replaced_listed_id
    )
    select event.change_id, found.*
    from change_event event
    cross join lateral (
      select alert.state, alert.opened_at, alert.due_at, alert.assigned_to, ${reopenedBecauseSql('alert')},
        array(select disposition_id from disposition where disposition.alert_id = alert.alert_id order by 1 desc limit ${saidAtMost}),
        replaced.disposition_id, replaced.listed_id
      from alert_with_match alert
      ${joinReplacedSql('alert')}
      where alert.party_id = event.party_id and alert.account_id = ${accountId} and alert.match_id = event.match_id
      order by (alert.state = 'no_longer_matched'), alert.alert_id desc limit 1
    ) found
    where event.run_id = ${runId} and event.wave > ${afterWave} and event.party_id = any (${partyIds}) and not event.is_baseline
    on conflict (change_id) do nothing`);
}
