import { z } from 'zod';

/** The name and version of the format. */
export const backupSchema = 'nightscreen/backup/1';

const migrationSchema = z.object({ version: z.number().int(), name: z.string(), sha256: z.string() });
/**
 * The first line of a backup. A backup is lines of JSON, compressed by gzip: a header; for each table a line with its columns and then a
 * line for each row, which is the text form of the row as Postgres writes and reads it; the sequences; and an end line.
 */
export const headerSchema = z.object({
  schema: z.literal(backupSchema),
  createdAt: z.iso.datetime(),
  /** Of Nightscreen. */
  version: z.string(),
  dialect: z.enum(['postgres', 'embedded']),
  /** Names of the organisations in it. */
  organisations: z.array(z.string()),
  migrations: z.array(migrationSchema),
});
/** What a backup says about itself. */
export type BackupHeader = z.infer<typeof headerSchema>;

/** The line before the rows of a table; its columns are in the order of the rows' fields. */
export const tableSchema = z.strictObject({ table: z.string(), columns: z.array(z.string()) });

/** The line behind the rows of all tables: the last number that each sequence has given, null for one that has given none. */
export const sequencesSchema = z.strictObject({ sequences: z.record(z.string(), z.number().nullable()) });

/** The last line: how many rows each table has, and the SHA-256 (hex) of all lines before, line ends included. */
export const endSchema = z.strictObject({
  end: z.object({ rows: z.record(z.string(), z.number()), sha256: z.string() }),
});

/** How many rows each table has. */
export type RowCounts = Readonly<Record<string, number>>;
