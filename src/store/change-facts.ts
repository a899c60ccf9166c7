import { z } from 'zod';
import type { CriticalChange, DossierChangeFacts, MatchChangeFacts } from '../reports/run-facts.js';
import type { Queryable } from './database.js';
import { dossierSnapshotSchema } from './dossiers.js';
import { firstRow } from './first-row.js';
import { agreementShape, causeShape, changeItemShape, changeKindShape, severityShape } from './item-shapes.js';
import { joinPartySql, partyFactsSchema, partyFactsSql } from './party-facts.js';
import { runIdSql } from './run-id.js';
import { storedMatchSchema } from './stored-match.js';

const changeShape = z.object({
  changeId: z.number(),
  runId: z.string(),
  party: partyFactsSchema,
  formerParty: partyFactsSchema.nullable(),
  kind: changeKindShape,
  severity: severityShape,
  rule: z.string(),
  adjustments: z.array(z.enum(['birth_date_contradicts', 'risk_tier'])),
  corroboration: z.object({ birthDate: agreementShape, country: agreementShape }).nullable(),
  cause: causeShape,
  isSanctionHit: z.boolean(),
  matchId: z.string(),
  fields: z.array(z.enum(['birth_date', 'country', 'match', 'name', 'schema', 'score', 'topics'])),
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
  select event.change_id as "changeId", ${runIdSql('found')} as "runId", ${partyFactsSql} as party, ${formerPartySql} as "formerParty", event.kind, event.severity, event.rule,
    event.adjustments, event.cause, event.sanction_hit as "isSanctionHit",
    case when event.birth_date_agreement is not null then jsonb_build_object(
      'birthDate', event.birth_date_agreement, 'country', event.country_agreement
    ) end as corroboration,
    event.match_id as "matchId", event.fields, event.before, event.after, event.is_baseline as "isBaseline", event.item
  from change_event event
  join run found on found.run_id = event.run_id
  ${joinPartySql('event')}`;

/** How many changes a run found, and how many matches of first screenings. */
export async function countMatchChanges(
  database: Queryable,
  runId: number,
): Promise<{ changes: number; baseline: number }> {
  const rows = await database.query(
    z.object({ changes: z.number(), baseline: z.number() }),
    `select count(*) filter (where not is_baseline)::integer as changes, count(*) filter (where is_baseline)::integer as baseline
     from change_event where run_id = $1`,
    [runId],
  );
  return firstRow(rows, 'change_event');
}

const dossierChangeKindSchema = z.enum([
  'dossier_appeared',
  'dossier_status_changed',
  'dossier_changed',
  'dossier_touched',
  'dossier_returned',
  'dossier_gone',
]);

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
export async function readDossierChanges(
  database: Queryable,
  sweepRunIds: readonly number[],
): Promise<readonly DossierChangeFacts[]> {
  return database.query(
    dossierChangeRow,
    `select change.change_id as "changeId", change.kind, change.dossier_id as "dossierId", change.fields, change.before, change.after,
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
export async function readDossierHistory(
  database: Queryable,
  organisationId: number,
  dossierId: string,
): Promise<readonly DossierTransition[] | null> {
  const known = await database.query(
    z.object({ accountId: z.number() }),
    `select dossier.account_id as "accountId" from dossier join account using (account_id)
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
