import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isWithoutSpaces } from '../../vocabulary/words.js';
import { findRow, type Queryable, readColumn, readRow } from '../database/database.js';
import { rawSql, type Sql, sql } from '../database/statement.js';
import { runIdSql } from '../runs.js';

const blockerRow = z.object({
  isInRoster: z.boolean(),
  hold: z.object({ heldBy: z.string(), reason: z.string() }).nullable(),
  /** Alerts that wait, and true matches. */
  alerts: z.number(),
  isErased: z.boolean(),
  /** Runs with an answer about the customer that a person may still accept. */
  heldRuns: z.array(z.string()),
});

/** What forbids the erasure of a customer. */
export const readBlockers = (database: Queryable, customerId: number): Promise<z.infer<typeof blockerRow>> =>
  readRow(
    database,
    blockerRow,
    sql`select customer.left_at is null as is_in_roster,
       (
         select json_build_object('heldBy', held_by, 'reason', reason) from legal_hold
         where legal_hold.customer_id = customer.customer_id and released_at is null
       ) as hold,
       (
         select count(*)::integer from party join alert using (party_id)
         where party.customer_id = customer.customer_id and (alert.state in ('open', 'pending_approval', 'true_match') or alert.is_true_match)
       ) as alerts,
       exists (select from erasure where erasure.customer_id = customer.customer_id) as is_erased,
       array(
         select ${runIdSql('run')} from run
         where run.roster_id = customer.roster_id and run.is_held and run.run_id not in (select run_id from accepted_run) and exists (
           select from party join planned on planned.run_id = run.run_id and planned.party_id = party.party_id
           where party.customer_id = customer.customer_id and planned.search_order is not null
         )
         order by run.run_id
       ) as held_runs
     from customer where customer.customer_id = ${customerId}`,
  );

const erasedRow = z.object({
  customerId: z.number(),
  rosterId: z.number(),
  roster: z.string(),
  erasedAt: z.date(),
  erasedBy: z.string(),
  reason: z.string(),
});

/** The digest by which the erasure of a customer is found from the reference, in hex. */
export const digestReference = (digestKey: Buffer, reference: string): string =>
  createHmac('sha256', digestKey).update(`reference\n${reference}`).digest('hex');

/** The last erasure of a customer who had a reference, by the digest of that reference; null without one. */
export const findErasure = (
  database: Queryable,
  organisationId: number,
  referenceDigest: string,
  roster: string | null,
) =>
  findRow(
    database,
    erasedRow,
    sql`select customer_id, roster_id, roster.name as roster, erased_at, erased_by, erasure.reason
     from erasure join customer using (customer_id) join roster using (roster_id)
     where reference_digest = decode(${referenceDigest}, 'hex') and roster.organisation_id = ${organisationId}
       and (${roster}::text is null or roster.name = ${roster})
     order by erased_at desc limit 1`,
  );

/** Who is erased: the numbers of all that is theirs, and the texts by which they are found. */
export interface ErasedPeople {
  organisationId: number;
  rosterId: number;
  customerIds: readonly number[];
  references: readonly string[];
  /** All names in all their records. */
  names: readonly string[];
  partyIds: readonly number[];
  /** Requests and answers that nobody else has used. */
  requestIds: readonly number[];
  responseIds: readonly number[];
  /** Those that namesakes or checks have used as well. */
  sharedRequests: number;
  dossierIds: readonly string[];
}

const ids = z.number();

