import { z } from 'zod';
import type { MatchChange } from '../../changes/match-changes.js';
import type { clusterSize } from '../../reports/change-groups.js';
import type { CountedCluster, MatchChangeFacts, SeverityCount } from '../../reports/run-facts.js';
import { matchChangeSchema } from '../../vocabulary/facts.js';
import { dossierChangeSchema } from '../../vocabulary/source-facts.js';
import { dossierChangeKinds, type Severity, severities } from '../../vocabulary.js';
import { type Database, executeAll, type Queryable, readRow, readValue } from '../database/database.js';
import { rawSql, recordset, type Sql, sql } from '../database/statement.js';
import { joinPartySql, partyFactsSql, replacedSql, toSqlList } from '../row-shapes.js';
import { runIdSql } from '../runs.js';
import { findListedSql, toMatchRow } from './listed-parties.js';

/** Saves what answers of a wave changed; `formerCustomerVersion` is the customer version of the compared answer when it differs. */
export async function saveChanges(
  transaction: Queryable,
  { runId, wave }: { runId: number; wave: number },
  events: readonly {
    partyId: number;
    customerVersion: number;
    formerCustomerVersion: number | null;
    change: MatchChange;
  }[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ change: { difference, corroboration, isSanctionHit, ...change }, ...party }) => ({
    ...party,
    ...change,
    kind: difference.kind,
    matchId: difference.matchId,
    fields: difference.fields,
    birthDateAgreement: corroboration.birthDate,
    countryAgreement: corroboration.country,
    sanctionHit: isSanctionHit,
    before: difference.before && toMatchRow(difference.before),
    after: difference.after && toMatchRow(difference.after),
  }));
  const organisationSql = sql`(select organisation_id from run where run_id = ${runId})`;
  await executeAll(
    transaction,
    rows.length,
    sql`insert into change (
       run_id, wave, party_id, customer_version, kind, severity, rule, adjustments, birth_date_agreement, country_agreement,
       sanction_hit, cause, is_baseline, match_id, fields, former_customer_version,
       before_listed_id, before_rank, before_is_hit, before_score, after_listed_id, after_rank, after_is_hit, after_score
     )
     select ${runId}, ${wave}, party_id, customer_version, kind, severity, rule, adjustments, birth_date_agreement, country_agreement,
       sanction_hit, cause, is_baseline, match_id, fields, former_customer_version,
       former.listed_id, (before -> 'rank')::integer, (before -> 'is_hit')::boolean, (before -> 'score')::float8,
       latter.listed_id, (after -> 'rank')::integer, (after -> 'is_hit')::boolean, (after -> 'score')::float8
     from ${recordset(rows)} as row (
       party_id bigint, customer_version integer, kind text, severity text, rule text, adjustments text[],
       birth_date_agreement text, country_agreement text, sanction_hit boolean, cause text, is_baseline boolean, match_id text, fields text[],
       before jsonb, after jsonb, former_customer_version integer
     )
     -- Stored with the answers that are compared.
     left join lateral ${findListedSql(organisationSql, "before ->> 'digest'")} former on true
     left join lateral ${findListedSql(organisationSql, "after ->> 'digest'")} latter on true
     where num_nulls(before, former.listed_id) <> 1 and num_nulls(after, latter.listed_id) <> 1`,
  );
}

/** SQL: that JSON from `noted` (change_alert); null without a row. */
const changeAlertSql = sql`case when noted.change_id is not null then jsonb_build_object(
  'state', noted.state, 'openedAt', noted.opened_at, 'dueAt', noted.due_at, 'assignedTo', noted.assigned_to, 'reopenedBecause', noted.reopened_because,
  'said', (
    select coalesce(jsonb_agg(jsonb_build_object(
      'kind', said.kind, 'verdict', said.verdict, 'reviewer', said.reviewer, 'isAttested', said.is_attested,
      'reason', said.reason, 'saidAt', said.decided_at
    ) order by said.disposition_id desc), '[]')
    from disposition_with_text said where said.disposition_id = any (noted.said)
  ),
  'replaced', ${replacedSql('noted.replaced_disposition_id', 'noted.replaced_listed_id')}
) end`;

