import { expect, test } from 'vitest';
import { walkDossierPages } from '../../../src/client/dossiers.js';
import { countWindow, type DossierList, planWindows } from '../../../src/dossiers/creation-windows.js';
import type { DossierSnapshot } from '../../../src/dossiers/dossier.js';
import { sweepDossiers } from '../../../src/dossiers/sweep-dossiers.js';
import { createDossierList } from '../../../src/sandbox/dossier-book.js';
import type { SandboxDossier } from '../../../src/sandbox/world.js';
import { isFullSize, printFigure } from '../../helpers/figures.js';
import { buildSandboxDossier } from '../../helpers/small-world.js';

const range = (from: number, to: number): SandboxDossier[] =>
  Array.from({ length: to - from + 1 }, (_, index) => buildSandboxDossier(from + index));

/** The service's dossiers, which a test changes. */
interface ServiceList {
  put(dossier: SandboxDossier): void;
  remove(id: string): void;
}

/** The service's list without a network; `onCall` changes the list before the call of that number, `endsEarly` gives an empty page for every cursor. */
function serve(
  initial: readonly SandboxDossier[],
  { onCall, endsEarly = false }: ServiceOptions = {},
): { list: DossierList; calls: () => number } {
  const held = new Map(initial.map((dossier) => [dossier.id, dossier]));
  let served = createDossierList(initial);
  const change = (act: () => void): void => {
    act();
    served = createDossierList([...held.values()]);
  };
  const changing: ServiceList = {
    put: (dossier) => change(() => held.set(dossier.id, dossier)),
    remove: (id) => change(() => held.delete(id)),
  };
  let calls = 0;
  const page: DossierList['page'] = async (query) => {
    calls += 1;
    onCall?.(calls, changing);
    const asked = Object.fromEntries(Object.entries(query).map(([key, value]) => [key, String(value)]));
    const shown = endsEarly && query.starting_after !== undefined ? { ...empty } : served(asked);
    if ('problem' in shown) throw new Error(shown.problem);
    return { status: 200, headers: {}, body: '', requestId: undefined, attempts: 1, data: shown };
  };
  return { list: { page, pages: (query = {}) => walkDossierPages(page, query) }, calls: () => calls };
}

interface ServiceOptions {
  onCall?: (call: number, list: ServiceList) => void;
  endsEarly?: boolean;
}

const empty = { dossiers: [], per_page: 20, has_more: false, next_cursor: null };

/** Sweeps the list; where `breaksOff` says so after a page, a new sweep goes on with what has been yielded until then. */
async function sweep(list: DossierList, windows = 1, breaksOff = () => false) {
  const plan = await planWindows(list, { perPage: 20, windows });
  const walks = plan.windows.map((window) => ({ ...window, walked: [] as DossierSnapshot[], hasEnded: false }));
  let walk = sweepDossiers(list, { perPage: 20 }, walks);
  const seen: string[] = [];
  let next = await walk.next();
  for (; !next.done; next = await walk.next()) {
    for (const { windowIndex, dossiers, hasEnded } of next.value) {
      seen.push(...dossiers.map(({ id }) => id));
      const window = walks[windowIndex];
      window?.walked.push(...dossiers);
      if (window) window.hasEnded ||= hasEnded;
    }
    if (breaksOff()) walk = sweepDossiers(list, { perPage: 20 }, structuredClone(walks));
  }
  return { seen, verdict: next.value, windows: walks.length, oneWalkBecause: plan.oneWalkBecause };
}

test('a service that ends the list at every cursor leaves the sweep unproven', async () => {
  const { list, calls } = serve(range(1, 200), { endsEarly: true });
  const { verdict } = await sweep(list);
  expect(verdict).toMatchObject({ proven: false, because: 'the walk saw 20 dossiers where the list counts 200' });
  expect(calls()).toBeLessThan(250);
});

test('a quiet list costs one call for each page and one more for the head', async () => {
  const { list, calls } = serve(range(1, 1_000));
  expect((await sweep(list)).verdict).toMatchObject({ proven: true, dossiers: 1_000 });
  expect(calls()).toBe(51);
});

test('deletions during the walk leave it proven, and what was deleted counts as not listed', async () => {
  const doomed = new Set([3, 150, 151, 152, 480, 777, 999].map((number) => buildSandboxDossier(number).id));
  const { list } = serve(range(1, 1_000), {
    onCall: (call, { remove }) => {
      if (call === 40) doomed.forEach(remove);
    },
  });
  const { verdict } = await sweep(list);
  expect(verdict).toMatchObject({ proven: true, dossiers: 993 });
  expect([...doomed].filter(verdict.isListed)).toEqual([]);
});

test('a dossier that is committed late, with an earlier time of creation, is found', async () => {
  const late = buildSandboxDossier(990);
  const { list } = serve(
    range(1, 1_000).filter(({ id }) => id !== late.id),
    {
      onCall: (call, { put }) => {
        if (call === 30) put(late);
      },
    },
  );
  const { seen, verdict } = await sweep(list);
  expect(verdict).toMatchObject({ proven: true, dossiers: 1_000 });
  expect(seen).toContain(late.id);
});

