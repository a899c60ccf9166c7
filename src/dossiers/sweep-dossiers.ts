import { z } from 'zod';
import type { DossierPage } from '../client/dossiers.js';
import { NotFoundError, ResponseError } from '../errors.js';
import {
  type CreationWindow,
  countWindow,
  type DossierList,
  everything,
  floorToSecond,
  isIn,
  mostPerPage,
  toFilter,
} from './creation-windows.js';
import { type DossierSnapshot, toDossierSnapshot } from './dossier.js';

/** How dossiers are swept (interface: Limits). */
export const sweepSettingsSchema = z.strictObject({
  windows: z
    .int()
    .min(1)
    .max(64)
    .default(1)
    .describe('spans of creation time that are read at the same time, within `service.rate`; 1 for one walk'),
  details: z
    .strictObject({
      maxPerRun: z
        .int()
        .min(0)
        .max(100_000)
        .default(0)
        .describe('look-ups of one sweep: new and changed dossiers, their applicants and decisions; 0 for none'),
    })
    .prefault({})
    .describe('records of single dossiers that are fetched after the list'),
});
/** How dossiers are swept, `perPage` on a page of the list. */
export type SweepSettings = z.infer<typeof sweepSettingsSchema> & { perPage?: number };

/** A window of a sweep with its progress: its dossiers in the order of the walk, with their creation times. */
export interface WindowWalk extends CreationWindow {
  walked: readonly { id: string; createdAt: string }[];
  hasEnded: boolean;
}

/** A page of a window: its new dossiers, or the end of the window. */
export interface WalkedPage {
  windowIndex: number;
  dossiers: readonly DossierSnapshot[];
  hasEnded: boolean;
}

// After more rounds the list changes faster than it can be compared.
const maxRounds = 4;

/**
 * Walks all dossiers by keyset, most recent first, in one window or in several at once, and yields the pages, no dossier twice. A window
 * continues after its page is consumed. The sweep is proven if the totals of the service agree with the dossiers seen; `because` is why it is
 * not. Throws what the client throws (interface: GET /dossiers).
 */
export async function* sweepDossiers(
  list: DossierList,
  { perPage = mostPerPage }: Pick<SweepSettings, 'perPage'>,
  walks: readonly WindowWalk[] = [{ ...everything, walked: [], hasEnded: false }],
) {
  const seen: SeenDossiers = new Map();
  for (const { walked } of walks) addUnseen(seen, walked);
  const counted = { pages: 0, calls: 0 };
  const takeFresh: TakeFresh = (dossiers) => {
    counted.pages += 1;
    return addUnseen(seen, dossiers);
  };

  // 1. Each window is walked to its end.
  let hasEnded = yield* walkWindows(list, perPage, walks, takeFresh);

  let because: string | null = null;
  for (let round = 1; ; round += 1) {
    // 2. The head of the list is walked for dossiers created meanwhile.
    const total = yield* walkHead(list, perPage, takeFresh);

    // 3. The totals are compared with the dossiers seen. Later rounds follow a repair, which has compared the windows.
    because = findGap(total, seen.size, hasEnded);
    if (because === null && round === 1 && walks.length > 1 && !(await doWindowsAgree(list, walks, seen))) {
      because = 'the totals of the windows differ from what was walked';
    }
    if (because === null || total === null || round === maxRounds) break;

    // 4. Windows with other totals are walked again. So a deletion during the walk leaves the sweep proven.
    const windows = walks.length > 1 ? walks : [everything];
    const isRepaired = yield* repair(list, perPage, seen, { windows, total, counted });
    if (!isRepaired) break;
    // The repair has compared all windows, also those whose walk did not reach the end.
    hasEnded = true;
  }
  const { pages } = counted;
  const isListed = (id: string): boolean => seen.has(id);
  return { pages, dossiers: seen.size, proven: because === null, because, isListed };
}

