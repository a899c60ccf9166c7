import { createHash } from 'node:crypto';
import type { DossierPage } from '../client/dossiers.js';
import { NotFoundError, ResponseError } from '../errors.js';
import {
  type CreationWindow,
  countWindow,
  type DossierList,
  everything,
  floorToSecond,
  isIn,
  type SweepSettings,
  toFilter,
} from './creation-windows.js';
import { type DossierSnapshot, toDossierSnapshot } from './dossier.js';

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

/** Dossiers that were seen and are listed no more, by their place in what was seen, and listed ones that were not seen. */
interface Differences {
  gone: number[];
  found: DossierSnapshot[];
}

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
 * costs no more than further halving. Null where the service does not count by window, or where there is more to compare than another whole walk would be.
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
): Promise<Differences | null> {
  const differences: Differences = { gone: [], found: [] };
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

/**
 * What a sweep has seen, in 32 bytes a dossier where ids in a map take 100: by 64 bits of the SHA-256 of its id, which two dossiers share in one
 * of forty million lists of a million. One of such two would be missing from the count, and the sweep unproven.
 */
class SeenDossiers {
  size = 0;
  #used = 0;
  #keys = new BigUint64Array(1_024);
  // When it was created, in ms; NaN where it is listed no more.
  #times = new Float64Array(1_024);

  has(id: string): boolean {
    return this.find(id) !== null;
  }

  /** Where a dossier is kept until the next one is added; null where it was not seen. */
  find(id: string): number | null {
    const slot = this.#locate(toKey(id));
    return this.#keys[slot] === 0n || Number.isNaN(this.timeAt(slot)) ? null : slot;
  }

  /** Gives whether it was not there. */
  add({ id, createdAt }: { id: string; createdAt: string }): boolean {
    if (2 * this.#used >= this.#keys.length) this.#grow();
    const key = toKey(id);
    const slot = this.#locate(key);
    const isNew = this.#keys[slot] === 0n;
    if (!isNew && !Number.isNaN(this.timeAt(slot))) return false;
    this.#keys[slot] = key;
    this.#times[slot] = Date.parse(createdAt);
    this.#used += isNew ? 1 : 0;
    this.size += 1;
    return true;
  }

  forget(slots: readonly number[]): void {
    for (const slot of slots) {
      if (Number.isNaN(this.timeAt(slot))) continue;
      this.#times[slot] = Number.NaN;
      this.size -= 1;
    }
  }

  timeAt(slot: number): number {
    return this.#times[slot] ?? Number.NaN;
  }

  /** Where each dossier is kept, by time of creation. */
  byTime(): Uint32Array {
    const slots = new Uint32Array(this.size);
    let count = 0;
    for (const slot of this.#keys.keys()) {
      if (!this.#isHeld(slot)) continue;
      slots[count] = slot;
      count += 1;
    }
    return slots.sort((left, right) => this.timeAt(left) - this.timeAt(right));
  }

  *times(): Generator<number> {
    for (const slot of this.#keys.keys()) if (this.#isHeld(slot)) yield this.timeAt(slot);
  }

  /** The part of what is ordered by time that lies in a window. */
  sliceWindow(ordered: Uint32Array, { from, to }: CreationWindow): Uint32Array {
    const countBefore = (ms: number): number => {
      let [low, high] = [0, ordered.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.timeAt(ordered[middle] ?? 0) < ms) low = middle + 1;
        else high = middle;
      }
      return low;
    };
    return ordered.subarray(countBefore(from), countBefore(to + 1));
  }

  #isHeld(slot: number): boolean {
    return this.#keys[slot] !== 0n && !Number.isNaN(this.timeAt(slot));
  }

  /** Where a key is, or the empty slot that is for it. */
  #locate(key: bigint): number {
    const keys = this.#keys;
    let slot = Number(key & BigInt(keys.length - 1));
    while (keys[slot] !== 0n && keys[slot] !== key) slot = (slot + 1) % keys.length;
    return slot;
  }

  #grow(): void {
    const [keys, times] = [this.#keys, this.#times];
    this.#keys = new BigUint64Array(2 * keys.length);
    this.#times = new Float64Array(2 * keys.length);
    for (const [from, key] of keys.entries()) {
      if (key === 0n) continue;
      const slot = this.#locate(key);
      this.#keys[slot] = key;
      this.#times[slot] = times[from] ?? Number.NaN;
    }
  }
}

/** Never 0, which is an empty slot. */
const toKey = (id: string): bigint => createHash('sha256').update(id).digest().readBigUInt64LE() || 1n;