/** Finds what is theirs alone. Two passes over the ledger find who else has used their requests and answers. */
export async function findErasedPeople(
  database: Queryable,
  { organisationId, rosterId, customerIds }: Pick<ErasedPeople, 'organisationId' | 'rosterId' | 'customerIds'>,
): Promise<ErasedPeople> {
  const references = await readColumn(
    database,
    z.string(),
    sql`select reference from customer where customer_id = any (${customerIds}) order by 1`,
  );
  const names = await readColumn(
    database,
    z.string(),
    sql`select distinct name
     from customer_version version cross join jsonb_array_elements(version.record -> 'parties') party
     cross join lateral (values (party ->> 'name'), (party ->> 'sentName')) as written (name)
     where version.customer_id = any (${customerIds}) and name is not null order by 1`,
  );
  const partyIds = await readColumn(
    database,
    ids,
    sql`select party_id from party where customer_id = any (${customerIds}) order by 1`,
  );
  const isOfOthersSql = sql`party_id <> all (${partyIds})
    and party_id not in (select gone.party_id from erasure join party gone using (customer_id))`;
  const used = await readColumn(
    database,
    ids,
    sql`select request_id from party where party_id = any (${partyIds})
     union select request_id from party_state where party_id = any (${partyIds})
     union select planned.request_id
     from run cross join lateral (
       select request_id from planned where planned.run_id = run.run_id and planned.party_id = any (${partyIds})
     ) planned where run.roster_id = ${rosterId}
     union select request_id from kept_answer where party_id = any (${partyIds})`,
  );
  const shared = await readColumn(
    database,
    ids,
    sql`select request_id from party where request_id = any (${used}) and ${isOfOthersSql}
     union select request_id from planned where request_id = any (${used}) and ${isOfOthersSql}
     union select request_id from kept_answer where request_id = any (${used}) and ${isOfOthersSql}
     union select request_id from single_search where request_id = any (${used})`,
  );
  const sharedSet = new Set(shared);
  const requestIds = used.filter((id) => !sharedSet.has(id));
  const answered = await readColumn(
    database,
    ids,
    sql`select distinct response_id from (
       select call.response_id from run cross join lateral (
         select response_id from call where call.run_id = run.run_id and call.request_id = any (${requestIds})
       ) call where run.organisation_id = ${organisationId}
       union all select response_id from kept_answer where request_id = any (${requestIds})
       union all select response_id from party_state where party_id = any (${partyIds}) and request_id = any (${requestIds})
     ) answer where response_id is not null`,
  );
  const kept = await readColumn(
    database,
    ids,
    sql`select response_id from call where response_id = any (${answered}) and request_id <> all (${requestIds})
     union select response_id from reused where response_id = any (${answered}) and ${isOfOthersSql}
     union select response_id from kept_answer where response_id = any (${answered}) and request_id <> all (${requestIds})
     union select response_id from party_state where response_id = any (${answered}) and ${isOfOthersSql}
     union select response_id from single_search where response_id = any (${answered})
     union select response_id from control_outcome where response_id = any (${answered})`,
  );
  const keptSet = new Set(kept);
  // A dossier is found by its reference, which a customer of another roster may have as well.
  const dossierIds = await readColumn(
    database,
    z.string(),
    sql`select distinct known.dossier_id
     from (
       select dossier.dossier_id, dossier.reference_key
       from account join dossier using (account_id)
       join customer on customer.customer_id = any (${customerIds}) and customer.reference_key = dossier.reference_key
       where account.organisation_id = ${organisationId}
       union select dossier_id, null from discrepancy where customer_id = any (${customerIds}) and dossier_id is not null
       union select dossier_id, null from invitation where customer_id = any (${customerIds}) and dossier_id is not null
     ) known
     where not exists (
       select from customer other join roster using (roster_id)
       where roster.organisation_id = ${organisationId} and other.reference_key = known.reference_key
         and other.customer_id <> all (${customerIds})
     ) and not exists (
       select from discrepancy where discrepancy.dossier_id = known.dossier_id and customer_id <> all (${customerIds})
     )`,
  );
  return {
    organisationId,
    rosterId,
    customerIds,
    references,
    names,
    partyIds,
    requestIds,
    responseIds: answered.filter((id) => !keptSet.has(id)),
    sharedRequests: sharedSet.size,
    dossierIds,
  };
}

/** SQL: a text has one of these as whole words, in any letter case, also as JSON writes it. */
function hasWordsSql(text: Sql, words: readonly string[]): Sql {
  const spellings = words.flatMap((word) => [word, JSON.stringify(word).slice(1, -1)]);
  const patterns = spellings.map((word) => {
    const pattern = word.replaceAll(/[^\p{L}\p{N}]/gu, '\\$&');
    return isWithoutSpaces(word) ? pattern : `(^|[^[:alnum:]])${pattern}($|[^[:alnum:]])`;
  });
  return patterns.length === 0 ? sql`false` : sql`${text} ~* ${patterns.join('|')}`;
}

