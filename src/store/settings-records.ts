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

/** Settings to record. */
export type NewSettingsRecord = Omit<SettingsRecord, 'recordId'>;

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
       organisation_id, settings, digest, differences, accepted_by, is_attested, reason, accepted_at
     ) values ($1, $2::text::jsonb, $3, $4, $5, $6, $7, $8)
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
    ],
  );
  return firstRow(rows, 'settings_record').recordId;
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
