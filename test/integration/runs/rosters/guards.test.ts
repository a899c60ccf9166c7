import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { presentImportPreview } from '../../../../src/cli/present-run.js';
import { RosterHeldError } from '../../../../src/errors.js';
import { rosterSettingsSchema } from '../../../../src/roster/settings.js';
import { runImport } from '../../../../src/runs/import/import-run.js';
import { previewImport } from '../../../../src/runs/preview.js';
import { describeOnPostgres, readRows } from '../../../helpers/databases.js';
import { openRosterNights, readChanges, readParties, readRejected } from '../../../helpers/roster-nights.js';
import { makeAcceptance } from '../../../helpers/small-site.js';

const rowsOf = (count: number, from = 1): string[] =>
  Array.from({ length: count }, (_, index) => `C-${from + index},person,Customer ${from + index}`);
const bad = (count: number): string[] => Array.from({ length: count }, (_, index) => `X-${index},robot,Customer`);
const header = 'customer_id,type,name';
const { signal } = new AbortController();

describeOnPostgres('guards of a roster', (open) => {
  it('hold a snapshot with both figures, change nothing, and are noted with the import that overrides them, never without it', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const play = (rows: readonly string[], others = {}) => nights.play({ header, rows, guards: {}, ...others });
    // With a live key the trial is over, in which a row that is rejected again holds nothing.
    const live = await openRosterNights(database, 'live');
    await live.play({ header, rows: rowsOf(1), mode: 'live' });
    await live.close();
    const held = async (rows: readonly string[], others = {}): Promise<unknown> =>
      play(rows, others).catch((error: unknown) => {
        expect(error).toBeInstanceOf(RosterHeldError);
        return error instanceof RosterHeldError ? error.heldBy.map(({ guard }) => guard) : error;
      });
    await play([...rowsOf(1_000), ...bad(5)]);
    const before = [await readParties(database), await readChanges(database)];
    expect(await held([...rowsOf(1_000), ...bad(6)])).toEqual(['rejects']);
    expect(await held(rowsOf(969))).toEqual(['shrink_night', 'shrink_30_days']);
    expect(await held([...rowsOf(1_000), ...rowsOf(53)])).toEqual(['duplicates']);
    expect(await held(rowsOf(1_501))).toEqual(['growth']);
    const withLand = rowsOf(1_000).map((row) => `${row},DK`);
    expect(await held(withLand, { header: `${header},land` })).toEqual(['columns']);
    await expect(play(bad(3))).rejects.toMatchObject({ code: 'roster_without_customers' });
    expect([await readParties(database), await readChanges(database)]).toEqual(before);
    await expect(play(rowsOf(969))).rejects.toThrow(
      /31 of 1000 customers of the last snapshot are missing: 3.1 % \(at most 1 %, rosters\[0\]\.guards\.maxShrinkNight\) \[guard shrink_night\]\. Check whether .*: nightscreen import --file \S+ --roster people --dry-run\n.*: nightscreen import --file \S+ --roster people --accept-roster --by NAME --reason TEXT$/s,
    );
    const acceptRoster = await makeAcceptance({ database });
    const countAccepted = () =>
      database.query(
        z.object({ accepted: z.number() }),
        `select count(*)::integer as accepted from acceptance where kind = 'roster'`,
      );
    await database.runScript(`
      create function break_off() returns trigger language plpgsql as $$ begin raise 'broken off'; end $$;
      create trigger break_off after insert on roster_standing for each statement execute function break_off();`);
    await expect(play(rowsOf(969), { acceptRoster })).rejects.toThrow();
    expect(await countAccepted()).toEqual([{ accepted: 0 }]);
    await database.runScript('drop trigger break_off on roster_standing; drop function break_off();');
    await play(rowsOf(969), { acceptRoster });
    expect(await countAccepted()).toEqual([{ accepted: 1 }]);
    const taken = await readRows(
      database,
      'select overridden_guards, absent from roster_import order by import_id desc limit 1',
    );
    expect(taken).toEqual([{ overriddenGuards: ['shrink_night', 'shrink_30_days'], absent: 31 }]);
    // What was accepted is not held against the next night.
    await play(rowsOf(969), { day: 1 });
    // A part of a roster is not measured by the whole.
    await play(rowsOf(1), { day: 2, isDelta: true });
    // Slowly is too much as well.
    for (const [index, count] of [960, 951, 942].entries()) await play(rowsOf(count), { day: 3 + index });
    expect(await held(rowsOf(939), { day: 6 })).toEqual(['shrink_30_days']);
    await nights.close();
  });

  it('hold any import with a live key in which a header is a known word for a fact that no column is mapped for, which is a warning otherwise', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const night = {
      header: `${header},birthdate,Country,nationality,status`,
      rows: ['C-1,person,Ann Alder,1970-02-03,DK,SE,open'],
      guards: {},
    };
    const lines = [
      'column "birthdate" reads like birthDate, but no column is mapped for it, so no birth date is known: write birthDate: "birthdate" under columns of this roster, or ignore: ["birthdate"] if it is something else',
      'columns "Country", "nationality" read like countries, but no column is mapped for it, so no country is known: write countries: ["Country", "nationality"] under columns of this roster, or ignore: ["Country", "nationality"] if they are something else',
    ];
    const { app, settings } = await nights.prepare(night);
    expect(await previewImport(app, settings, signal)).toMatchObject({ heldBy: [], unmapped: lines });
    await runImport(app, settings, signal);
    const warnings = app.events.flatMap((event) => (event.kind === 'warning' ? [event] : []));
    expect(warnings.map(({ code, message }) => [code, message.replace(/^.*?: /, '')])).toEqual(
      lines.map((line) => ['unmapped_column', line]),
    );
    for (const part of [{}, { isDelta: true }]) {
      await expect(nights.play({ ...night, ...part, mode: 'live' })).rejects.toMatchObject({
        heldBy: [{ guard: 'unmapped_columns', message: lines.join('; ') }],
      });
    }
    const mapped = { birthDate: 'birthdate', ignore: ['Country'], attributes: ['nationality'] };
    expect(await nights.play({ ...night, mode: 'live', columns: mapped })).toMatchObject({ state: 'complete' });
    // Another way to write the standard header is one as well; where the header is right, others beside it are their owner's affair.
    const upper = {
      ...night,
      mode: 'live',
      header: 'customer_id,type,name,Birth Date,countries,country,notes',
    } as const;
    await expect(nights.play({ ...upper, isDelta: true })).rejects.toMatchObject({
      heldBy: [{ message: expect.stringContaining('write birthDate: "Birth Date"') }],
    });
    // A party without a type counts as a person.
    await writeFile(`${settings.csv?.path}.parties`, 'customer_id,role,name,party_type\nC-1,director,Acme,entity\n');
    const csv = { path: `${settings.csv?.path}.parties` };
    const withParties = rosterSettingsSchema.parse({ ...settings, parties: [{ csv }] });
    expect((await previewImport(app, withParties, signal)).unmapped).toContain(
      'column "party_type" reads like type, but no column is mapped for it, so every party counts as a person: write type: "party_type" under columns of this source of related parties, or ignore: ["party_type"] if it is something else',
    );
    await nights.close();
  });

  it('hold a file that ends in the middle of a known customer, and not one with a sum below its rows', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const rows = rowsOf(100);
    await nights.play({ header, rows, guards: {} });
    const { app, settings } = await nights.prepare({ header, rows, guards: {} });
    const path = String(settings.csv?.path);
    const text = await readFile(path, 'utf8');
    const previewText = async (content: string) => {
      await writeFile(path, content);
      return (await previewImport(app, settings, signal)).heldBy.map(({ message }) => message);
    };
    const message = (line: number): string => `line ${line}, the last one, ends within its row, so the file is cut off`;
    expect(await previewText(text.slice(0, text.indexOf(',Customer 98')))).toEqual([message(99)]);
    expect(await previewText(text.slice(0, text.indexOf('Customer 99')).replace(/person,$/, '"per'))).toEqual([
      message(100),
    ]);
    expect(await previewText(`${text}Rows,100`)).toEqual([]);
    expect(await previewText(text.trimEnd())).toEqual([]);
    expect(await previewText(text.trimEnd().slice(0, -1))).toEqual([message(101)]);
    expect(await previewText(`${text.trimEnd().slice(0, -1)}\n`)).toEqual([]);
    const first = await openRosterNights(database, 'others');
    const others = await first.prepare({ header, rows: [], guards: {} });
    await writeFile(String(others.settings.csv?.path), text.slice(0, text.indexOf(',Customer 98')));
    await expect(runImport(others.app, others.settings, signal)).rejects.toMatchObject({
      heldBy: [{ guard: 'cut_off' }],
    });
    await nights.close();
    await first.close();
  });

  it('hold a roster below the control total that its files state, in whatever row they state it', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const { app, settings } = await nights.prepare({ header, rows: rowsOf(3), guards: {} });
    const path = String(settings.csv?.path);
    const roster = { ...settings, controlTotal: { column: 'total' } };
    const read = async (...totals: readonly string[]) => {
      const rows = rowsOf(totals.length).map((row, index) => `${row},${totals[index]}`);
      await writeFile(path, `${header},total\n${rows.join('\n')}\n`);
      return (await previewImport(app, roster, signal)).heldBy.map(({ message }) => message);
    };
    expect(await read('3', '', '3')).toEqual([]);
    expect(await read('', '2', '')).toEqual([]);
    expect(await read('', '1 004', '')).toEqual([
      'its source states 1004 rows, but 3 were read: 1001 are missing (controlTotal)',
    ]);
    expect(await read('', 'many', '')).toEqual(['no row states the number of rows (controlTotal)']);
    await expect(previewImport(app, { ...roster, controlTotal: { column: 'sum' } }, signal)).rejects.toThrow(
      'has no column "sum", which controlTotal of the roster names',
    );
    await nights.close();
  });

  it('let rejects through that are fed back unmended, which stay rejected and end the import incomplete', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const guards = {};
    await nights.play({ header, rows: [...rowsOf(20), ...bad(10)], guards });
    const before = await readParties(database);
    const rejects = {
      header: `${header},rejected_line,rejected_reason`,
      guards,
      isDelta: true,
    };
    const again = bad(10).map((row, index) => `${row},${22 + index},unknown_type`);
    const { app, settings } = await nights.prepare({ rows: again, ...rejects, day: 1 });
    const preview = await previewImport(app, settings, signal, { isDelta: true });
    expect(presentImportPreview(preview).exitCode).toBe(3);
    const summary = await nights.play({ rows: again, ...rejects, day: 1 });
    expect(summary).toMatchObject({
      state: 'incomplete',
      exitCode: 3,
      counts: { rows: 10, customers: 0, rejected: 10 },
    });
    expect(summary.reasons).toEqual(['10 of the 10 rows that were fed back are rejected again']);
    expect(await readParties(database)).toEqual(before);
    expect(await readRejected(database)).toContain('2 unknown_type X-0');
    const mended = again.map((row) => row.replace('robot', 'person'));
    expect(await nights.play({ rows: [...mended.slice(1), ...again.slice(0, 1)], ...rejects, day: 1 })).toMatchObject({
      state: 'incomplete',
      reasons: ['1 of the 10 rows that were fed back is rejected again'],
    });
    expect(await nights.play({ rows: mended, ...rejects, day: 1 })).toMatchObject({ state: 'complete', exitCode: 0 });
    expect(await readParties(database)).toHaveLength(30);
    // Taken for the whole roster they are held, as rows of any other part are.
    await expect(nights.play({ rows: again, ...rejects, isDelta: false, day: 2 })).rejects.toMatchObject({
      code: 'roster_without_customers',
    });
    await expect(nights.play({ rows: bad(10), header, guards, isDelta: true, day: 2 })).rejects.toMatchObject({
      code: 'roster_without_customers',
    });
    await nights.close();
  });

  it('are judged by a preview too, which changes nothing at all', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const preview = async (rows: readonly string[]) => {
      const { app, settings } = await nights.prepare({ header, rows, guards: {} });
      return previewImport(app, settings, signal);
    };
    const twins = ['C-1,person,Customer 1', 'C-2,person,Customer 1', 'C-3,entity,Customer 1'];
    expect(await preview([...twins, ...bad(6)])).toMatchObject({
      counts: { rows: 9, customers: 3, rejected: 6, joined: 3 },
      rejectedByReason: { unknown_type: 6 },
      distinctSearches: 2,
      heldBy: [{ guard: 'rejects' }],
    });
    const count = z.object({ count: z.number() });
    const tables = ['organisation', 'roster', 'run', 'customer', 'screening_request', 'roster_staging', 'roster_step'];
    for (const table of tables) {
      expect(await database.query(count, `select count(*) as count from ${table}`)).toEqual([{ count: 0 }]);
    }
    await nights.play({ header, rows: twins });
    expect(await preview(['C-1,person,Another', ...twins.slice(1, 2), 'C-9,person,Customer 9'])).toMatchObject({
      counts: { joined: 1, changed: 1, absent: 1, newlyAbsent: 1 },
      distinctSearches: 2,
      heldBy: [],
    });
    expect(await readParties(database)).toHaveLength(3);
    await nights.close();
  });
});