/** The common parts of changes of one kind, as stored. */
const likenessShape = matchChangeSchema.pick({ kind: true, cause: true, rule: true, fields: true });

const criticalChangeRow = matchChangeSchema.extend({ isBaseline: z.boolean() });

/** SQL: the party in the record of the compared answer; null when it is the same record, or unknown. */
const formerPartySql = sql`(
  select ${partyFactsSql} from customer_version version
  where version.customer_id = party.customer_id and version.version = event.former_customer_version
    and coalesce(version.record -> 'parties' -> party.ordinal::integer, 'null') <> 'null'
)`;

/** SQL: reads change events (`event`) with the party at their time; the caller adds conditions and order. */
const toMatchChangeSql = (changes: 'change_event' | 'found_change'): Sql => sql`
  select event.change_id, ${runIdSql('found')} as "runId", ${partyFactsSql} as party, ${formerPartySql} as "formerParty", event.kind, event.severity, event.rule,
    event.adjustments, event.cause, event.sanction_hit as "isSanctionHit",
    case when event.birth_date_agreement is not null then jsonb_build_object(
      'birthDate', event.birth_date_agreement, 'country', event.country_agreement
    ) end as corroboration,
    event.match_id, event.fields, event.before, event.after, event.is_baseline, ${changeAlertSql} as alert
  from ${rawSql(changes)} event
  join run found on found.run_id = event.run_id
  left join change_alert noted on noted.change_id = event.change_id
  ${joinPartySql('event')}`;
const matchChangeSql = toMatchChangeSql('change_event');

/** The first `limit` critical changes that a run has found, applied or not, between two ids, both included, in order. */
export async function readCriticalChanges(
  database: Queryable,
  runId: number,
  { firstChangeId, lastChangeId }: { firstChangeId: number; lastChangeId: number },
  limit: number,
) {
  return database.query(
    criticalChangeRow,
    sql`${toMatchChangeSql('found_change')}
     where event.run_id = ${runId} and event.change_id between ${firstChangeId} and ${lastChangeId} and event.severity = 'critical'
     order by event.change_id
     limit ${limit}`,
  );
}

/** The first `limit` critical and high changes of known customers that runs found, most severe first. */
export async function readUrgentChanges(database: Queryable, runIds: readonly number[], limit: number) {
  return database.query(
    matchChangeSchema,
    sql`${matchChangeSql} where ${isOnListSql({ runIds, isBaseline: false })} and event.severity in ('critical', 'high')
     ${orderSql} limit ${limit}`,
  );
}

/** The number of changes of a run, and of matches of first screenings. */
export async function countMatchChanges(database: Queryable, runId: number) {
  return readRow(
    database,
    z.object({ changes: z.number(), baseline: z.number() }),
    sql`select count(*) filter (where not is_baseline)::integer as changes, count(*) filter (where is_baseline)::integer as baseline
     from change_event where run_id = ${runId}`,
  );
}

/** The changes that these sweeps found; a customer is known when it was imported before the sweep. */
async function readDossierChanges(database: Queryable, sweepRunIds: readonly number[]) {
  return database.query(
    dossierChangeSchema,
    sql`select change.change_id, change.kind, change.dossier_id, change.fields, change.before, change.after,
       exists (
         select from customer
         join roster on roster.roster_id = customer.roster_id and roster.organisation_id = run.organisation_id
         join roster_import on roster_import.import_id = customer.first_import_id and roster_import.run_id < run.run_id
         where customer.reference = coalesce(change.after, change.before) ->> 'reference'
       ) as "customerKnown"
     from dossier_change change
     join run on run.run_id = change.run_id
     where change.run_id = any (${sweepRunIds})
     order by change.change_id`,
  );
}

