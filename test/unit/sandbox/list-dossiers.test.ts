import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDossierList } from '../../../src/sandbox/dossier-book.js';
import { dossier } from './world-samples.js';

type ListDossiers = ReturnType<typeof createDossierList>;

const idsOf = (list: ListDossiers, query: Record<string, string>): string[] => {
  const page = list(query);
  if ('problem' in page) throw new Error(page.problem);
  return page.dossiers.map((row) => row.id);
};

const walkPages = (list: ListDossiers, perPage: number): string[] => {
  const ids: string[] = [];
  for (let page = 1; ; page += 1) {
    const found = idsOf(list, { page: String(page), per_page: String(perPage) });
    if (found.length === 0) return ids;
    ids.push(...found);
  }
};

const walkKeys = (list: ListDossiers, perPage: number): string[] => {
  const ids = idsOf(list, { per_page: String(perPage) });
  let cursor = ids.at(-1);
  while (cursor !== undefined) {
    const page = list({ per_page: String(perPage), starting_after: cursor });
    if (!('has_more' in page)) throw new Error('not a keyset page');
    ids.push(...page.dossiers.map((row) => row.id));
    cursor = page.has_more ? (page.next_cursor ?? undefined) : undefined;
  }
  return ids;
};

describe('listing dossiers', () => {
  const list = createDossierList([
    dossier('a', { created_at: '2026-01-01T00:00:00Z', status: 'open' }),
    dossier('b', { created_at: '2026-03-01T00:00:00Z', type: 'kyb', name: 'Quarry Ltd' }),
    dossier('d', { created_at: '2026-02-01T01:00:00+01:00' }),
    dossier('c', { created_at: '2026-02-01T00:00:00Z' }),
  ]);

  it('gives the most recent first and those of one instant by id, whatever the offset of the time', () => {
    expect(idsOf(list, {})).toEqual(['dossier_b', 'dossier_c', 'dossier_d', 'dossier_a']);
  });

  it('shows every dossier exactly once in both paging modes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 100 }),
        (days, perPage) => {
          const rows = days.map((day, key) => dossier(`k${key}`, { created_at: `2026-01-0${day + 1}T00:00:00Z` }));
          const many = createDossierList(rows);
          const pages = walkPages(many, perPage);
          expect(walkKeys(many, perPage)).toEqual(pages);
          expect([...pages].sort()).toEqual(rows.map((row) => row.id).sort());
        },
      ),
      { numRuns: 60 },
    );
  });

  it('answers offset pages with totals and keyset pages with a cursor instead', () => {
    expect(list({ per_page: '3' })).toMatchObject({ page: 1, per_page: 3, total: 4, total_pages: 2 });
    const page = list({ per_page: '1', starting_after: 'dossier_b', page: '5000' });
    expect(page).toMatchObject({ has_more: true, next_cursor: 'dossier_c' });
    expect(page).not.toHaveProperty('total');
    expect(page).not.toHaveProperty('page');
  });

  it('takes an unknown cursor for the end of the list', () => {
    expect(list({ starting_after: 'dossier_gone' })).toMatchObject({
      dossiers: [],
      has_more: false,
      next_cursor: null,
    });
  });

  it('combines filters and keeps them while paging by cursor', () => {
    expect(idsOf(list, { type: 'kyb' })).toEqual(['dossier_b']);
    expect(idsOf(list, { status: 'open' })).toEqual(['dossier_a']);
    expect(idsOf(list, { search: 'qUARRY' })).toEqual(['dossier_b']);
    expect(idsOf(list, { search: 'c-d' })).toEqual(['dossier_d']);
    expect(idsOf(list, { search: 'tokena' })).toEqual(['dossier_a']);
    expect(idsOf(list, { date_from: '2026-02-01T00:00:00Z', date_to: '2026-02-01T00:00:00Z' })).toEqual([
      'dossier_c',
      'dossier_d',
    ]);
    expect(idsOf(list, { starting_after: 'dossier_b', status: 'open' })).toEqual(['dossier_a']);
  });

  it.each([
    { page: '0' },
    { page: '1001' },
    { page: 'x' },
    { per_page: '0' },
    { per_page: '101' },
    { per_page: '1.5' },
    { status: 'lost' },
    { type: 'kyx' },
    { date_from: 'yesterday' },
  ])('refuses %o', (query) => {
    expect(list(Object.fromEntries(Object.entries(query)))).toHaveProperty('problem');
  });
});