/** Walks the head of the list until a page has a dossier that was seen before; gives the total of the list. */
async function* walkHead(
  list: DossierList,
  perPage: number,
  takeFresh: TakeFresh,
): AsyncGenerator<readonly WalkedPage[], number | null> {
  let total: number | null = null;
  const cursor = new Cursor();
  for await (const page of walkOn(list, { per_page: perPage }, cursor)) {
    if ('total' in page) total = page.total;
    cursor.advance(page.dossiers);
    const fresh = takeFresh(page.dossiers.map(toDossierSnapshot));
    if (fresh.length > 0) yield [toLatePage(fresh)];
    if (fresh.length < page.dossiers.length || page.dossiers.length === 0) break;
  }
  return total;
}

/** Makes the seen dossiers agree with the list; gives whether the comparison came to its end. */
async function* repair(
  list: DossierList,
  perPage: number,
  seen: SeenDossiers,
  scope: Parameters<typeof findDifferences>[3],
): AsyncGenerator<readonly WalkedPage[], boolean> {
  const differences = await findDifferences(list, perPage, seen, scope).catch((error: unknown) => {
    if (!isCursorGone(error, seen.size > 0)) throw error;
    return null;
  });
  if (differences === null) return false;
  for (const id of differences.gone) seen.delete(id);
  const found = addUnseen(seen, differences.found);
  if (found.length > 0) yield [toLatePage(found)];
  return true;
}

/** Dossiers that are found after the walks of the windows. They are stored under the first window, since all walks are over by then. */
const toLatePage = (dossiers: readonly DossierSnapshot[]): WalkedPage => ({
  windowIndex: 0,
  dossiers,
  hasEnded: true,
});

/** Counts a page, and gives its dossiers that the sweep has not seen before. */
type TakeFresh = (dossiers: readonly DossierSnapshot[]) => readonly DossierSnapshot[];

/** The dossiers that a sweep has seen, with their times of creation in ms. */
type SeenDossiers = Map<string, number>;

/** Adds dossiers; gives those that are new. */
const addUnseen = <Dossier extends { id: string; createdAt: string }>(
  seen: SeenDossiers,
  dossiers: readonly Dossier[],
): readonly Dossier[] =>
  dossiers.filter(({ id, createdAt }) => {
    if (seen.has(id)) return false;
    seen.set(id, Date.parse(createdAt));
    return true;
  });

// After this many deleted dossiers the walk begins again at the head of the window.
const mostSteppedBack = 1_000;

/** The place of a walk: the dossier after which it continues. */
class Cursor {
  readonly #walked: string[];
  /** The number of walked dossiers after the cursor; those were deleted. */
  #back = 0;

  constructor(walked: readonly { id: string }[] = []) {
    this.#walked = walked.slice(-mostSteppedBack).map(({ id }) => id);
  }

  /** Undefined at the head of the list. */
  get dossierId(): string | undefined {
    return this.#walked.at(-1 - this.#back);
  }

  get hasWalked(): boolean {
    return this.#walked.length > 0;
  }

