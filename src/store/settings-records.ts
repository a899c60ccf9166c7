import { z } from 'zod';
import type { SettingsChangeFacts } from '../reports/accepted-facts.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** Settings that judge as somebody accepted them. */
export interface SettingsRecord extends SettingsChangeFacts {
  recordId: number;
  settings: Readonly<Record<string, unknown>>;
  /** SHA-256 (hex). */
  digest: string;
}

/** Settings to record; `proposedBy` accepted them first, where two people have to. */
export type NewSettingsRecord = Omit<SettingsRecord, 'recordId'> & { proposedBy?: string | null };

const columns = `settings_record.settings_record_id as "recordId", settings_record.settings, digest, differences, accepted_by as "acceptedBy", is_attested as "isAttested",
  reason, accepted_at as "acceptedAt"`;
const recordRow = z.object({
  recordId: z.number(),
  settings: z.record(z.string(), z.unknown()),
  digest: z.string(),
  differences: z.array(z.string()),
  acceptedBy: z.string(),
  isAttested: z.boolean(),
  reason: z.string(),
  acceptedAt: z.date(),
}) satisfies z.ZodType<SettingsRecord>;

/** The settings that an organisation accepted last; null before the first. */
export async function readAcceptedSettings(
  database: Queryable,
  organisationId: number,
): Promise<SettingsRecord | null> {
  const rows = await database.query(
    recordRow,
    `select ${columns} from settings_record where organisation_id = $1 order by settings_record_id desc limit 1`,
    [organisationId],
  );
  return rows[0] ?? null;
}

/** The settings that a run was begun under; null where they are not known. */
export async function readRunSettings(database: Queryable, runId: number): Promise<SettingsRecord | null> {
  const rows = await database.query(
    recordRow,
    `select ${columns} from settings_record join run using (settings_record_id) where run.run_id = $1`,
    [runId],
  );
  return rows[0] ?? null;
}

/** Everything that an organisation of this name ever accepted, oldest first. */
export async function readSettingsHistory(
  database: Queryable,
  organisation: string,
): Promise<readonly SettingsRecord[]> {
  return database.query(
    recordRow,
    `select ${columns} from settings_record join organisation using (organisation_id)
     where organisation.name = $1 order by settings_record_id`,
    [organisation],
  );
}

/** Records settings as accepted from now on; nothing records them twice at the same time, because the organisation is held meanwhile. */
export async function saveSettingsRecord(
  transaction: Queryable,
  organisationId: number,
  record: NewSettingsRecord,
): Promise<number> {
  const rows = await transaction.query(
    z.object({ recordId: z.number() }),
    `insert into settings_record (
       organisation_id, settings, digest, differences, accepted_by, is_attested, reason, accepted_at, proposed_by
     ) values ($1, $2::text::jsonb, $3, $4, $5, $6, $7, $8, $9)
     returning settings_record_id as "recordId"`,
    [
      organisationId,
      JSON.stringify(record.settings),
      record.digest,
      [...record.differences],
      record.acceptedBy,
      record.isAttested,
      record.reason,
      record.acceptedAt,
      record.proposedBy ?? null,
    ],
  );
  return firstRow(rows, 'settings_record').recordId;
}

/** What one person accepts of settings that take two. */
export type NewSettingsProposal = Pick<
  SettingsRecord,
  'digest' | 'acceptedBy' | 'isAttested' | 'reason' | 'acceptedAt'
>;

/** Who has proposed settings of this digest since the last record, without those whom `except` names; null for nobody. */
export async function findSettingsProposer(
  transaction: Queryable,
  organisationId: number,
  { digest, except }: { digest: string; except: string },
): Promise<string | null> {
  const rows = await transaction.query(
    z.object({ by: z.string() }),
    `select accepted_by as by from settings_proposal
     where organisation_id = $1 and digest = $2 and accepted_by <> $3
       and accepted_at >= coalesce((select max(accepted_at) from settings_record where organisation_id = $1), '-infinity')
     order by settings_proposal_id desc limit 1`,
    [organisationId, digest, except],
  );
  return rows[0]?.by ?? null;
}

/** Notes that one person accepts settings that take two. */
export async function saveSettingsProposal(
  transaction: Queryable,
  organisationId: number,
  { digest, acceptedBy, isAttested, reason, acceptedAt }: NewSettingsProposal,
): Promise<void> {
  await transaction.execute(
    `insert into settings_proposal (organisation_id, digest, accepted_by, is_attested, reason, accepted_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [organisationId, digest, acceptedBy, isAttested, reason, acceptedAt],
  );
}

/** Holds an organisation until the transaction ends, so that nobody else records settings for it meanwhile. */
export async function holdOrganisation(transaction: Queryable, organisationId: number): Promise<void> {
  await transaction.execute('select from organisation where organisation_id = $1 for no key update', [organisationId]);
}

/** What was accepted after one record of the run's organisation, up to the settings that the run was begun under; oldest first. */
export async function readSettingsChanges(
  database: Queryable,
  runId: number,
  formerRecordId: number | null,
): Promise<readonly SettingsChangeFacts[]> {
  if (formerRecordId === null) return [];
  const rows = await database.query(
    recordRow,
    `select ${columns} from settings_record
     join run on run.run_id = $1 and run.organisation_id = settings_record.organisation_id
     where settings_record.settings_record_id > $2 and settings_record.settings_record_id <= run.settings_record_id
     order by 1`,
    [runId, formerRecordId],
  );
  return rows.map(({ differences, acceptedBy, isAttested, reason, acceptedAt }) => ({
    differences,
    acceptedBy,
    isAttested,
    reason,
    acceptedAt,
  }));
}
