import { z } from 'zod';
import type { DossierPage, DossierSummary, Dossiers } from '../client/dossiers.js';
import { ApiError, ResponseError } from '../errors.js';

/** The part of the client that a sweep needs (interface: GET /dossiers). */
export type DossierList = Pick<Dossiers, 'page' | 'pages'>;

/** A span of creation time in ms, by whole seconds; both ends belong to it, as in the interface. 0 and Infinity are open ends. */
export interface CreationWindow {
  from: number;
  to: number;
}

/** The window that leaves nothing out. */
export const everything: CreationWindow = { from: 0, to: Number.POSITIVE_INFINITY };

/** The windows of a sweep, most recent first; neighbours share their limit, so that no dossier lies between two. */
interface WindowPlan {
  windows: readonly CreationWindow[];
  /** Why there is one walk although more were wanted and would have paid; null otherwise. */
  oneWalkBecause: string | null;
}

// Each window costs a total, a last page that is not full and a call to find its limit.
const leastPagesPerWindow = 5;

/**
 * Divides the list into as many windows of about the same size as the settings want, where a call has shown that the service applies
 * `date_from` and `date_to` after a cursor; otherwise everything is one window. Throws what the client throws.
 */
export async function planWindows(
  list: DossierList,
  { perPage, windows: wanted }: Pick<SweepSettings, 'perPage' | 'windows'>,
): Promise<WindowPlan> {
  const oneWalk = (oneWalkBecause: string | null): WindowPlan => ({ windows: [everything], oneWalkBecause });
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
export const floorToSecond = (ms: number): number => Math.floor(ms / 1_000) * 1_000;

/** Whether an instant lies in a window; within the second of its end, too, where a service counts by seconds. */
export const isIn = (ms: number, { from, to }: CreationWindow): boolean => ms >= from && ms < to + 1_000;

/** The query by which the service lists a window. */
export const toFilter = ({ from, to }: CreationWindow): { date_from?: string; date_to?: string } => ({
  ...(from > everything.from && { date_from: new Date(from).toISOString() }),
  ...(to < everything.to && { date_to: new Date(to).toISOString() }),
});

/** How many dossiers the service lists in a window; null where it says no total. */
export async function countWindow(list: DossierList, window: CreationWindow): Promise<number | null> {
  const { data } = await list.page({ page: 1, per_page: 1, ...toFilter(window) });
  return 'total' in data ? data.total : null;
}

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
