import { z } from 'zod';
import type { MatchChange } from '../changes/match-changes.js';
import type { CriticalChange, DossierChangeFacts, MatchChangeFacts } from '../reports/list-facts.js';
import type { SeverityCount } from '../reports/run-facts.js';
import {
  agreements,
  changeCauses,
  dossierChangeKinds,
  matchChangeKinds,
  matchFields,
  type Severity,
  severities,
  severityAdjustments,
} from '../vocabulary.js';
import { type Database, firstRow, type Queryable, requireRows } from './database/database.js';
import { dossierSnapshotSchema } from './dossiers.js';
import { changeItemShape, joinPartySql, partyFactsSchema, partyFactsSql, storedMatchSchema } from './row-shapes.js';
import { runIdSql } from './runs.js';

/** A change of one party as a run found it. */
export interface NewChangeEvent {
  partyId: number;
  customerVersion: number;
  /** Of the answer that it is compared with, where that is another. */
  formerCustomerVersion: number | null;
  change: MatchChange;
}

/** Saves the change events of a batch. */
export async function saveChangeEvents(
  transaction: Queryable,
  runId: number,
  batchId: number,
  events: readonly NewChangeEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ partyId, customerVersion, formerCustomerVersion, change }) => ({
    party_id: partyId,
    customer_version: customerVersion,
    former_customer_version: formerCustomerVersion,
    kind: change.difference.kind,
    severity: change.severity,
    rule: change.rule,
    adjustments: change.adjustments,
    birth_date_agreement: change.corroboration.birthDate,
    country_agreement: change.corroboration.country,
    sanction_hit: change.isSanctionHit,
    cause: change.cause,
    is_baseline: change.isBaseline,
    match_id: change.difference.matchId,
    fields: change.difference.fields,
    before: change.difference.before,
    after: change.difference.after,
  }));
  const saved = await transaction.execute(
    `insert into change_event (
       run_id, batch_id, party_id, customer_version, kind, severity, rule, adjustments, birth_date_agreement, country_agreement,
       sanction_hit, cause, is_baseline, match_id, fields, before, after, former_customer_version
     )
     select $1, $2, party_id, customer_version, kind, severity, rule, adjustments, birth_date_agreement, country_agreement,
       sanction_hit, cause, is_baseline, match_id, fields, before, after, former_customer_version
     from jsonb_to_recordset($3::text::jsonb) as row (
       party_id bigint, customer_version integer, kind text, severity text, rule text, adjustments text[],
       birth_date_agreement text, country_agreement text, sanction_hit boolean, cause text, is_baseline boolean, match_id text, fields text[],
       before jsonb, after jsonb, former_customer_version integer
     )`,
    [runId, batchId, JSON.stringify(rows)],
  );
  requireRows(saved, rows.length, 'change_event');
}

const changeShape = z.object({
  changeId: z.number(),
  runId: z.string(),
  party: partyFactsSchema,
  formerParty: partyFactsSchema.nullable(),
  kind: z.enum(matchChangeKinds),
  severity: z.enum(severities),
  rule: z.string(),
  adjustments: z.array(z.enum(severityAdjustments)),
  corroboration: z.object({ birthDate: z.enum(agreements), country: z.enum(agreements) }).nullable(),
  cause: z.enum(changeCauses),
  isSanctionHit: z.boolean(),
  matchId: z.string(),
  fields: z.array(z.enum(matchFields)),
  before: storedMatchSchema.nullable(),
  after: storedMatchSchema.nullable(),
  item: changeItemShape.nullable(),
});

/** What changes of one kind have in common, as it is stored. */
export const likenessShape = changeShape.pick({ kind: true, cause: true, rule: true, fields: true });

/** A change as `matchChangeSql` gives it. */
export const changeRow: z.ZodType<MatchChangeFacts> = changeShape;

/** A change as `matchChangeSql` gives it, with whether it is of a first screening. */
export const criticalChangeRow: z.ZodType<CriticalChange> = changeShape.extend({ isBaseline: z.boolean() });

/** SQL: the party as the record described it beside which the answer before was given; null where that is the same record, or is not known. */
const formerPartySql = `(
  select ${partyFactsSql} from customer_version version
  where version.customer_id = party.customer_id and version.version = event.former_customer_version
    and coalesce(version.record -> 'parties' -> party.ordinal::integer, 'null') <> 'null'
)`;

/** SQL that reads change events (`event`), each with the party as it was then; conditions and order are still to come. */
export const matchChangeSql = `
  select event.change_id, ${runIdSql('found')} as "runId", ${partyFactsSql} as party, ${formerPartySql} as "formerParty", event.kind, event.severity, event.rule,
    event.adjustments, event.cause, event.sanction_hit as "isSanctionHit",
    case when event.birth_date_agreement is not null then jsonb_build_object(
      'birthDate', event.birth_date_agreement, 'country', event.country_agreement
    ) end as corroboration,
    event.match_id, event.fields, event.before, event.after, event.is_baseline, event.item
  from change_event event
  join run found on found.run_id = event.run_id
  ${joinPartySql('event')}`;

/** How many changes a run found, and how many matches of first screenings. */
export async function countMatchChanges(database: Queryable, runId: number) {
  const rows = await database.query(
    z.object({ changes: z.number(), baseline: z.number() }),
    `select count(*) filter (where not is_baseline)::integer as changes, count(*) filter (where is_baseline)::integer as baseline
     from change_event where run_id = $1`,
    [runId],
  );
  return firstRow(rows, 'change_event');
}

const dossierChangeKindSchema = z.enum(dossierChangeKinds);

