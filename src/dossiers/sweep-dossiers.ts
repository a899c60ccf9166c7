import { z } from 'zod';
import type { DossierPage, DossierSummary, Dossiers } from '../client/dossiers.js';
import { ApiError, NotFoundError, ResponseError } from '../errors.js';
import { type DossierSnapshot, SeenDossiers, toDossierSnapshot } from './dossier.js';

/** How dossiers are swept (interface: Limits). */
export const sweepSettingsSchema = z.strictObject({
  perPage: z.number().int().min(1).max(100).default(100).describe('dossiers per page'),
  windows: z
    .int()
    .min(1)
    .max(64)
    .default(1)
    .describe('spans of creation time that are walked at once, within `service.rate`; 1 for one walk'),
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
    .describe('what is fetched about single dossiers when the list has been read'),
});
export type SweepSettings = z.infer<typeof sweepSettingsSchema>;

/** The part of the client that a sweep needs (interface: GET /dossiers). */
export type DossierList = Pick<Dossiers, 'page' | 'pages'>;

/** A span of creation time in ms, by whole seconds; both ends belong to it, as in the interface. 0 and Infinity are open ends. */
export interface CreationWindow {
  from: number;
  to: number;
}

/** The window that leaves nothing out. */
const everything: CreationWindow = { from: 0, to: Number.POSITIVE_INFINITY };

/** A window of a sweep, and how far it has been walked: its dossiers in the order of the walk, with their time of creation. */
export interface WindowWalk extends CreationWindow {
  walked: readonly { id: string; createdAt: string }[];
  hasEnded: boolean;
}

/** A page of the window at this place: its dossiers that no page had before, or that the window has come to its end. */
export interface WalkedPage {
  place: number;
  dossiers: readonly DossierSnapshot[];
  hasEnded: boolean;
}

