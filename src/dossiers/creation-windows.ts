import type { DossierPage, DossierSummary, Dossiers } from '../client/dossiers.js';
import { ApiError, ResponseError } from '../errors.js';

/** The most that the service gives. */
export const mostPerPage = 100;

/** The part of the client that a sweep needs (interface: GET /dossiers). */
export type DossierList = Pick<Dossiers, 'page' | 'pages'>;

/** A span of creation time in ms, by whole seconds; both ends belong to it, as in the interface. 0 and Infinity are open ends. */
export interface CreationWindow {
  from: number;
  to: number;
}

export const everything: CreationWindow = { from: 0, to: Number.POSITIVE_INFINITY };

// Each window costs three more calls: its total, a last page that is not full, and the search of its limit.
const leastPagesPerWindow = 5;

/**
 * Divides the list into the configured number of windows of about the same size, if a probe shows that the service applies `date_from` and
 * `date_to` after a cursor; otherwise there is one window. The most recent window is first. Neighbours share their limit, so that no dossier is
 * between two. `oneWalkBecause` is why there is one window although more would be faster. Throws what the client throws.
 */
export async function planWindows(
  list: DossierList,
  { perPage = mostPerPage, windows: wanted }: { perPage?: number; windows: number },
) {
  const oneWalk = (oneWalkBecause: string | null) => ({ windows: [everything], oneWalkBecause });
  if (wanted === 1) return oneWalk(null);
  const total = await countWindow(list, everything);
  if (total === null) return oneWalk('the service gives no total');
  const count = Math.min(wanted, Math.floor(total / perPage / leastPagesPerWindow));
  if (count < 2) return oneWalk(null);
  const offsets = Array.from({ length: count - 1 }, (_, index) => Math.round(((index + 1) * total) / count));
  const pages = await readOffsets(list, perPage, offsets);
  const because = await probeFilter(list, perPage, pages[Math.floor(pages.length / 2)] ?? []);
  if (because !== null) return oneWalk(because);
  const limits = [...new Set(pages.map(([first]) => toSecond(first)))].toSorted((left, right) => right - left);
  const ends = [everything.to, ...limits];
  return { windows: ends.map((to, index) => ({ from: limits[index] ?? everything.from, to })), oneWalkBecause: null };
}

type Rows = readonly [DossierSummary, ...DossierSummary[]];

// The interface's greatest page number.
const maxPage = 1_000;

/**
 * Reads one page of dossiers at each of these offsets in the list, in their order. Where page numbers end, offsets are counted from an earlier
 * dossier: the window then begins with it.
 */
async function readOffsets(list: DossierList, perPage: number, offsets: readonly number[]): Promise<readonly Rows[]> {
  const found: Rows[] = [];
  let base = { offset: 0, window: everything };
  let rest = offsets;
  while (rest.length > 0) {
    const reachable = rest.filter((offset) => offset - base.offset < maxPage * perPage);
    // If none is reachable, the last page number gives a dossier from which to count on.
    const isJump = reachable.length === 0;
    const asked = isJump ? [base.offset + (maxPage - 1) * perPage] : reachable;
    const pages = await Promise.all(
      asked.map(async (offset): Promise<readonly DossierSummary[]> => {
        const page = Math.floor((offset - base.offset) / perPage) + 1;
        return (await list.page({ ...toFilter(base.window), page, per_page: perPage })).data.dossiers;
      }),
    );
    const filled = pages.filter(isFilled);
    if (!isJump) found.push(...filled);
    const [last, offset] = [filled.at(-1)?.[0], asked.at(-1)];
    // The list has become shorter.
    if (filled.length < pages.length || last === undefined || offset === undefined) break;
    base = { offset, window: { ...everything, to: toSecond(last) } };
    rest = rest.slice(reachable.length);
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

export const floorToSecond = (ms: number): number => Math.floor(ms / 1_000) * 1_000;

/** Whether an instant is in a window, the whole last second included, because a service may count in seconds. */
export const isIn = (ms: number, { from, to }: CreationWindow): boolean => ms >= from && ms < to + 1_000;

/** The query parameters of a window. */
export const toFilter = ({ from, to }: CreationWindow): { date_from?: string; date_to?: string } => ({
  ...(from > everything.from && { date_from: new Date(from).toISOString() }),
  ...(to < everything.to && { date_to: new Date(to).toISOString() }),
});

/** The number of dossiers in a window; null if the service gives no total. */
export async function countWindow(list: DossierList, window: CreationWindow): Promise<number | null> {
  const { data } = await list.page({ page: 1, per_page: 1, ...toFilter(window) });
  return 'total' in data ? data.total : null;
}
