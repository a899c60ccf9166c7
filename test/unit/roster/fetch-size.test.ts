import { describe, expect, it } from 'vitest';
import { sizeNextFetch } from '../../../src/roster/postgres-table.js';

const mega = 1024 * 1024;

describe('the size of the next fetch', () => {
  it('is what holds about 4 million characters, at least one row, at most 500 and four times as many as before', () => {
    const rows = (count: number, width: number) => Array.from({ length: count }, () => ['x'.repeat(width), null]);
    expect(sizeNextFetch(rows(10, 20))).toBe(40);
    expect(sizeNextFetch(rows(400, 20))).toBe(500);
    expect(sizeNextFetch(rows(500, 20_000))).toBe(209);
    expect(sizeNextFetch(rows(10, 320_000))).toBe(13);
    expect(sizeNextFetch(rows(1, 5 * mega))).toBe(1);
    expect(sizeNextFetch([[null]])).toBe(4);
  });
});
