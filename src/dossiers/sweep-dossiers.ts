import type { DossierPage, Dossiers } from '../client/resources/dossiers.js';
import { NotFoundError, ResponseError } from '../errors.js';
import type { DossierSnapshot } from './dossier.js';
import type { SweepSettings } from './settings.js';
import { toDossierSnapshot } from './to-dossier-snapshot.js';

/** The part of the client that a sweep needs (interface: GET /dossiers). */
export type DossierList = Pick<Dossiers, 'page' | 'pages'>;

/** Where a sweep that was broken off continues: its dossiers in the order of the walk, with their time of creation. */
export interface SweepCheckpoint {
  walked: readonly { id: string; createdAt: string }[];
}

/** Whether a sweep has seen every dossier; `because` says why that is not proven. */
export interface SweepVerdict {
  pages: number;
  dossiers: number;
  proven: boolean;
  because: string | null;
  /** Whether a dossier is in the service's list, as far as the sweep knows. */
  isListed: (id: string) => boolean;
}

// More rounds than this mean that the list changes faster than it can be compared.
const maxRounds = 4;

/**
 * Walks all dossiers by keyset, most recent first, and yields the dossiers of each page, none of them twice. Afterwards it walks the head of the
 * list again for dossiers that were created meanwhile. The sweep is proven when the total of the list agrees with what was seen. Where it
 * does not, the windows of creation time whose totals differ are walked again, so that a deletion during the walk leaves the sweep proven.
 * A dossier that is deleted while the walk stands on it costs one more call: the walk continues after the dossier before it.
 * Throws what the client throws (interface: GET /dossiers).
 */
export async function* sweepDossiers(
  list: DossierList,
  { perPage }: SweepSettings,
  checkpoint: SweepCheckpoint = { walked: [] },
): AsyncGenerator<readonly DossierSnapshot[], SweepVerdict> {
  // By id, in the order of the walk: the time of creation in ms.
  const seen = new Map(checkpoint.walked.map(({ id, createdAt }) => [id, Date.parse(createdAt)]));
  const walked = [...seen.keys()];
  const counted = { pages: 0, calls: 0 };
  const takeFresh = (page: DossierPage): readonly DossierSnapshot[] => {
    counted.pages += 1;
    const fresh = page.dossiers.map(toDossierSnapshot).filter(({ id }) => !seen.has(id));
    for (const { id, createdAt } of fresh) {
      seen.set(id, Date.parse(createdAt));
      walked.push(id);
    }
    return fresh;
  };

  let hasEnded = true;
  try {
    for await (const page of walkOn(list, { per_page: perPage }, walked)) yield takeFresh(page);
  } catch (error) {
    if (!isCursorGone(error, walked)) throw error;
    hasEnded = false;
  }

  let because: string | null = null;
  for (let round = 1; ; round += 1) {
    let total: number | null = null;
    const head: string[] = [];
    for await (const page of walkOn(list, { per_page: perPage }, head)) {
      if ('total' in page) total = page.total;
      head.push(...page.dossiers.map(({ id }) => id));
      const fresh = takeFresh(page);
      if (fresh.length > 0) yield fresh;
      if (fresh.length < page.dossiers.length || page.dossiers.length === 0) break;
    }
    because = findGap(total, seen.size, hasEnded);
    if (because === null || total === null || round === maxRounds) break;
    const differences = await findDifferences(list, perPage, seen, { total, counted }).catch((error: unknown) => {
      if (!isCursorGone(error, walked)) throw error;
      return null;
    });
    if (differences === null) break;
    hasEnded = true;
    for (const id of differences.gone) seen.delete(id);
    const fresh = differences.found.filter(({ id }) => !seen.has(id));
    for (const { id, createdAt } of fresh) seen.set(id, Date.parse(createdAt));
    if (fresh.length > 0) yield fresh;
  }
  const { pages } = counted;
  return { pages, dossiers: seen.size, proven: because === null, because, isListed: (id) => seen.has(id) };
}

function findGap(total: number | null, seen: number, hasEnded: boolean): string | null {
  if (total === null) return 'the service gave no total to compare with';
  if (seen !== total) return `the walk saw ${seen} dossiers where the list counts ${total}`;
  return hasEnded ? null : 'the walk did not reach the end of the list';
}

/** Whether the service does not know the dossier after which the list was to continue (interface: `starting_after`). */
const isCursorGone = (error: unknown, walked: readonly string[]): boolean =>
  (error instanceof ResponseError && error.code === 'list_cursor_gone') ||
  (error instanceof NotFoundError && walked.length > 0);

/**
 * The pages after the last walked dossier; its reader adds each page's dossiers to `walked`. Where the last one has been deleted, the service
 * answers 404 or with an empty last page: the walk continues after an earlier one, one back, then three, then seven, and at last from the
 * head of the list. Throws what the client threw when that leads no further either.
 */