/** SQL: a text names one of them, by name or by reference. */
const namesThemSql = (text: Sql, { names, references }: ErasedPeople): Sql =>
  hasWordsSql(text, [...names, ...references]);

/** The number of messages about these people that are still to be sent. */
export const countQueuedMessages = (database: Queryable, people: ErasedPeople) =>
  readRow(
    database,
    z.object({ count: z.number() }),
    sql`select count(*)::integer as count from outbox
     where organisation_id = ${people.organisationId} and state = 'queued' and ${namesThemSql(sql`content::text`, people)}`,
  );

/** SQL: a JSON list without the elements that name them. */
const withoutThemSql = (list: Sql, people: ErasedPeople): Sql => sql`coalesce((
  select jsonb_agg(element order by place)
  from jsonb_array_elements(${list}) with ordinality as one (element, place)
  where not ${namesThemSql(sql`element::text`, people)}
), '[]')`;

const erasedName = sql`'erased'::text`;
const toErasedReference = (customerId: string): Sql => rawSql(`'erased:' || ${customerId}`);

/** SQL: the parties of a record without what identifies them; later reports of old runs read these. */
const emptyRecordSql = sql`jsonb_build_object('riskTier', record -> 'riskTier', 'parties', (
  select jsonb_agg(case when party <> 'null' then jsonb_build_object(
    'role', party -> 'role', 'type', party -> 'type', 'name', ${erasedName}, 'sentName', ${erasedName}, 'birthDate', null,
    'countries', '[]'::jsonb
  ) else party end order by place)
  from jsonb_array_elements(record -> 'parties') with ordinality as one (party, place)
))`;

