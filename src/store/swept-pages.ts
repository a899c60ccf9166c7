import { z } from 'zod';
import type { CreationWindow } from '../dossiers/creation-windows.js';
import type { WalkedPage, WindowWalk } from '../dossiers/sweep-dossiers.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** Saves the windows that a sweep walks. */
export async function saveSweepWindows(
  transaction: Queryable,
  runId: number,
  windows: readonly CreationWindow[],
): Promise<void> {
  const toInstant = (ms: number): string | null => (ms > 0 && Number.isFinite(ms) ? new Date(ms).toISOString() : null);
  await transaction.execute(
    `insert into sweep_window (run_id, place, created_from, created_to)
     select $1, (place - 1)::integer, created_from, created_to
     from unnest($2::timestamptz[], $3::timestamptz[]) with ordinality as row (created_from, created_to, place)`,
    [runId, windows.map(({ from }) => toInstant(from)), windows.map(({ to }) => toInstant(to))],
  );
}

/** Saves pages of different windows as the places from which these go on when the sweep is broken off. */
export async function saveSweptPages(
  transaction: Queryable,
  runId: number,
  pages: readonly (WalkedPage & { appeared: number; changed: number })[],
): Promise<void> {
  const ended = pages.filter(({ hasEnded }) => hasEnded).map(({ place }) => place);
  if (ended.length > 0) {
    await transaction.execute(
      'update sweep_window set has_ended = true where run_id = $1 and place = any ($2::integer[]) and not has_ended',
      [runId, ended],
    );
  }
  const filled = pages.filter(({ dossiers }) => dossiers.length > 0);
  if (filled.length === 0) return;
  const rows = filled.map(({ place, dossiers, appeared, changed }) => ({
    ...{ place, appeared, changed },
    ids: dossiers.map(({ id }) => id),
    created: dossiers.map(({ createdAt }) => createdAt),
  }));
  await transaction.execute(
    `insert into swept_page (run_id, ordinal, place, dossier_ids, created_at, appeared, changed)
     select $1, (select coalesce(max(ordinal), 0) from swept_page where run_id = $1) + row_number() over (),
       place, ids, created, appeared, changed
     from jsonb_to_recordset($2::text::jsonb)
       as row (place integer, ids text[], created text[], appeared integer, changed integer)`,
    [runId, JSON.stringify(rows)],
  );
}

/** The windows of a sweep with the pages that it has saved of each; none before they were saved or once it has been closed. */
export async function readWindowWalks(database: Queryable, runId: number): Promise<readonly WindowWalk[]> {
  const windows = await database.query(
    z.object({ place: z.number(), from: z.date().nullable(), to: z.date().nullable(), hasEnded: z.boolean() }),
    `select place, created_from as from, created_to as to, has_ended as "hasEnded"
     from sweep_window where run_id = $1 order by place`,
    [runId],
  );
  const pages = await database.query(
    z.object({ place: z.number(), ids: z.array(z.string()), created: z.array(z.string()) }),
    'select place, dossier_ids as ids, created_at as created from swept_page where run_id = $1 order by ordinal',
    [runId],
  );
  return windows.map(({ place, from, to, hasEnded }) => ({
    from: from?.getTime() ?? 0,
    to: to?.getTime() ?? Number.POSITIVE_INFINITY,
    hasEnded,
    walked: pages
      .filter((page) => page.place === place)
      .flatMap(({ ids, created }) => ids.map((id, index) => ({ id, createdAt: created[index] ?? '' }))),
  }));
}

/** How many dossiers were new and changed on the pages that a sweep has saved. */
export async function sumSweptPages(
  database: Queryable,
  runId: number,
): Promise<{ appeared: number; changed: number; gone: number }> {
  const rows = await database.query(
    z.object({ appeared: z.number(), changed: z.number() }),
    `select coalesce(sum(appeared), 0)::integer as appeared, coalesce(sum(changed), 0)::integer as changed
     from swept_page where run_id = $1`,
    [runId],
  );
  return { ...firstRow(rows, 'swept_page'), gone: 0 };
}

/** Removes the saved pages and windows of a sweep that has ended. */
export async function dropSweptPages(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute('delete from swept_page where run_id = $1', [runId]);
  await transaction.execute('delete from sweep_window where run_id = $1', [runId]);
}