/** Whether a sweep has seen every dossier; `because` says why that is not proven. */
interface SweepVerdict {
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
 * Walks all dossiers by keyset, most recent first, in one window or in several at once, and yields the pages that have come, no dossier
 * twice. A window goes on when its page has been taken. Afterwards it walks the head of the list again for dossiers that were created
 * meanwhile. The sweep is proven when the total of the list agrees with what was seen, and so did the total of each of several windows, or
 * what was listed in it. Where they do not, the windows of creation time whose totals differ are walked again, so that a deletion during
 * the walk leaves the sweep proven. A dossier that is deleted while the walk stands on it costs one more call: the walk continues after the
 * dossier before it. Throws what the client throws (interface: GET /dossiers).
 */
export async function* sweepDossiers(
  list: DossierList,
  { perPage }: Pick<SweepSettings, 'perPage'>,
  walks: readonly WindowWalk[] = [{ ...everything, walked: [], hasEnded: false }],
): AsyncGenerator<readonly WalkedPage[], SweepVerdict> {
  const seen = new SeenDossiers();
  for (const { walked } of walks) for (const dossier of walked) seen.add(dossier);
  const counted = { pages: 0, calls: 0 };
  const takeFresh = (dossiers: readonly DossierSnapshot[]): readonly DossierSnapshot[] => {
    counted.pages += 1;
    return dossiers.filter((dossier) => seen.add(dossier));
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
    seen.forget(differences.gone);
    const fresh = differences.found.filter((dossier) => seen.add(dossier));
    if (fresh.length > 0) yield [{ place: 0, dossiers: fresh, hasEnded: true }];
  }
  const { pages } = counted;
  return { pages, dossiers: seen.size, proven: because === null, because, isListed: (id) => seen.has(id) };
}

// Whoever has gone back over so many deleted dossiers begins again at the head of the window.
const mostSteppedBack = 1_000;

/** A window that is being walked, and the last dossiers of its walk. */
interface Walker {
  place: number;
  window: CreationWindow;
  walked: string[];
  pages: AsyncGenerator<DossierPage>;
}

type Arrival = { walker: Walker } & ({ result: IteratorResult<DossierPage> } | { error: unknown });

/**
 * Walks the windows that have not ended, at most one page of each under way or not yet taken; gives whether all have come to their end.
 * What one window throws is thrown when the calls of the others have come to their end and their pages were taken.
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
      // A service that leaves the window has lost the filter on the way: it would walk the whole list for each.
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

/** Whether the service does not know the dossier after which the list was to continue (interface: `starting_after`). */
const isCursorGone = (error: unknown, walked: number): boolean =>
  (error instanceof ResponseError && error.code === 'list_cursor_gone') ||
  (error instanceof NotFoundError && walked > 0);

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
  let back = 0;
  let reached = walked.at(-1);
  for (let step = 1; ; step *= 2) {
    const cursor = walked.at(-1 - back);
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
  for (const ms of seen.times()) {
    for (const [place, { from, to }] of windows.entries())
      if (ms >= from && ms <= to) known[place] = (known[place] ?? 0) + 1;
  }
  const totals = await Promise.all(windows.map((window) => countWindow(list, window)));
  return totals.every((total, place) => total === known[place]);
}

/**
 * Compares the list with what was seen by windows of creation time: halves those whose totals differ until a walk
 * costs no more than further halving. Gives the dossiers that were seen and are listed no more (`gone`, by their place in what was seen), and
 * the listed ones that were not seen. Null where the service does not count by window, or where there is more to compare than another whole walk would be.
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
  const differences: { gone: number[]; found: DossierSnapshot[] } = { gone: [], found: [] };
  const ordered = seen.byTime();
  const maxCalls = 100 + 4 * Math.ceil(total / perPage);
  const last = ordered.at(-1);
  if (last === undefined) return null;
  // A dossier may have been committed with an earlier time of creation than any that was seen; later ones are at the head of the list.
  const end = floorToSecond(seen.timeAt(last)) + 1_000;
  const windows = all.map(({ from, to }) => ({ from, to: Math.min(to, Math.max(end, from)) }));
  for (let window = windows.pop(); window !== undefined; window = windows.pop()) {
    counted.calls += 1;
    if (counted.calls > maxCalls) return null;
    const first = await countWindow(list, window);
    if (first === null) return null;
    const known = seen.sliceWindow(ordered, window);
    if (known.length === first) continue;
    const pages = Math.ceil(Math.max(known.length, first) / perPage);
    const isWalked = 4 * Math.abs(known.length - first) >= pages || window.to - window.from <= 1_000;
    if (!isWalked) {
      const median = known[Math.floor(known.length / 2)];
      const middle = floorToSecond(median === undefined ? (window.from + window.to) / 2 : seen.timeAt(median));
      // The halves share their limit: a dossier of that very moment counts in both, and no dossier between them counts in none.
      if (middle > window.from && middle < window.to) {
        windows.push({ from: window.from, to: middle }, { from: middle, to: window.to });
        continue;
      }
    }
    const listed = new Set<string>();
    const places = new Set<number>();
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
        const place = seen.find(dossier.id);
        if (place === null) differences.found.push(dossier);
        else places.add(place);
      }
    }
    differences.gone.push(...known.filter((place) => !places.has(place)));
  }
  return differences;
}

// Each window costs a total, a last page that is not full and a call to find its limit.
const leastPagesPerWindow = 5;

/**
 * Divides the list into as many windows of about the same size as the settings want, where a call has shown that the service applies
 * `date_from` and `date_to` after a cursor; otherwise everything is one window. The most recent window is first; neighbours share their limit, so
 * that no dossier lies between two. `oneWalkBecause` says why there is one although more were wanted and would have paid; null otherwise. Throws
 * what the client throws.
 */
export async function planWindows(
  list: DossierList,
  { perPage, windows: wanted }: Pick<SweepSettings, 'perPage' | 'windows'>,
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

/** The dossiers from each of these places of the list on, a page each. Places beyond the last page number are counted from one before them. */
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

/** Says why the service does not give what follows a dossier within a window; null where it does. */
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
    // What stops a sweep has become something else on the way here.
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

/** The whole second in which an instant lies, in ms. */
const floorToSecond = (ms: number): number => Math.floor(ms / 1_000) * 1_000;

/** Whether an instant lies in a window; within the second of its end, too, where a service counts by seconds. */
const isIn = (ms: number, { from, to }: CreationWindow): boolean => ms >= from && ms < to + 1_000;

/** The query by which the service lists a window. */
const toFilter = ({ from, to }: CreationWindow): { date_from?: string; date_to?: string } => ({
  ...(from > everything.from && { date_from: new Date(from).toISOString() }),
  ...(to < everything.to && { date_to: new Date(to).toISOString() }),
});

/** How many dossiers the service lists in a window; null where it says no total. */
export async function countWindow(list: DossierList, window: CreationWindow): Promise<number | null> {
  const { data } = await list.page({ page: 1, per_page: 1, ...toFilter(window) });
  return 'total' in data ? data.total : null;
}