/** What an erasure does, by what it removes; in this order, because some rows are found by others. */
function listRemovals(people: ErasedPeople): readonly (readonly [what: string, statement: Sql])[] {
  const { organisationId, rosterId, customerIds, partyIds, requestIds, responseIds, dossierIds, references } = people;
  const ofAlerts = sql`(select alert_id from alert where party_id = any (${partyIds}))`;
  const accountsSql = sql`select account_id from account where organisation_id = ${organisationId}`;
  const ofDiscrepancies = sql`(
    select discrepancy_id from discrepancy
    where customer_id = any (${customerIds}) or account_id in (${accountsSql}) and (
      dossier_id = any (${dossierIds})
      or customer_id is null and roster_id = ${rosterId} and (
        subject = any (${references}) or ${namesThemSql(sql`facts::text`, people)}
      )
    )
  )`;
  const isAcceptanceSql = sql`(
    (roster_id = ${rosterId} or run_id in (select run_id from run where roster_id = ${rosterId})) and (
      reference = any (${references}) or ${namesThemSql(sql`coalesce(changes::text, '')`, people)} or ${namesThemSql(sql`reason`, people)}
    )
  )`;
  const isDetailSql = sql`(
    account_id in (${accountsSql}) and (account_id, record_id) in (
      select account_id, record_id from match_detail
      where kind = 'activity' and account_id in (${accountsSql}) and body is not null and ${hasWordsSql(sql`body`, people.names)}
    ) and digest is not null
  )`;
  return [
    ['keys of customers', sql`delete from evidence_key where kind = 'customer' and id = any (${customerIds})`],
    ['keys of answers', sql`delete from evidence_key where kind = 'answer' and id = any (${responseIds})`],
    [
      'keys of references',
      sql`delete from evidence_key where kind = 'reference' and id in (
         select number_text(${organisationId}, ${rosterId}::bigint || '/' || fold_reference(reference))
         from unnest(${references}::text[]) as known (reference)
       )`,
    ],
    [
      'keys of records behind matches',
      sql`delete from evidence_key where kind = 'record' and id in (
         select number_text(${organisationId}, account_id || '/' || record_id) from match_detail where ${isDetailSql}
       )`,
    ],
    [
      'keys of acceptances',
      sql`delete from evidence_key where kind = 'acceptance' and id in (select acceptance_id from acceptance where ${isAcceptanceSql})`,
    ],
    ['records', sql`update customer_version set record = ${emptyRecordSql} where customer_id = any (${customerIds})`],
    [
      'searched names',
      sql`update screening_request set name = 'erased ' || request_id where request_id = any (${requestIds})`,
    ],
    [
      'texts of dispositions',
      sql`delete from disposition_text using disposition
       where disposition.disposition_id = disposition_text.disposition_id and disposition.alert_id in ${ofAlerts}`,
    ],
    [
      'texts of an older system',
      sql`update alert set legacy = legacy || '{"reason": "erased", "comment": null}'
       where party_id = any (${partyIds}) and legacy is not null`,
    ],
    [
      'alerts in workbooks',
      sql`update shown_alert shown set facts = shown.facts || jsonb_build_object(
         'party', (shown.facts -> 'party') || jsonb_build_object(
           'reference', ${toErasedReference('party.customer_id')}, 'name', ${erasedName}, 'birthDate', null, 'countries', '[]'::jsonb
         ),
         'proposal', null, 'lastDecision', null, 'replaced', null, 'legacy', null
       )
       from alert join party using (party_id)
       where shown.alert_id = alert.alert_id and alert.party_id = any (${partyIds})`,
    ],
    ['invitations', sql`delete from invitation where customer_id = any (${customerIds})`],
    ['events of discrepancies', sql`delete from discrepancy_event where discrepancy_id in ${ofDiscrepancies}`],
    ['discrepancies', sql`delete from discrepancy where discrepancy_id in ${ofDiscrepancies}`],
    [
      'changes of dossiers',
      sql`delete from dossier_change using run
       where run.run_id = dossier_change.run_id and run.organisation_id = ${organisationId} and dossier_id = any (${dossierIds})`,
    ],
    [
      'records of dossiers',
      sql`delete from dossier_record using account
       where account.account_id = dossier_record.account_id and organisation_id = ${organisationId} and dossier_id = any (${dossierIds})`,
    ],
    [
      'dossiers',
      sql`delete from dossier using account
       where account.account_id = dossier.account_id and organisation_id = ${organisationId} and dossier_id = any (${dossierIds})`,
    ],
    [
      'marks of dossiers',
      sql`delete from dossier_mark where organisation_id = ${organisationId} and dossier_id = any (${dossierIds})`,
    ],
    [
      'rows of rosters',
      sql`update roster_row set
         reference = case when reference = any (${references}) then 'erased' else reference end,
         fields = '{}', doubts = case when doubts is not null then '[]'::jsonb end
       where import_id in (select import_id from roster_import where roster_id = ${rosterId})
         and (reference = any (${references}) or reference is null and ${hasWordsSql(sql`fields::text`, people.names)})`,
    ],
    [
      'ids without a record',
      sql`delete from unaccepted_customer where roster_id = ${rosterId} and reference = any (${references})`,
    ],
    [
      'gaps of runs',
      sql`update run_gap gap set reference = ${toErasedReference('customer.customer_id')}
       from run, customer
       where run.run_id = gap.run_id and run.roster_id = ${rosterId} and customer.roster_id = ${rosterId}
         and customer.reference = gap.reference and customer.customer_id = any (${customerIds})`,
    ],
    [
      'acceptances',
      sql`update acceptance set
         reference = case when reference = any (${references}) then 'erased' else reference end,
         changes = case when kind = 'roster' then ${withoutThemSql(sql`changes`, people)} else changes end,
         reason = case when ${namesThemSql(sql`reason`, people)} then 'erased' else reason end
       where ${isAcceptanceSql}`,
    ],
    [
      'held rosters',
      sql`update run_hold hold set roster = jsonb_set(hold.roster, '{changes}', ${withoutThemSql(sql`hold.roster -> 'changes'`, people)})
       from run
       where run.run_id = hold.run_id and run.roster_id = ${rosterId} and ${namesThemSql(sql`coalesce(hold.roster::text, '')`, people)}`,
    ],
    [
      'records behind matches',
      sql`update match_detail set body = null, digest = null, received_digest = null, reason = 'erased'
       where ${isDetailSql}`,
    ],
    [
      'messages',
      sql`update outbox set content = '{"erased": true}'
       where organisation_id = ${organisationId} and content is not null and ${namesThemSql(sql`content::text`, people)}`,
    ],
    [
      'changes of state that wait for webhooks',
      sql`delete from webhook_event using customer_state_change change
       where change.change_id = webhook_event.change_id and change.customer_id = any (${customerIds})`,
    ],
    ['states', sql`delete from customer_state where customer_id = any (${customerIds})`],
    ['reasons of forced searches', sql`update forced set because = 'erased' where party_id = any (${partyIds})`],
    [
      'values in doubt',
      sql`update roster_import set doubts = (
         select jsonb_agg(jsonb_set(doubt, '{values}', ${withoutThemSql(sql`doubt -> 'values'`, people)}) order by place)
         from jsonb_array_elements(doubts) with ordinality as one (doubt, place)
       )
       where roster_id = ${rosterId} and ${namesThemSql(sql`doubts::text`, people)}`,
    ],
    ['marks of customers', sql`delete from customer_mark where customer_id = any (${customerIds})`],
    [
      'customers',
      sql`update customer set reference = ${toErasedReference('customer_id')}, record_digest = '\\x00', own_digest = null
       where customer_id = any (${customerIds})`,
    ],
  ];
}

