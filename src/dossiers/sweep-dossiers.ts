import { z } from 'zod';
import type { DossierPage, DossierSummary, Dossiers } from '../client/dossiers.js';
import { ApiError, NotFoundError, ResponseError } from '../errors.js';
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

/** The most that the service gives. */
const mostPerPage = 100;

/** The part of the client that a sweep needs (interface: GET /dossiers). */
export type DossierList = Pick<Dossiers, 'page' | 'pages'>;

/** A span of creation time in ms, by whole seconds; both ends belong to it, as in the interface. 0 and Infinity are open ends. */
interface CreationWindow {
  from: number;
  to: number;
}

const everything: CreationWindow = { from: 0, to: Number.POSITIVE_INFINITY };

/** A window of a sweep with its progress: its dossiers in the order of the walk, with their creation times. */
export interface WindowWalk extends CreationWindow {
  walked: readonly { id: string; createdAt: string }[];
  hasEnded: boolean;
}

/** A page of the window at `place`: its new dossiers, or the end of the window. */
export interface WalkedPage {
  place: number;
  dossiers: readonly DossierSnapshot[];
  hasEnded: boolean;
}

/** Whether a sweep has seen every dossier; `because` is why that is not proven. */
interface SweepVerdict {
  pages: number;
  dossiers: number;
  proven: boolean;
  because: string | null;
  /** Whether the sweep has seen a dossier in the service's list. */
  isListed: (id: string) => boolean;
}

// After more rounds the list changes faster than it can be compared.
const maxRounds = 4;

/**
 * Walks all dossiers by keyset, most recent first, in one window or in several at once, and yields the pages, no dossier twice. A window
 * continues after its page is consumed. Afterwards the head of the list is walked again for dossiers created meanwhile. The sweep is proven if the
 * total of the list, and of each of several windows, agrees with the dossiers seen. If not, the windows of creation time with other totals are
 * walked again, so that a deletion during the walk leaves the sweep proven. If the dossier under the cursor is deleted, the walk continues after
 * the dossier before it, which costs one call. Throws what the client throws (interface: GET /dossiers).
 */
export async function* sweepDossiers(
  list: DossierList,
  { perPage = mostPerPage }: Pick<SweepSettings, 'perPage'>,
  walks: readonly WindowWalk[] = [{ ...everything, walked: [], hasEnded: false }],
): AsyncGenerator<readonly WalkedPage[], SweepVerdict> {
  const seen: SeenDossiers = new Map();
  for (const { walked } of walks) addUnseen(seen, walked);
  const counted = { pages: 0, calls: 0 };
  const takeFresh = (dossiers: readonly DossierSnapshot[]): readonly DossierSnapshot[] => {
    counted.pages += 1;
    return addUnseen(seen, dossiers);
  };

  let hasEnded = yield* walkWindows(list, perPage, walks, takeFresh);

  let because: string | null = null;
  for (let round = 1; ; round += 1) {
    let total: number | null = null;
    const head: string[] = [];
    for await (const page of walkOn(list, { per_page: perPage }, head)) {
      if ('total' in page) total = page.total;
      head.push(...page.dossiers.map(({ id }) => id));
      const fresh = takeFresh(page.dossiers.map(toDossierSnapshot));
      if (fresh.length > 0) yield [{ place: 0, dossiers: fresh, hasEnded: true }];
      if (fresh.length < page.dossiers.length || page.dossiers.length === 0) break;
    }
    because = findGap(total, seen.size, hasEnded);
    if (because === null && round === 1 && walks.length > 1 && !(await doWindowsAgree(list, walks, seen))) {
      because = 'the totals of the windows differ from what was walked';
    }
    if (because === null || total === null || round === maxRounds) break;
    const windows = walks.length > 1 ? walks : [everything];
    const differences = await findDifferences(list, perPage, seen, { windows, total, counted }).catch(
      (error: unknown) => {
        if (!isCursorGone(error, seen.size)) throw error;
        return null;
      },
    );
    if (differences === null) break;
    hasEnded = true;
    for (const id of differences.gone) seen.delete(id);
    const fresh = addUnseen(seen, differences.found);
    if (fresh.length > 0) yield [{ place: 0, dossiers: fresh, hasEnded: true }];
  }
  const { pages } = counted;
  return { pages, dossiers: seen.size, proven: because === null, because, isListed: (id) => seen.has(id) };
}

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