async function* walkOn(
  list: DossierList,
  query: { per_page: number; date_from?: string; date_to?: string },
  walked: readonly string[],
): AsyncGenerator<DossierPage> {
  let place = walked.length - 1;
  let reached = walked.length;
  for (let step = 1; ; step *= 2) {
    const cursor = walked[place];
    try {
      let isFirst = true;
      for await (const page of list.pages({ ...query, ...(cursor !== undefined && { starting_after: cursor }) })) {
        // Nothing after a walked dossier: it was the last one, or it is gone. What is listed after an earlier one decides.
        if (isFirst && cursor !== undefined && page.dossiers.length === 0) throw emptyAfter(cursor);
        isFirst = false;
        yield page;
      }
      return;
    } catch (error) {
      const isFruitless = walked.length === reached;
      if (!isCursorGone(error, walked) || (isFruitless && cursor === undefined)) throw error;
      if (!isFruitless) {
        reached = walked.length;
        place = walked.length - 1;
        step = 1;
      }
      place -= step;
    }
  }
}

const emptyAfter = (cursor: string): ResponseError =>
  new ResponseError('list_cursor_gone', `GET /dossiers: nothing is listed after ${cursor}`, {
    method: 'GET',
    path: '/dossiers',
    status: 200,
    body: '',
  });

/** Dossiers that were seen and are listed no more, and listed ones that were not seen. */
interface Differences {
  gone: string[];
  found: DossierSnapshot[];
}

/** Whole seconds, in ms; both ends belong to it, as in the interface (`date_from`, `date_to`). */
interface Window {
  from: number;
  to: number;
}

/**
 * Compares the list with what was seen by windows of creation time: halves those whose totals differ until a walk
 * costs no more than further halving. Null where the service does not count by window, or where there is more to compare than another whole walk would be.
 */
async function findDifferences(
  list: DossierList,
  perPage: number,
  seen: ReadonlyMap<string, number>,
  { total, counted }: { total: number; counted: { pages: number; calls: number } },
): Promise<Differences | null> {
  const differences: Differences = { gone: [], found: [] };
  const ordered = [...seen].toSorted((left, right) => left[1] - right[1]);
  const maxCalls = 100 + 4 * Math.ceil(total / perPage);
  const [oldest, newest] = [ordered[0]?.[1], ordered.at(-1)?.[1]];
  if (oldest === undefined || newest === undefined) return null;
  // A dossier may have been committed with an earlier time of creation than any that was seen.
  const windows: Window[] = [{ from: 0, to: toSecond(newest) + 1_000 }];
  for (let window = windows.pop(); window !== undefined; window = windows.pop()) {
    counted.calls += 1;
    if (counted.calls > maxCalls) return null;
    const first = await countWindow(list, window);
    if (first === null) return null;
    const known = sliceWindow(ordered, window);
    if (known.length === first) continue;
    const pages = Math.ceil(Math.max(known.length, first) / perPage);
    const isWalked = 4 * Math.abs(known.length - first) >= pages || window.to - window.from <= 1_000;
    if (!isWalked) {
      const middle = toSecond(known[Math.floor(known.length / 2)]?.[1] ?? (window.from + window.to) / 2);
      // The halves share their limit: a dossier of that very moment counts in both, and no dossier between them counts in none.
      if (middle > window.from && middle < window.to) {
        windows.push({ from: window.from, to: middle }, { from: middle, to: window.to });
        continue;
      }
    }
    const listed = new Set<string>();
    const walked: string[] = [];
    for await (const page of walkOn(list, { per_page: perPage, ...toFilter(window) }, walked)) {
      counted.pages += 1;
      counted.calls += 1;
      if (counted.calls > maxCalls) return null;
      for (const dossier of page.dossiers.map(toDossierSnapshot)) {
        if (!isIn(Date.parse(dossier.createdAt), window)) return null;
        if (listed.has(dossier.id)) continue;
        listed.add(dossier.id);
        walked.push(dossier.id);
        if (!seen.has(dossier.id)) differences.found.push(dossier);
      }
    }
    for (const [id] of known) if (!listed.has(id)) differences.gone.push(id);
  }
  return differences;
}

const toSecond = (ms: number): number => Math.floor(ms / 1_000) * 1_000;
const isIn = (ms: number, { from, to }: Window): boolean => ms >= from && ms <= to;
const toFilter = ({ from, to }: Window): { date_from: string; date_to: string } => ({
  date_from: new Date(from).toISOString(),
  date_to: new Date(to).toISOString(),
});

/** How many dossiers the service lists in a window; null where it says no total. */
async function countWindow(list: DossierList, window: Window): Promise<number | null> {
  const { data } = await list.page({ page: 1, per_page: 1, ...toFilter(window) });
  return 'total' in data ? data.total : null;
}

/** The part of a list ordered by time that lies in a window. */
function sliceWindow(
  ordered: readonly (readonly [string, number])[],
  { from, to }: Window,
): readonly (readonly [string, number])[] {
  return ordered.slice(countBefore(ordered, from), countBefore(ordered, to + 1));
}

function countBefore(ordered: readonly (readonly [string, number])[], ms: number): number {
  let [low, high] = [0, ordered.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ordered[middle]?.[1] ?? 0) < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