/** An answer without what was searched for; the matches stay, which are of the lists. */
export interface EmptiedAnswer {
  responseId: number;
  body: string;
  /** In hex, keyed as all others. */
  digest: string;
}

/** The answers to be emptied, without the repeated name and all other fields but the matches, which are of the lists. */
export const readEmptiedAnswers = (database: Queryable, { responseIds }: ErasedPeople) =>
  database.query(
    z.object({ responseId: z.number(), body: z.string() }),
    sql`select response_id, json_build_object(
         'query', 'erased', 'erased', response_id, 'type', body::json -> 'type', 'total', body::json -> 'total', 'results', body::json -> 'results'
       )::text as body
     from response where response_id = any (${responseIds}) order by 1`,
  );

/** Locks customers until the end of a transaction, so that nobody puts them under legal hold meanwhile. */
export const lockCustomers = (transaction: Queryable, customerIds: readonly number[]): Promise<number> =>
  transaction.execute(
    sql`select from customer where customer_id = any (${customerIds}) order by customer_id for update`,
  );

/** Removes what is personal of these people from all tables. Gives the number of rows by what was removed. */
export async function removePeople(
  transaction: Queryable,
  people: ErasedPeople,
  answers: readonly EmptiedAnswer[],
): Promise<Record<string, number>> {
  await transaction.execute(sql`select set_config('nightscreen.erases', 'on', true)`);
  const removed: Record<string, number> = {};
  const answered = await transaction.execute(
    sql`update response set body = emptied.body, digest = decode(emptied.digest, 'hex')
     from unnest(
       ${answers.map(({ responseId }) => responseId)}::bigint[], ${answers.map(({ body }) => body)}::text[], ${answers.map(({ digest }) => digest)}::text[]
     ) as emptied (response_id, body, digest)
     where response.response_id = emptied.response_id`,
  );
  if (answered > 0) removed['answers'] = answered;
  for (const [what, statement] of listRemovals(people)) {
    const rows = await transaction.execute(statement);
    if (rows > 0) removed[what] = rows;
  }
  await transaction.execute(sql`select set_config('nightscreen.erases', 'off', true)`);
  return removed;
}

/** Notes the erasure of a customer. */
export async function noteErasure(
  transaction: Queryable,
  erasure: {
    customerId: number;
    /** In hex. */
    referenceDigest: string;
    erasedAt: Date;
    erasedBy: string;
    isAttested: boolean;
    reason: string;
    removed: Record<string, number>;
  },
): Promise<void> {
  await transaction.execute(
    sql`insert into erasure (customer_id, reference_digest, erased_at, erased_by, is_attested, reason, removed)
     values (
       ${erasure.customerId}, decode(${erasure.referenceDigest}, 'hex'), ${erasure.erasedAt}, ${erasure.erasedBy}, ${erasure.isAttested},
       ${erasure.reason}, ${JSON.stringify(erasure.removed)}::text::jsonb
     )`,
  );
}

/** The statistics of the planner keep the most frequent values of columns, and the limits of others. */
export const refreshStatistics = (database: Queryable): Promise<number> =>
  database.execute(
    `analyze acceptance, alert, customer, customer_version, discrepancy, discrepancy_event, disposition_text, dossier, dossier_change,
       dossier_record, invitation, match_detail, outbox, response, roster_import, roster_row, run_gap, run_hold, screening_request, shown_alert,
       unaccepted_customer`,
  );