  /** Moves the cursor to the last of these dossiers. */
  advance(dossiers: readonly { id: string }[]): void {
    if (dossiers.length === 0) return;
    this.#walked.push(...dossiers.map(({ id }) => id));
    if (this.#walked.length > 2 * mostSteppedBack) this.#walked.splice(0, this.#walked.length - mostSteppedBack);
    this.#back = 0;
  }

  /** Moves the cursor one dossier back, then three, seven, and at last to the head of the list. */
  stepBack(): void {
    this.#back = 2 * this.#back + 1;
  }
}

/** Walks a window from its cursor on; gives whether it has come to the end. */
async function* walkWindow(
  list: DossierList,
  perPage: number,
  { window, windowIndex }: { window: WindowWalk; windowIndex: number },
  takeFresh: TakeFresh,
): AsyncGenerator<WalkedPage, boolean> {
  const cursor = new Cursor(window.walked);
  try {
    for await (const page of walkOn(list, { per_page: perPage, ...toFilter(window) }, cursor)) {
      const dossiers = page.dossiers.map(toDossierSnapshot);
      const fresh = takeFresh(dossiers);
      cursor.advance(fresh);
      if (fresh.length > 0) yield { windowIndex, dossiers: fresh, hasEnded: false };
      // A dossier outside of the window means that the service ignores the filter; each window would walk the whole list.
      if (!dossiers.every(({ createdAt }) => isIn(Date.parse(createdAt), window))) return false;
    }
  } catch (error) {
    if (isCursorGone(error, cursor.hasWalked)) return false;
    throw error;
  }
  yield { windowIndex, dossiers: [], hasEnded: true };
  return true;
}

/**
 * Walks the open windows, with at most one page of each in flight or unconsumed; gives whether all have ended. The error of a window is thrown
 * after the calls of the others have ended and their pages are consumed.
 */
async function* walkWindows(
  list: DossierList,
  perPage: number,
  walks: readonly WindowWalk[],
  takeFresh: TakeFresh,
): AsyncGenerator<readonly WalkedPage[], boolean> {
  const arrived: { page: WalkedPage; read: () => void }[] = [];
  const reading = new Set<Promise<unknown>>();
  const failures: unknown[] = [];
  let hasEnded = true;
  for (const [windowIndex, window] of walks.entries()) {
    if (window.hasEnded) continue;
    const pages = walkWindow(list, perPage, { window, windowIndex }, takeFresh);
    const take = (result: IteratorResult<WalkedPage, boolean>): void => {
      if (result.done) hasEnded &&= result.value;
      else arrived.push({ page: result.value, read });
    };
    const read = (): void => {
      const arrival = pages
        .next()
        .then(take, (error: unknown) => failures.push(error))
        .finally(() => reading.delete(arrival));
      reading.add(arrival);
    };
    read();
  }
  while (reading.size > 0) {
    await Promise.race(reading);
    const arrivals = arrived.splice(0);
    if (arrivals.length > 0) yield arrivals.map(({ page }) => page);
    if (failures.length === 0) for (const { read } of arrivals) read();
  }
  if (failures.length > 0) throw failures[0];
  return hasEnded;
}

function findGap(total: number | null, seen: number, hasEnded: boolean): string | null {
  if (total === null) return 'the service gave no total to compare with';
  if (seen !== total) return `the walk saw ${seen} dossiers where the list counts ${total}`;
  return hasEnded ? null : 'the walk did not reach the end of the list';
}

/** Whether the service no longer knows the dossier of the cursor (interface: `starting_after`). */
const isCursorGone = (error: unknown, hasWalked: boolean): boolean =>
  (error instanceof ResponseError && error.code === 'list_cursor_gone') ||
  (error instanceof NotFoundError && hasWalked);

/**
 * The pages after the cursor, which the caller advances by each page. If the dossier of the cursor was deleted, the service answers 404 or an
 * empty last page. Then the walk continues after an earlier dossier, which costs one call. Throws the error of the client if that fails too.
 */
async function* walkOn(
  list: DossierList,
  query: { per_page: number; date_from?: string; date_to?: string },
  cursor: Cursor,
): AsyncGenerator<DossierPage> {
  for (;;) {
    const after = cursor.dossierId;
    try {
      let isFirst = true;
      for await (const page of list.pages({ ...query, ...(after !== undefined && { starting_after: after }) })) {
        // An empty page: the walked dossier was the last one, or it was deleted. The list after an earlier dossier decides.
        if (isFirst && after !== undefined && page.dossiers.length === 0) throw emptyAfter(after);
        isFirst = false;
        yield page;
      }
      return;
    } catch (error) {
      if (!isCursorGone(error, cursor.hasWalked) || cursor.dossierId === undefined) throw error;
      cursor.stepBack();
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

/** Whether each window has as many dossiers as were seen in it. */
async function doWindowsAgree(
  list: DossierList,
  windows: readonly CreationWindow[],
  seen: SeenDossiers,
): Promise<boolean> {
  const times = [...seen.values()];
  const seenCounts = windows.map(({ from, to }) => times.filter((ms) => ms >= from && ms <= to).length);
  const totals = await Promise.all(windows.map((window) => countWindow(list, window)));
  return totals.every((total, index) => total === seenCounts[index]);
}

/**
 * Compares the list with the seen dossiers by windows of creation time. It halves windows whose totals differ until a walk is as cheap as further
 * halving. Gives the ids of seen dossiers that are no longer listed (`gone`), and the listed ones that were not seen. Null if the service does
 * not count by window, or if the comparisons of the sweep cost more than four whole walks.
 */
async function findDifferences(
  list: DossierList,
  perPage: number,
  seen: SeenDossiers,
  {
    windows: all,
    total,
    counted,
  }: { windows: readonly CreationWindow[]; total: number; counted: { pages: number; calls: number } },
) {
  const differences: { gone: string[]; found: DossierSnapshot[] } = { gone: [], found: [] };
  const ordered = [...seen].sort(([, left], [, right]) => left - right);
  const maxCalls = 100 + 4 * Math.ceil(total / perPage);
  const last = ordered.at(-1);
  if (last === undefined) return null;
  // Each window ends at the last seen dossier: later ones are at the head of the list, which is walked again.
  const end = floorToSecond(last[1]) + 1_000;
  const windows = all.map(({ from, to }) => ({ from, to: Math.min(to, Math.max(end, from)) }));
  for (let window = windows.pop(); window !== undefined; window = windows.pop()) {
    counted.calls += 1;
    if (counted.calls > maxCalls) return null;
    const listedCount = await countWindow(list, window);
    if (listedCount === null) return null;
    const known = ordered.slice(countBefore(ordered, window.from), countBefore(ordered, window.to + 1));
    if (known.length === listedCount) continue;
    const halves = halve(window, known, listedCount, perPage);
    if (halves !== null) {
      windows.push(...halves);
      continue;
    }
    const listed = new Set<string>();
    const cursor = new Cursor();
    for await (const page of walkOn(list, { per_page: perPage, ...toFilter(window) }, cursor)) {
      counted.pages += 1;
      counted.calls += 1;
      if (counted.calls > maxCalls) return null;
      const dossiers = page.dossiers.map(toDossierSnapshot);
      if (!dossiers.every(({ createdAt }) => isIn(Date.parse(createdAt), window))) return null;
      const fresh = dossiers.filter(({ id }) => !listed.has(id));
      cursor.advance(fresh);
      for (const { id } of fresh) listed.add(id);
      differences.found.push(...fresh.filter(({ id }) => !seen.has(id)));
    }
    differences.gone.push(...known.flatMap(([id]) => (listed.has(id) ? [] : id)));
  }
  return differences;
}

/** The halves of a window, or null where a walk is as cheap: it costs one call for each page, and to find one difference by halving about four. */
function halve(
  { from, to }: CreationWindow,
  known: readonly (readonly [id: string, ms: number])[],
  listedCount: number,
  perPage: number,
): readonly [CreationWindow, CreationWindow] | null {
  const pageCount = Math.ceil(Math.max(known.length, listedCount) / perPage);
  if (4 * Math.abs(known.length - listedCount) >= pageCount || to - from <= 1_000) return null;
  const median = known[Math.floor(known.length / 2)];
  const middle = floorToSecond(median?.[1] ?? (from + to) / 2);
  if (middle <= from || middle >= to) return null;
  // The halves share their limit, so that no dossier is between them; a dossier of that moment counts in both.
  return [
    { from, to: middle },
    { from: middle, to },
  ];
}

/** The number of dossiers before a time, of those in the order of their times. */
function countBefore(ordered: readonly (readonly [id: string, ms: number])[], ms: number): number {
  let [low, high] = [0, ordered.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ordered[middle]?.[1] ?? 0) < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