const dossierChangeRow: z.ZodType<DossierChangeFacts> = z.object({
  changeId: z.number(),
  kind: dossierChangeKindSchema,
  dossierId: z.string(),
  customerKnown: z.boolean(),
  fields: z.array(z.string()),
  before: dossierSnapshotSchema.nullable(),
  after: dossierSnapshotSchema.nullable(),
});

/** What these sweeps found changed; a customer counts as known when it was imported before the sweep ran. */
export async function readDossierChanges(database: Queryable, sweepRunIds: readonly number[]) {
  return database.query(
    dossierChangeRow,
    `select change.change_id, change.kind, change.dossier_id, change.fields, change.before, change.after,
       exists (
         select from customer
         join roster on roster.roster_id = customer.roster_id and roster.organisation_id = run.organisation_id
         join roster_import on roster_import.import_id = customer.first_import_id and roster_import.run_id < run.run_id
         where customer.reference = coalesce(change.after, change.before) ->> 'reference'
       ) as "customerKnown"
     from dossier_change change
     join run on run.run_id = change.run_id
     where change.run_id = any ($1::bigint[])
     order by change.change_id`,
    [[...sweepRunIds]],
  );
}

const transitionRow = z.object({
  seenAt: z.date(),
  kind: dossierChangeKindSchema,
  fields: z.array(z.string()),
  status: z.object({ before: z.string().nullable(), after: z.string().nullable() }),
  updatedAt: z.object({ before: z.string().nullable(), after: z.string().nullable() }),
});
/** One change of a dossier as sweeps saw it. */
export type DossierTransition = z.infer<typeof transitionRow>;

/** All that sweeps saw change of an organisation's dossier, oldest first; null when none has ever listed it. */
export async function readDossierHistory(database: Queryable, organisationId: number, dossierId: string) {
  const known = await database.query(
    z.object({ accountId: z.number() }),
    `select dossier.account_id from dossier join account using (account_id)
     where account.organisation_id = $1 and dossier.dossier_id = $2`,
    [organisationId, dossierId],
  );
  if (known.length === 0) return null;
  return database.query(
    transitionRow,
    `select coalesce(change.seen_at, run.started_at) as "seenAt", change.kind, change.fields,
       jsonb_build_object('before', change.before ->> 'status', 'after', change.after ->> 'status') as status,
       jsonb_build_object('before', change.before ->> 'updatedAt', 'after', change.after ->> 'updatedAt') as "updatedAt"
     from dossier_change change
     join run on run.run_id = change.run_id
     where change.dossier_id = $2 and run.account_id = any ($1::bigint[])
     order by "seenAt", change.change_id`,
    [known.map(({ accountId }) => accountId), dossierId],
  );
}

/** The changes that runs found, or the matches of first screenings. */
export interface MatchList {
  runIds: readonly number[];
  isBaseline: boolean;
}

/** SQL that says which of `event` are on such a list, by the parameters that `toParameters` gives. */
export const isOnListSql = 'event.run_id = any ($1::bigint[]) and event.is_baseline = $2';

/** The first parameters of a query about such a list. */
export const toParameters = ({ runIds, isBaseline }: MatchList): readonly unknown[] => [[...runIds], isBaseline];

const batchLines = 1_000;
const orderSql = `
  order by array_position(array['critical', 'high', 'medium', 'low', 'info'], event.severity), customer.reference collate "C",
    event.change_id`;
const listSql = `${matchChangeSql} where ${isOnListSql} ${orderSql}`;
const severitySql = `${matchChangeSql} where ${isOnListSql} and event.severity = $3 ${orderSql}`;
// What is held comes first in this order, so it is left out by its number.
const hitsSql = `${matchChangeSql}
  where ${isOnListSql} and event.sanction_hit and event.severity = $3 ${orderSql} offset $4`;

/** The lines of such a list, most severe first: the first `previewLines`, and where there are more how many and how to read all. */
export async function readMatchList(database: Queryable, lists: Pick<Database, 'cursor'>, list: MatchList) {
  const parameters = toParameters(list);
  const found = await database.query(changeRow, `${listSql} limit $3`, [...parameters, previewLines + 1]);
  if (found.length <= previewLines) return { held: found, cut: null };
  const held = found.slice(0, previewLines);
  const bySeverity = await countBySeverity(database, list);
  const countHeldHits = (severity: Severity): number =>
    held.filter((change) => change.severity === severity && change.isSanctionHit).length;
  const read = (sql: string, ...others: readonly unknown[]) =>
    lists.cursor(changeRow, sql, [...parameters, ...others], batchLines);
  return {
    held,
    cut: {
      lines: Object.values(bySeverity).reduce((sum, { count }) => sum + count, 0),
      bySeverity,
      read: () => read(listSql),
      readOf: (severity: Severity) => read(severitySql, severity),
      readSanctionHits: (severity: Severity) => read(hitsSql, severity, countHeldHits(severity)),
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
    `select severity, count(*)::integer as count, count(*) filter (where sanction_hit)::integer as "sanctionHits",
       count(*) filter (where sanction_hit and (after ->> 'isHit')::boolean)::integer as "currentHits"
     from change_event event where ${isOnListSql} group by severity`,
    toParameters(list),
  );
  const none = { count: 0, sanctionHits: 0, currentHits: 0 };
  const counted = Object.fromEntries(rows.map(({ severity, ...counts }) => [severity, counts]));
  return { critical: none, high: none, medium: none, low: none, info: none, ...counted };
}

/** How many lines of a list that may be as long as a roster are held in memory; longer ones are read again while they are written. */
export const previewLines = 10_000;
