import { expect, test } from 'vitest';
import { walkDossierPages } from '../../../src/client/resources/walk-dossier-pages.js';
import { type DossierList, sweepDossiers } from '../../../src/dossiers/sweep-dossiers.js';
import { createDossierList } from '../../../src/sandbox/dossiers/list-dossiers.js';
import type { SandboxDossier } from '../../../src/sandbox/world.js';
import { buildSandboxDossier } from '../../helpers/small-world.js';

const range = (from: number, to: number): SandboxDossier[] =>
  Array.from({ length: to - from + 1 }, (_, index) => buildSandboxDossier(from + index));

/** The service's list without a network; `onCall` changes the list before the call of that number, `endsEarly` gives an empty page for every cursor. */
function serve(
  initial: readonly SandboxDossier[],
  { onCall = () => undefined, endsEarly = false }: ServiceOptions = {},
): { list: DossierList; calls: () => number } {
  let dossiers = initial;
  let calls = 0;
  const page: DossierList['page'] = async (query) => {
    calls += 1;
    dossiers = onCall(calls, dossiers) ?? dossiers;
    const asked = Object.fromEntries(Object.entries(query).map(([key, value]) => [key, String(value)]));
    const shown = endsEarly && query.starting_after !== undefined ? { ...empty } : createDossierList(dossiers)(asked);
    if ('problem' in shown) throw new Error(shown.problem);
    return { status: 200, headers: {}, body: '', requestId: undefined, attempts: 1, data: shown };
  };
  return { list: { page, pages: (query = {}) => walkDossierPages(page, query) }, calls: () => calls };
}

interface ServiceOptions {
  onCall?: (call: number, dossiers: readonly SandboxDossier[]) => readonly SandboxDossier[] | undefined;
  endsEarly?: boolean;
}

const empty = { dossiers: [], per_page: 20, has_more: false, next_cursor: null };

async function sweep(list: DossierList) {
  const walk = sweepDossiers(list, { perPage: 20 });
  const seen: string[] = [];
  let next = await walk.next();
  for (; !next.done; next = await walk.next()) seen.push(...next.value.map(({ id }) => id));
  return { seen, verdict: next.value };
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
    onCall: (call, dossiers) => (call === 40 ? dossiers.filter(({ id }) => !doomed.has(id)) : undefined),
  });
  const { verdict } = await sweep(list);
  expect(verdict).toMatchObject({ proven: true, dossiers: 993 });
  expect([...doomed].filter(verdict.isListed)).toEqual([]);
});

test('a dossier that is committed late, with an earlier time of creation, is found', async () => {
  const late = buildSandboxDossier(990);
  const { list } = serve(
    range(1, 1_000).filter(({ id }) => id !== late.id),
    { onCall: (call, dossiers) => (call === 30 ? [...dossiers, late] : undefined) },
  );
  const { seen, verdict } = await sweep(list);
  expect(verdict).toMatchObject({ proven: true, dossiers: 1_000 });
  expect(seen).toContain(late.id);
});

test('a dossier that is deleted while the walk stands on it costs one more call', async () => {
  const { list, calls } = serve(range(1, 200), {
    // The last one of the second page: 200 - 39.
    onCall: (call, dossiers) =>
      call === 3 ? dossiers.filter(({ id }) => id !== buildSandboxDossier(161).id) : undefined,
  });
  const { seen, verdict } = await sweep(list);
  expect(verdict).toMatchObject({ proven: true, dossiers: 199 });
  expect(new Set(seen).size).toBe(seen.length);
  expect(calls()).toBeLessThan(35);
});

test.each(Array.from({ length: 100 }, (_, seed) => seed + 1))(
  'inserts, deletions, changes and late commits at random, seed %i: none missed, none twice, none wrongly gone',
  async (seed) => {
    await playRandomSweep(seed);
  },
);

/** During a sweep anything may happen to the list; what existed throughout is seen once and listed at the end. */
async function playRandomSweep(seed: number): Promise<void> {
  const random = createRandom(seed);
  const all = range(1, 400);
  const held = all.filter(() => random() < 0.75);
  const untouched = new Map(held.map((dossier) => [dossier.id, dossier]));
  const deleted = new Set<string>();
  const { list } = serve(held, {
    onCall: (_, dossiers) => {
      if (random() < 0.6) return undefined;
      const isInsert = random() < 0.5;
      const victim = all[Math.floor(random() * all.length)];
      if (victim === undefined) return undefined;
      const without = dossiers.filter(({ id }) => id !== victim.id);
      if (deleted.has(victim.id)) return undefined;
      if (isInsert) return [...without, { ...victim, status: 'rejected' }];
      untouched.delete(victim.id);
      deleted.add(victim.id);
      return without;
    },
  });
  const { seen, verdict } = await sweep(list);
  expect(new Set(seen).size).toBe(seen.length);
  expect([...untouched.keys()].filter((id) => !seen.includes(id))).toEqual([]);
  if (verdict.proven) expect([...untouched.keys()].filter((id) => !verdict.isListed(id))).toEqual([]);
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