const transitionRow = z.object({
  seenAt: z.date(),
  kind: z.enum(dossierChangeKinds),
  fields: z.array(z.string()),
  status: z.object({ before: z.string().nullable(), after: z.string().nullable() }),
  updatedAt: z.object({ before: z.string().nullable(), after: z.string().nullable() }),
});
/** All changes of an organisation's dossier, oldest first; null when no sweep has listed it. */
export async function readDossierHistory(database: Queryable, organisationId: number, dossierId: string) {
  const known = await database.query(
    z.object({ accountId: z.number() }),
    sql`select dossier.account_id from dossier join account using (account_id)
     where account.organisation_id = ${organisationId} and dossier.dossier_id = ${dossierId}`,
  );
  if (known.length === 0) return null;
  return database.query(
    transitionRow,
    sql`select change.seen_at, change.kind, change.fields,
       jsonb_build_object('before', change.before ->> 'status', 'after', change.after ->> 'status') as status,
       jsonb_build_object('before', change.before ->> 'updatedAt', 'after', change.after ->> 'updatedAt') as "updatedAt"
     from dossier_change change
     join run on run.run_id = change.run_id
     where change.dossier_id = ${dossierId} and run.account_id = any (${known.map(({ accountId }) => accountId)}::bigint[])
     order by change.seen_at, change.change_id`,
  );
}

interface MatchList {
  runIds: readonly number[];
  isBaseline: boolean;
}

/** SQL: `event` is in such a list. */
const isOnListSql = ({ runIds, isBaseline }: MatchList): Sql =>
  sql`event.run_id = any (${runIds}) and event.is_baseline = ${isBaseline}`;

const batchLines = 1_000;
const orderSql = sql`
  order by array_position(array[${toSqlList(severities)}], event.severity), customer.reference collate "C",
    event.change_id`;

/** The lines of such a list, most severe first: the first `previewLines`, and for a longer list its counts and how to read it. */
async function readMatchList(database: Queryable, lists: Pick<Database, 'cursor'>, list: MatchList) {
  const listed = sql`${matchChangeSql} where ${isOnListSql(list)}`;
  const found = await database.query(matchChangeSchema, sql`${listed} ${orderSql} limit ${previewLines + 1}`);
  if (found.length <= previewLines) return { held: found, cut: null };
  const bySeverity = await countBySeverity(database, list);
  const read = (those: Sql) => lists.cursor(matchChangeSchema, sql`${those} ${orderSql}`, batchLines);
  return {
    held: found.slice(0, previewLines),
    cut: {
      lines: Object.values(bySeverity).reduce((sum, { count }) => sum + count, 0),
      bySeverity,
      read: () => read(listed),
      readOf: (severity: Severity) => read(sql`${listed} and event.severity = ${severity}`),
    },
  };
}

const countRow = z.object({
  severity: z.enum(severities),
  count: z.number(),
  sanctionHits: z.number(),
  currentHits: z.number(),
});

async function countBySeverity(database: Queryable, list: MatchList): Promise<Record<Severity, SeverityCount>> {
  const rows = await database.query(
    countRow,
    sql`select severity, count(*)::integer as count, count(*) filter (where sanction_hit)::integer as "sanctionHits",
       count(*) filter (where sanction_hit and after_is_hit)::integer as "currentHits"
     from change_event event where ${isOnListSql(list)} group by severity`,
  );
  const none = { count: 0, sanctionHits: 0, currentHits: 0 };
  const counted = Object.fromEntries(rows.map(({ severity, ...counts }) => [severity, counts]));
  return { critical: none, high: none, medium: none, low: none, info: none, ...counted };
}

/** The number of lines of a list kept in memory; a longer list is read again while it is written. */
export const previewLines = 10_000;

const examples: typeof clusterSize.examples = 3;
const atLeast: typeof clusterSize.from = 20;

const shape = {
  severity: z.enum(severities),
  ...likenessShape.pick({ kind: true, cause: true }).shape,
  customers: z.number(),
  changes: z.number(),
  exampleIds: z.array(z.number()),
};
const clusterRow = z.discriminatedUnion('by', [
  z.object({ ...shape, by: z.literal('listed_party'), id: z.string(), name: z.string() }),
  z.object({
    ...shape,
    by: z.literal('kind_of_change'),
    ...likenessShape.pick({ rule: true, fields: true }).shape,
    wasHit: z.boolean().nullable(),
    isHit: z.boolean().nullable(),
  }),
]);

const countsSql = sql`count(distinct customer_id)::integer as customers, count(*)::integer as changes,
  (array_agg(change_id order by reference collate "C", change_id))[1:${examples}] as "exampleIds"`;