test('a dossier that is deleted while the walk stands on it costs one more call', async () => {
  const { list, calls } = serve(range(1, 200), {
    // The last one of the second page: 200 - 39.
    onCall: (call, { remove }) => {
      if (call === 3) remove(buildSandboxDossier(161).id);
    },
  });
  const { seen, verdict } = await sweep(list);
  expect(verdict).toMatchObject({ proven: true, dossiers: 199 });
  expect(new Set(seen).size).toBe(seen.length);
  expect(calls()).toBeLessThan(35);
});

test('windows are walked at once, a page of each at a time, and cost little more calls than one walk', async () => {
  let underWay = 0;
  let most = 0;
  const { list, calls } = serve(range(1, 2_000));
  const page: DossierList['page'] = async (query) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise(setImmediate);
    underWay -= 1;
    return list.page(query);
  };
  const slow: DossierList = { page, pages: (query = {}) => walkDossierPages(page, query) };
  const { seen, verdict, windows } = await sweep(slow, 8);
  expect({ ...verdict, windows }).toMatchObject({ proven: true, dossiers: 2_000, windows: 8 });
  expect(new Set(seen).size).toBe(2_000);
  expect(most).toBe(8);
  // 100 pages, for each window a total, a limit and a last page that is not full, and the total, the probe and the head.
  expect(calls()).toBeLessThanOrEqual(100 + 3 * 8 + 3);
});

test('windows beyond the last page number are found from one before them', async () => {
  const { list } = serve(range(1, 8_000));
  // By pages of two, page 1000 reaches place 2000.
  const plan = await planWindows(list, { perPage: 2, windows: 3 });
  const counts = await Promise.all(plan.windows.map((window) => countWindow(list, window)));
  expect(counts.map((count) => Math.round((count ?? 0) / 10))).toEqual([267, 267, 267]);
});

test.each([
  ['filters after a cursor', false, 'does not apply date_from and date_to after'],
  ['a cursor where there are filters', true, 'does not apply starting_after where'],
])('a service that ignores %s is read in one walk, with the reason', async (_, isCursorLost, because) => {
  const { list } = serve(range(1, 1_000));
  const head = buildSandboxDossier(1_000).id;
  const page: DossierList['page'] = ({ date_from, date_to, ...query }) => {
    const filter = { ...(date_from && { date_from }), ...(date_to && { date_to }) };
    if (query.starting_after === undefined || (date_from ?? date_to) === undefined) {
      return list.page({ ...query, ...filter });
    }
    return list.page(isCursorLost ? { ...query, ...filter, starting_after: head } : query);
  };
  const service: DossierList = { page, pages: (query = {}) => walkDossierPages(page, query) };
  const { verdict, windows, oneWalkBecause } = await sweep(service, 4);
  expect({ ...verdict, windows }).toMatchObject({ proven: true, dossiers: 1_000, windows: 1 });
  expect(oneWalkBecause).toContain(because);
});

test('a service that forgets the filters amid the walk leaves it unproven, or proven by what it counts', async () => {
  const { list, calls } = serve(range(1, 1_000));
  let cursors = 0;
  const page: DossierList['page'] = (query) => {
    cursors += query.starting_after === undefined ? 0 : 1;
    const { date_from, date_to, ...rest } = query;
    return list.page(cursors > 10 && query.starting_after !== undefined ? rest : query);
  };
  const { seen, verdict } = await sweep({ page, pages: (query = {}) => walkDossierPages(page, query) }, 4);
  expect(new Set(seen).size).toBe(seen.length);
  expect(verdict.proven && verdict.dossiers !== 1_000).toBe(false);
  expect(calls()).toBeLessThan(400);
});

const seeds = Array.from({ length: isFullSize ? 1_000 : 20 }, (_, seed) => seed + 1);

test.each([1, 4])(
  'inserts, deletions, changes and late commits at random in %i windows, broken off at random: none missed, none twice, none wrongly gone',
  async (windows) => {
    let proven = 0;
    for (const seed of seeds) proven += (await playRandomSweep(seed, windows)) ? 1 : 0;
    printFigure(`${seeds.length} random sweeps in ${windows} windows: ${proven} proven`);
    expect(proven).toBeGreaterThan(seeds.length * 0.7);
  },
);

/** During a sweep anything may happen to the list; what existed throughout is seen once and listed at the end. Gives whether it is proven. */
async function playRandomSweep(seed: number, windows: number): Promise<boolean> {
  const random = createRandom(seed);
  const all = range(1, 400);
  const held = all.filter(() => random() < 0.75);
  const untouched = new Map(held.map((dossier) => [dossier.id, dossier]));
  const deleted = new Set<string>();
  const { list } = serve(held, {
    onCall: (_, { put, remove }) => {
      if (random() < 0.6) return;
      const isInsert = random() < 0.5;
      const victim = all[Math.floor(random() * all.length)];
      if (victim === undefined || deleted.has(victim.id)) return;
      if (isInsert) {
        put({ ...victim, status: 'rejected' });
        return;
      }
      untouched.delete(victim.id);
      deleted.add(victim.id);
      remove(victim.id);
    },
  });
  const { seen, verdict } = await sweep(list, windows, () => random() < 0.1);
  const missed = [...untouched.keys()].filter((id) => !seen.includes(id));
  const wronglyGone = verdict.proven ? [...untouched.keys()].filter((id) => !verdict.isListed(id)) : [];
  const twice = seen.length - new Set(seen).size;
  expect({ seed, missed, wronglyGone, twice }).toEqual({ seed, missed: [], wronglyGone: [], twice: 0 });
  return verdict.proven;
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
