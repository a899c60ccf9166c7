import type { DossierPage, Dossiers } from '../client/resources/dossiers.js';
import { ResponseError } from '../errors.js';
import type { DossierSnapshot } from './dossier.js';
import type { SweepSettings } from './settings.js';
import { toDossierSnapshot } from './to-dossier-snapshot.js';

/** Whether a sweep is known to have seen every dossier; `because` says why not. */
export interface SweepVerdict {
  pages: number;
  dossiers: number;
  proven: boolean;
  because: string | null;
}

/**
 * Walks all dossiers by keyset, most recent first, and yields each page's dossiers, none of them twice. Afterwards the head of the
 * list is walked again for what was created meanwhile. The sweep is proven when the totals before and after agree with what was
 * seen; a deletion or a cursor that silently ended the list makes it unproven. Throws what the client throws (interface: GET /dossiers).
 */
export async function* sweepDossiers(
  dossiers: Pick<Dossiers, 'pages'>,
  settings: SweepSettings,
): AsyncGenerator<readonly DossierSnapshot[], SweepVerdict> {
  const seen = new Set<string>();
  let pages = 0;
  let totalBefore: number | null = null;

  for await (const page of walkToGap(dossiers, settings)) {
    pages += 1;
    if ('total' in page) totalBefore ??= page.total;
    yield takeUnseen(page.dossiers.map(toDossierSnapshot), seen);
  }

  const seenBefore = seen.size;
  let totalAfter: number | null = null;
  for await (const page of walkToGap(dossiers, settings)) {
    pages += 1;
    if ('total' in page) totalAfter ??= page.total;
    const fresh = takeUnseen(page.dossiers.map(toDossierSnapshot), seen);
    if (fresh.length > 0) yield fresh;
    if (fresh.length < page.dossiers.length || page.dossiers.length === 0) break;
  }

  const because = findGap(totalBefore, totalAfter, seenBefore, seen.size);
  return { pages, dossiers: seen.size, proven: because === null, because };
}

/** The pages until the list ends, or until the dossier after which it was to go on is gone: the totals then show what was not seen. */
async function* walkToGap(dossiers: Pick<Dossiers, 'pages'>, { perPage }: SweepSettings): AsyncGenerator<DossierPage> {
  try {
    yield* dossiers.pages({ per_page: perPage });
  } catch (error) {
    if (!(error instanceof ResponseError && error.code === 'list_cursor_gone')) throw error;
  }
}

function takeUnseen(page: readonly DossierSnapshot[], seen: Set<string>): readonly DossierSnapshot[] {
  return page.filter((dossier) => {
    if (seen.has(dossier.id)) return false;
    seen.add(dossier.id);
    return true;
  });
}

function findGap(
  totalBefore: number | null,
  totalAfter: number | null,
  seenBefore: number,
  seenAfter: number,
): string | null {
  if (totalBefore === null || totalAfter === null) return 'the service gave no total to compare with';
  if (seenBefore < totalBefore) return `the walk saw ${seenBefore} dossiers where the list counted ${totalBefore}`;
  if (seenAfter !== totalAfter) return `the walk saw ${seenAfter} dossiers where the list then counted ${totalAfter}`;
  return null;
}