/**
 * SQL: the clusters that `findClusters` finds in a list: by listed party, then by kind; without sanction hits, and by kind without new
 * hits.
 */
const clustersSql = (list: MatchList): Sql => sql`
  with reported as materialized (
    select event.change_id, event.severity, event.kind, event.cause, event.rule, event.fields, party.customer_id, customer.reference,
      coalesce(event.after, event.before) ->> 'id' as id, coalesce(event.after, event.before) ->> 'name' as name,
      event.before_listed_id is null or event.kind in ('hit_gained', 'match_returned') as is_new,
      event.before_is_hit as was_hit, event.after_is_hit as is_hit
    from change_event event join party using (party_id) join customer using (customer_id)
    where ${isOnListSql(list)} and not event.sanction_hit
  ),
  by_party as (
    select severity, kind, cause, id, name, ${countsSql} from reported where id is not null
    group by severity, kind, cause, id, name having count(distinct customer_id) >= ${atLeast}
  ),
  by_kind as (
    select severity, kind, cause, rule, fields, was_hit, is_hit, ${countsSql} from reported
    where not (is_new and coalesce(is_hit, false)) and not exists (
      select from by_party where (by_party.severity, by_party.kind, by_party.cause, by_party.id, by_party.name)
        = (reported.severity, reported.kind, reported.cause, reported.id, reported.name)
    )
    group by severity, kind, cause, rule, fields, was_hit, is_hit having count(distinct customer_id) >= ${atLeast}
  )
  select 'listed_party' as by, severity, kind, cause, id, name, null as rule, null as fields, null::boolean as "wasHit",
    null::boolean as "isHit", customers, changes, "exampleIds" from by_party
  union all
  select 'kind_of_change', severity, kind, cause, null, null, rule, fields, was_hit, is_hit, customers, changes, "exampleIds" from by_kind`;

/** The changes that runs found: the first ones, and for a longer list its counts, its clusters and how to read it. */
async function readChanges(database: Queryable, lists: Pick<Database, 'cursor'>, runIds: readonly number[], now: Date) {
  const list = { runIds, isBaseline: false };
  const { held, cut } = await readMatchList(database, lists, list);
  if (cut === null) return { held, cut };
  const clusters = await database.query(clusterRow, clustersSql(list));
  return {
    held,
    cut: {
      ...cut,
      clusters: clusters.map((cluster) => toCluster(cluster, lists)),
      nextDueAt: await readNextDue(database, list, now),
    },
  };
}

function toCluster(row: z.infer<typeof clusterRow>, lists: Pick<Database, 'cursor'>): CountedCluster {
  const { severity, customers, changes, exampleIds } = row;
  const readExamples = async (): Promise<readonly MatchChangeFacts[]> => {
    const found: MatchChangeFacts[] = [];
    const statement = sql`${matchChangeSql} where event.change_id = any (${exampleIds}) order by array_position(${exampleIds}, event.change_id)`;
    for await (const batch of lists.cursor(matchChangeSchema, statement, examples)) found.push(...batch);
    return found;
  };
  const counted = { severity, customers, changes, readExamples };
  return row.by === 'listed_party' ? { ...counted, by: row.by, of: row } : { ...counted, by: row.by, of: row };
}

/** The earliest due time after `now` of the alerts that wait. */
function readNextDue(database: Queryable, list: MatchList, now: Date): Promise<Date | null> {
  return readValue(
    database,
    z.date().nullable(),
    sql`select min(noted.due_at) as "dueAt" from change_event event join change_alert noted using (change_id)
     where ${isOnListSql(list)} and noted.state in ('open', 'pending_approval') and noted.due_at >= ${now}`,
  );
}

/** What a report lists: the changes and matches of first screenings of its runs, and the dossier changes of its sweeps; due times are those after `now`. */
export async function readReportChanges(
  database: Queryable,
  lists: Pick<Database, 'cursor'>,
  { runIds, sweepRunIds, now }: { runIds: readonly number[]; sweepRunIds: readonly number[]; now: Date },
) {
  return {
    changes: await readChanges(database, lists, runIds, now),
    baseline: await readMatchList(database, lists, { runIds, isBaseline: true }),
    dossierChanges: await readDossierChanges(database, sweepRunIds),
  };
}
