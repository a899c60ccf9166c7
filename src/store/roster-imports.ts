import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** Whether the organisation's roster of this name was ever imported. */
export async function hasImport(database: Queryable, organisationId: number, roster: string): Promise<boolean> {
  const rows = await database.query(
    z.object({ found: z.boolean() }),
    `select exists (
       select from roster_import join roster using (roster_id) where organisation_id = $1 and roster.name = $2
     ) as found`,
    [organisationId, roster],
  );
  return firstRow(rows, 'roster_import').found;
}

/** From where, with which digest and how many rows a run imported its roster, or null when it has not. */
export async function readImportOrigin(
  database: Queryable,
  runId: number,
): Promise<{ source: string; digest: string; rows: number; rejected: number } | null> {
  const rows = await database.query(
    z.object({ source: z.string(), digest: z.string(), rows: z.number(), rejected: z.number() }),
    `select source, source_digest as digest, rows, rejected from roster_import
     where run_id = $1 order by import_id desc limit 1`,
    [runId],
  );
  return rows[0] ?? null;
}
