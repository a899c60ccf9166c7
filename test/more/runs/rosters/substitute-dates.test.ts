import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { reportJsonSchema } from '../../../../src/reports/report-json.js';
import { previewImport } from '../../../../src/runs/preview.js';
import { type Database, findValue } from '../../../../src/store/database/database.js';
import { sql } from '../../../../src/store/database/statement.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { openRosterNights, type RosterNight, readChanges } from '../../../helpers/roster-nights.js';
import { openSmallSites } from '../../../helpers/small-site.js';
import { fileOf, watchlist } from '../../../helpers/small-world.js';

const header = 'customer_id,type,name,birth_date,end_date';
const dayMs = 86_400_000;
const { signal } = new AbortController();

/** Rows of customers, whose birth date and end date `toDates` gives. */
const rowsOf = (id: string, count: number, toDates: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => `${id}-${index},person,Customer ${id} ${index},${toDates(index)}`);
const toBirth = (index: number): string => `19${50 + (index % 40)}-0${1 + (index % 9)}-${10 + (index % 19)}`;

describeOnPostgres('a substitute for a date', (open) => {
  const begin = openSmallSites(open);
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  const countLeft = async (id: string): Promise<number> => {
    const left = await findValue(
      database,
      z.number(),
      sql`select count(*)::integer as left from customer where reference like ${id} || '-%' and left_at is not null`,
    );
    return left ?? -1;
  };
  const readBirthDate = async (reference: string): Promise<unknown> => {
    return findValue(
      database,
      z.unknown(),
      sql`select version.record #> '{parties,0,birthDate}' as born from customer join customer_version version using (customer_id, version)
       where customer.reference = ${reference}`,
    );
  };
  const openNights = async (roster: string) => {
    const nights = await openRosterNights(database, roster);
    const play = async (night: Pick<RosterNight, 'rows'> & Partial<RosterNight>) =>
      (await nights.play({ header, ...night })).snapshot;
    return { ...nights, play };
  };

  it('as an end date offboards nobody on any night, and the real one does on the night after', async () => {
    const nights = await openNights('ends');
    const night = (second: string) =>
      rowsOf('E', 30, (index) => `${toBirth(index)},${index < 10 ? '1900-01-01' : index === 10 ? second : ''}`);
    const values = [{ value: '1900-01-01', why: 'substitute_date', rows: 10 }];
    expect(await nights.play({ rows: night('') })).toMatchObject({
      leavers: 0,
      joined: 30,
      doubts: [{ column: 'end_date', field: 'endDate', read: 0, doubts: 10, values }],
    });
    expect(await nights.play({ rows: night('2026-01-31') })).toMatchObject({
      leavers: 1,
      doubts: [{ read: 1, doubts: 10 }],
    });
    expect(await nights.play({ rows: night('2026-01-31') })).toMatchObject({ leavers: 0, returned: 0, changed: 0 });
    expect(await countLeft('E')).toBe(1);
    // Who has left is searched for again once the row says nothing certain.
    expect(await nights.play({ rows: night('1900-01-01') })).toMatchObject({ leavers: 0, returned: 1 });
    await nights.close();
  });

  it('may be any past end date that too many customers would leave by at once, until it is named as real', async () => {
    const nights = await openNights('shared');
    const rows = rowsOf(
      'S',
      60,
      (index) => `${toBirth(index)},${index < 10 ? '2024-05-05' : index < 14 ? '2025-12-31' : ''}`,
    );
    const doubts = [
      { column: 'end_date', read: 4, doubts: 10, values: [{ value: '2024-05-05', why: 'frequent_date', rows: 10 }] },
    ];
    const { app, settings } = await nights.prepare({ header, rows });
    expect(await previewImport(app, settings, signal)).toMatchObject({ counts: { leavers: 4 }, doubts });
    expect(await nights.play({ rows })).toMatchObject({ leavers: 4, doubts });
    expect(await nights.play({ rows, day: 1 })).toMatchObject({ leavers: 0, returned: 0, doubts });
    expect(await countLeft('S')).toBe(4);
    const realDates = ['2024-05-05'];
    expect(await nights.play({ rows, columns: { realDates } })).toMatchObject({ leavers: 10, doubts: [] });
    // Who has left stays so, and does not count again.
    expect(await nights.play({ rows })).toMatchObject({ leavers: 0, returned: 0, doubts: [] });
    const gone = rowsOf('D', 6, () => ',2026-11-01');
    const delta = [...gone.slice(0, 5), ...rows.slice(20, 26).map((row) => `${row}2026-11-01`)];
    // Eleven of 57 customers.
    expect(await nights.play({ rows: delta, isDelta: true })).toMatchObject({ leavers: 0, doubts: [{ doubts: 11 }] });
    expect(await nights.play({ rows: gone, isDelta: true, columns: { realDates: ['2026-11-01'] } })).toMatchObject({
      leavers: 6,
    });
    await nights.close();
  });

  it('may be any birth date that too many customers have: it is kept as uncertain, and comes to rest', async () => {
    const nights = await openNights('births');
    const night = (fifth: string) =>
      rowsOf('B', 40, (index) => `${index === 5 ? fifth : index < 10 ? '1975-06-15' : toBirth(index)},`);
    const doubts = [
      { column: 'birth_date', read: 30, doubts: 10, values: [{ value: '1975-06-15', why: 'frequent_date', rows: 10 }] },
    ];
    const plain = rowsOf('B', 40, (index) => `${toBirth(index)},`);
    expect(await nights.play({ rows: plain })).toMatchObject({ joined: 40, doubts: [] });
    expect(await nights.play({ rows: night('1975-06-15') })).toMatchObject({ changed: 10, doubts });
    expect(await readBirthDate('B-5')).toBe('1975-06-15?');
    expect(await nights.play({ rows: night('1975-06-15') })).toMatchObject({ changed: 0, doubts });
    const changes = (await readChanges(database)).filter((line) => line.includes(' B-5 '));
    expect(changes).toEqual([expect.stringContaining('joined'), expect.stringMatching(/changed birth_date$/)]);
    // A delta is judged by the last whole roster.
    const one = night('1975-06-15').slice(5, 6);
    expect(await nights.play({ rows: one, isDelta: true })).toMatchObject({
      changed: 0,
      doubts: [{ doubts: 1, values: [{ value: '1975-06-15', why: 'frequent_date', rows: 1 }] }],
    });
    expect(await nights.play({ rows: night('1961-04-09') })).toMatchObject({ changed: 1, doubts: [{ doubts: 9 }] });
    expect(await readBirthDate('B-5')).toBe('1961-04-09');
    const realDates = ['1975-06-15'];
    expect(await nights.play({ rows: night('1961-04-09'), columns: { realDates } })).toMatchObject({
      changed: 9,
      doubts: [],
    });
    expect(await readBirthDate('B-4')).toBe('1975-06-15');
    await nights.close();
  });

  it('is looked for among related parties by their names: one director of many firms is one', async () => {
    const nights = await openNights('parties');
    const rows = rowsOf('P', 30, (index) => `${toBirth(index)},`);
    const toParties = (toName: (index: number) => string): string[] =>
      rows.map(
        (_, index) => `P-${index},director,person,${toName(index)},${index < 10 ? '1975-06-15' : toBirth(index)},`,
      );
    const same = toParties((index) => (index < 10 ? 'Ada Berg' : `Director ${index}`));
    expect(await nights.play({ rows, parties: same })).toMatchObject({ doubts: [] });
    const others = toParties((index) => `Director ${index}`);
    const doubts = [{ column: 'parties: birth_date', read: 20, doubts: 10 }];
    expect(await nights.play({ rows, parties: others })).toMatchObject({ changed: 10, doubts });
    expect(await nights.play({ rows, parties: others })).toMatchObject({ changed: 0, doubts });
    await nights.close();
  });

  it('holds a live roster when it fills a column from one night to the next, and nobody leaves', async () => {
    const nights = await openNights('held');
    const mode = 'live';
    const toRows = (end: string) => rowsOf('H', 300, (index) => `${toBirth(index)},${index % 3 === 0 ? end : ''}`);
    await nights.play({ rows: toRows(''), mode });
    for (const [end, why] of [
      ['1900-01-01', /100 of 100 values of column "end_date" are in doubt.*\[guard doubts\]/],
      ['2019-12-31', /100 of 100 values of column "end_date" are in doubt.*\[guard doubts\]/],
    ] as const) {
      await expect(nights.play({ rows: toRows(end), mode, guards: {} })).rejects.toThrow(why);
    }
    expect(await countLeft('H')).toBe(0);
    await nights.close();
  });

  it('as a birth date lowers no alert, and raises one that the former date had lowered', async () => {
    const { sandbox, roster, work, run } = await begin();
    const [one, ...others] = watchlist;
    if (one === undefined) throw new Error('expected a listed party');
    sandbox.setWorld({ watchlist: [{ ...one, birth_date: ['1961-04-09'] }, ...others], dossiers: [] });
    const play = async (day: number, dates: readonly string[]) => {
      const rows = dates.map((date, index) => `A-${index},person,${one.name},${date}`);
      await writeFile(fileOf(roster), ['customer_id,type,name,birth_date', ...rows, ''].join('\n'));
      const summary = await run(await work({ offsetMs: (day - 9) * dayMs }), { writeReport: true });
      const report = reportJsonSchema.parse(
        JSON.parse(await readFile(join(summary.artifacts ?? '', 'report.json'), 'utf8')),
      );
      const bySeverity = report.openAlerts?.bySeverity.map(({ severity, waiting }) => `${waiting} ${severity}`);
      return { ...report, bySeverity, doubts: report.evidence.rosterSource?.doubts };
    };
    const dates = ['', '1900-01-01', '1900-01-00', '00/01/1900', '1900', '1904-01-01', '1969-12-31', '1970-01-01'];
    const first = await play(0, [...dates, '1978-05-20', '1900-01-01']);
    expect(first.baselineChanges?.filter(({ severity }) => severity !== 'critical')).toMatchObject([
      { party: { reference: 'A-8' }, severity: 'high', adjustments: ['birth_date_contradicts'] },
    ]);
    expect(first).toMatchObject({ bySeverity: ['9 critical', '1 high'], doubts: [{ doubts: 6, read: 3 }] });
    expect(first.verdict.remarks.join()).toContain('6 of 9 values of column birth_date are in doubt');
    // The real date goes, and another one comes: a waiting alert never falls.
    const second = await play(1, [...dates, '1900-01-01', '1978-05-20']);
    expect(second).toMatchObject({ bySeverity: ['10 critical'], doubts: [{ doubts: 6, read: 3 }], changes: [] });
    expect(await play(2, [...dates, '1900-01-01', '1978-05-20'])).toMatchObject({ bySeverity: ['10 critical'] });
  });
});