/** A window in progress with the last dossiers of its walk. */
interface Walker {
  place: number;
  window: CreationWindow;
  walked: string[];
  pages: AsyncGenerator<DossierPage>;
}

type Arrival = { walker: Walker } & ({ result: IteratorResult<DossierPage> } | { error: unknown });

/**
 * Walks the open windows, with at most one page of each in flight or unconsumed; gives whether all have ended. The error of a window is thrown
 * after the calls of the others have ended and their pages are consumed.
 */
async function* walkWindows(
  list: DossierList,
  perPage: number,
  walks: readonly WindowWalk[],
  takeFresh: (dossiers: readonly DossierSnapshot[]) => readonly DossierSnapshot[],
): AsyncGenerator<readonly WalkedPage[], boolean> {
  const arrived: Arrival[] = [];
  let wake = (): void => undefined;
  let underWay = 0;
  let hasEnded = true;
  const failures: unknown[] = [];
  const ask = (walker: Walker): void => {
    underWay += 1;
    const arrive = (arrival: Arrival): void => {
      arrived.push(arrival);
      wake();
    };
    walker.pages.next().then(
      (result) => arrive({ walker, result }),
      (error: unknown) => arrive({ walker, error }),
    );
  };
  for (const [place, walk] of walks.entries()) {
    if (walk.hasEnded) continue;
    const walked = walk.walked.slice(-mostSteppedBack).map(({ id }) => id);
    ask({ place, window: walk, walked, pages: walkOn(list, { per_page: perPage, ...toFilter(walk) }, walked) });
  }
  while (underWay > 0) {
    if (arrived.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const pages: WalkedPage[] = [];
    const going: Walker[] = [];
    for (const { walker, ...came } of arrived.splice(0)) {
      underWay -= 1;
      const { place, walked, window } = walker;
      if ('error' in came) {
        hasEnded = false;
        if (!isCursorGone(came.error, walked.length)) failures.push(came.error);
        continue;
      }
      if (came.result.done) {
        pages.push({ place, dossiers: [], hasEnded: true });
        continue;
      }
      const dossiers = came.result.value.dossiers.map(toDossierSnapshot);
      const fresh = takeFresh(dossiers);
      walked.push(...fresh.map(({ id }) => id));
      if (walked.length > 2 * mostSteppedBack) walked.splice(0, walked.length - mostSteppedBack);
      if (fresh.length > 0) pages.push({ place, dossiers: fresh, hasEnded: false });
      // A dossier outside of the window means that the service ignores the filter; each window would walk the whole list.
      if (dossiers.every(({ createdAt }) => isIn(Date.parse(createdAt), window))) going.push(walker);
      else hasEnded = false;
    }
    if (pages.length > 0) yield pages;
    if (failures.length === 0) for (const walker of going) ask(walker);
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
const isCursorGone = (error: unknown, walked: number): boolean =>
  (error instanceof ResponseError && error.code === 'list_cursor_gone') ||
  (error instanceof NotFoundError && walked > 0);

/**
 * The pages after the last walked dossier; the caller adds the dossiers of each page to `walked`. If the last one was deleted, the service answers
 * 404 or an empty last page. Then the walk continues after an earlier dossier: one back, three, seven, and at last from the head of the list.
 * Throws the error of the client if that fails too.
 */
async function* walkOn(
  list: DossierList,
  query: { per_page: number; date_from?: string; date_to?: string },
  walked: readonly string[],
): AsyncGenerator<DossierPage> {
  let back = 0;
  let reached = walked.at(-1);
  for (let step = 1; ; step *= 2) {
    const cursor = walked.at(-1 - back);
    try {
      let isFirst = true;
      for await (const page of list.pages({ ...query, ...(cursor !== undefined && { starting_after: cursor }) })) {
        // An empty page: the walked dossier was the last one, or it was deleted. The list after an earlier dossier decides.
        if (isFirst && cursor !== undefined && page.dossiers.length === 0) throw emptyAfter(cursor);
        isFirst = false;
        yield page;
      }
      return;
    } catch (error) {
      const isFruitless = walked.at(-1) === reached;
      if (!isCursorGone(error, walked.length) || (isFruitless && cursor === undefined)) throw error;
      if (!isFruitless) {
        reached = walked.at(-1);
        back = 0;
        step = 1;
      }
      back += step;
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
  const known = windows.map(() => 0);
  for (const ms of seen.values()) {
    for (const [place, { from, to }] of windows.entries())
      if (ms >= from && ms <= to) known[place] = (known[place] ?? 0) + 1;
  }
  const totals = await Promise.all(windows.map((window) => countWindow(list, window)));
  return totals.every((total, place) => total === known[place]);
}

/**
 * Compares the list with the seen dossiers by windows of creation time. It halves windows whose totals differ until a walk is as cheap as further
 * halving. Gives the ids of seen dossiers that are no longer listed (`gone`), and the listed ones that were not seen. Null if the service does
 * not count by window, or if the comparison costs more than another whole walk.
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
  // An unseen dossier may have an earlier creation time than the seen ones; later ones are at the head of the list.
  const end = floorToSecond(last[1]) + 1_000;
  const windows = all.map(({ from, to }) => ({ from, to: Math.min(to, Math.max(end, from)) }));
  for (let window = windows.pop(); window !== undefined; window = windows.pop()) {
    counted.calls += 1;
    if (counted.calls > maxCalls) return null;
    const first = await countWindow(list, window);
    if (first === null) return null;
    const known = ordered.slice(countBefore(ordered, window.from), countBefore(ordered, window.to + 1));
    if (known.length === first) continue;
    const pages = Math.ceil(Math.max(known.length, first) / perPage);
    const isWalked = 4 * Math.abs(known.length - first) >= pages || window.to - window.from <= 1_000;
    if (!isWalked) {
      const median = known[Math.floor(known.length / 2)];
      const middle = floorToSecond(median?.[1] ?? (window.from + window.to) / 2);
      // The halves share their limit, so that no dossier is between them; a dossier of that moment counts in both.
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
    differences.gone.push(...known.flatMap(([id]) => (listed.has(id) ? [] : id)));
  }
  return differences;
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

// Each window costs three more calls: its total, a last page that is not full, and the search of its limit.
const leastPagesPerWindow = 5;

/**
 * Divides the list into the configured number of windows of about the same size, if a probe shows that the service applies `date_from` and
 * `date_to` after a cursor; otherwise there is one window. The most recent window is first. Neighbours share their limit, so that no dossier is
 * between two. `oneWalkBecause` is why there is one window although more would be faster. Throws what the client throws.
 */
export async function planWindows(
  list: DossierList,
  { perPage = mostPerPage, windows: wanted }: Pick<SweepSettings, 'perPage' | 'windows'>,
) {
  const oneWalk = (oneWalkBecause: string | null) => ({ windows: [everything], oneWalkBecause });
  if (wanted === 1) return oneWalk(null);
  const total = await countWindow(list, everything);
  if (total === null) return oneWalk('the service gives no total');
  const count = Math.min(wanted, Math.floor(total / perPage / leastPagesPerWindow));
  if (count < 2) return oneWalk(null);
  const places = Array.from({ length: count - 1 }, (_, index) => Math.round(((index + 1) * total) / count));
  const pages = await readPlaces(list, perPage, places);
  const because = await probeFilter(list, perPage, pages[Math.floor(pages.length / 2)] ?? []);
  if (because !== null) return oneWalk(because);
  const limits = [...new Set(pages.map(([first]) => toSecond(first)))].toSorted((left, right) => right - left);
  const ends = [everything.to, ...limits];
  return { windows: ends.map((to, index) => ({ from: limits[index] ?? everything.from, to })), oneWalkBecause: null };
}

type Rows = readonly [DossierSummary, ...DossierSummary[]];

// The interface's greatest page number.
const maxPage = 1_000;

/** Reads one page of dossiers at each of these places of the list. A place beyond the last page number is counted from an earlier dossier. */
async function readPlaces(list: DossierList, perPage: number, places: readonly number[]): Promise<readonly Rows[]> {
  const found: Rows[] = [];
  let base = { place: 0, window: everything };
  for (let rest = places; rest.length > 0; ) {
    const near = rest.filter((place) => place - base.place < maxPage * perPage);
    const asked = near.length > 0 ? near : [base.place + (maxPage - 1) * perPage];
    const pages = await Promise.all(
      asked.map(async (place): Promise<readonly DossierSummary[]> => {
        const page = Math.floor((place - base.place) / perPage) + 1;
        return (await list.page({ ...toFilter(base.window), page, per_page: perPage })).data.dossiers;
      }),
    );
    const filled = pages.filter(isFilled);
    if (near.length > 0) found.push(...filled);
    const [last, place] = [filled.at(-1)?.[0], asked.at(-1)];
    // The list has become shorter.
    if (filled.length < pages.length || last === undefined || place === undefined) break;
    base = { place, window: { ...everything, to: toSecond(last) } };
    rest = rest.slice(near.length);
  }
  return found;
}

const isFilled = (rows: readonly DossierSummary[]): rows is Rows => rows.length > 0;

/** Why the service does not apply a cursor within a window, or null. */
async function probeFilter(
  list: DossierList,
  perPage: number,
  rows: readonly DossierSummary[],
): Promise<string | null> {
  const [cursor, middle] = [rows[0], rows[Math.floor(rows.length / 2)]];
  if (cursor === undefined || middle === undefined) return 'the list became shorter while it was divided';
  const window = { from: toSecond(middle), to: toSecond(cursor) + 1_000 };
  let page: DossierPage;
  try {
    page = (await list.page({ ...toFilter(window), per_page: perPage, starting_after: cursor.id })).data;
  } catch (error) {
    // Errors that stop the sweep are neither of these classes.
    if (!(error instanceof ApiError || error instanceof ResponseError)) throw error;
    return `the service refuses date_from and date_to together with starting_after: ${error.message}`;
  }
  if (page.dossiers.length === 0) return 'the service lists nothing where date_from and date_to meet starting_after';
  if (!page.dossiers.every(({ created_at }) => isIn(Date.parse(created_at), window))) {
    return 'the service does not apply date_from and date_to after starting_after';
  }
  const isIgnored = 'total' in page || page.dossiers.some(({ id }) => id === cursor.id);
  return isIgnored ? 'the service does not apply starting_after where there are date_from and date_to' : null;
}

const toSecond = ({ created_at }: DossierSummary): number => floorToSecond(Date.parse(created_at));

const floorToSecond = (ms: number): number => Math.floor(ms / 1_000) * 1_000;

/** Whether an instant is in a window, the whole last second included, because a service may count in seconds. */
const isIn = (ms: number, { from, to }: CreationWindow): boolean => ms >= from && ms < to + 1_000;

/** The query parameters of a window. */
const toFilter = ({ from, to }: CreationWindow): { date_from?: string; date_to?: string } => ({
  ...(from > everything.from && { date_from: new Date(from).toISOString() }),
  ...(to < everything.to && { date_to: new Date(to).toISOString() }),
});

/** The number of dossiers in a window; null if the service gives no total. */
export async function countWindow(list: DossierList, window: CreationWindow): Promise<number | null> {
  const { data } = await list.page({ page: 1, per_page: 1, ...toFilter(window) });
  return 'total' in data ? data.total : null;
}
