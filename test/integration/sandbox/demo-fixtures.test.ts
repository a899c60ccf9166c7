import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createSearch } from '../../../src/sandbox/search-watchlist.js';
import { loadDemoWorld, readDemoControls, readExpectedChanges } from '../../helpers/small-world.js';

const demo = (name: string): string => fileURLToPath(new URL(`../../../fixtures/demo/${name}`, import.meta.url));
const readJson = async (name: string): Promise<unknown> => JSON.parse(await readFile(demo(name), 'utf8'));

const DIRTY = new Set(['C-20001', 'C-20002', 'C-20005']);
const SCORE_STEP = 0.02;

const rowsSchema = z.array(z.object({ customer_id: z.string() }).loose());
const rosterSchema = z.array(
  z.object({ customer_id: z.string(), type: z.enum(['person', 'entity']), name: z.string() }),
);
type Search = ReturnType<typeof createSearch>;
type Match = ReturnType<Search>[number];
const dossierListSchema = z.array(z.object({ id: z.string(), status: z.string() }).loose());

const differingFields = (before: Match, after: Match): string[] => {
  const fields: string[] = [];
  if (Math.abs(before.score - after.score) >= SCORE_STEP) fields.push('score');
  for (const field of ['name', 'schema', 'match', 'topics', 'birth_date', 'country'] as const) {
    if (JSON.stringify(before[field]) !== JSON.stringify(after[field])) fields.push(field);
  }
  return fields.sort();
};

const toKind = (before: Match | undefined, after: Match | undefined): string => {
  if (!before) return 'match_added';
  if (!after) return 'match_removed';
  if (before.match === after.match) return 'match_changed';
  return after.match ? 'hit_gained' : 'hit_lost';
};

const diff = (reference: string, before: readonly Match[], after: readonly Match[]) =>
  [...new Set([...before, ...after].map((match) => match.id))].flatMap((id) => {
    const old = before.find((match) => match.id === id);
    const now = after.find((match) => match.id === id);
    const fields = old && now ? differingFields(old, now) : [];
    if (old && now && fields.length === 0) return [];
    return [{ reference, kind: toKind(old, now), matchId: id, matchName: (now ?? old)?.name ?? '', fields }];
  });

describe('the demo fixtures', () => {
  let before: Search;
  let after: Search;
  let customers: z.infer<typeof rosterSchema>;

  beforeAll(async () => {
    const [first, second] = [await loadDemoWorld('before'), await loadDemoWorld('after')];
    before = createSearch(first.watchlist, first.ranking);
    after = createSearch(second.watchlist, second.ranking);
    const rows = rowsSchema.parse(parse(await readFile(demo('roster.csv'), 'utf8'), { columns: true }));
    const accepted = rosterSchema.parse(rows.filter((row) => !DIRTY.has(row.customer_id)));
    customers = [...new Map(accepted.map((row) => [row.customer_id, row])).values()];
    expect([rows.length, accepted.length, customers.length]).toEqual([500, 497, 493]);
  });

  it('change exactly the listed matches between the nights, whatever the ranks and the noise', async () => {
    const found: ReturnType<typeof diff> = [];
    let rankMoves = 0;
    let withResults = 0;
    let withHit = 0;
    for (const customer of customers) {
      const old = before(customer.type, customer.name);
      const now = after(customer.type, customer.name);
      found.push(...diff(customer.customer_id, old, now));
      if (old.length > 0) withResults += 1;
      if (old.some((match) => match.match)) withHit += 1;
      if (old.length > 1 && old[0]?.id !== now[0]?.id) rankMoves += 1;
    }
    const byPlace = (a: { reference: string; matchId: string }, b: { reference: string; matchId: string }): number =>
      `${a.reference} ${a.matchId}` < `${b.reference} ${b.matchId}` ? -1 : 1;
    const expected = await readExpectedChanges();
    expect(found.sort(byPlace)).toEqual(expected.matches.sort(byPlace));
    expect(rankMoves).toBeGreaterThan(0);
    expect(withResults).toBeGreaterThanOrEqual(40);
    expect(withResults).toBeLessThanOrEqual(70);
    expect(withHit).toBeGreaterThanOrEqual(20);
    expect(withHit).toBeLessThanOrEqual(30);
  });

  it('change exactly the listed dossiers between the nights', async () => {
    const old = dossierListSchema.parse(await readJson('dossiers-before.json'));
    const now = dossierListSchema.parse(await readJson('dossiers-after.json'));
    const found = now.flatMap((dossier) => {
      const known = old.find((candidate) => candidate.id === dossier.id);
      if (!known) return [{ dossierId: dossier.id, kind: 'dossier_appeared', from: null, to: null, fields: [] }];
      const moved = Object.keys(dossier).filter((field) => dossier[field] !== known[field]);
      if (moved.length === 0) return [];
      const fields = moved.filter((field) => field !== 'updated_at').sort();
      const isStatus = fields.includes('status');
      const kind = isStatus ? 'dossier_status_changed' : fields.length > 0 ? 'dossier_changed' : 'dossier_touched';
      return [
        {
          dossierId: dossier.id,
          kind,
          from: isStatus ? known.status : null,
          to: isStatus ? dossier.status : null,
          fields,
        },
      ];
    });
    const expected = await readExpectedChanges();
    const sortById = <T extends { dossierId: string }>(rows: T[]): T[] =>
      rows.sort((a, b) => (a.dossierId < b.dossierId ? -1 : 1));
    expect(old.every((dossier) => now.some((candidate) => candidate.id === dossier.id))).toBe(true);
    expect(sortById(found)).toEqual(sortById(expected.dossiers));
  });

  it('have controls that are no customers and answer alike on both nights', async () => {
    for (const control of await readDemoControls()) {
      expect(customers.some((customer) => customer.name === control.name)).toBe(false);
      for (const night of [before, after]) {
        const results = night(control.type, control.name);
        expect(results.some((match) => match.match)).toBe(control.expect === 'match');
        if (control.expect === 'none') expect(results).toEqual([]);
      }
    }
  });
});
