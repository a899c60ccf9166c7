import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rosterSettingsSchema } from '../../../../src/roster/settings.js';
import { measureCoverage } from '../../../../src/runs/coverage.js';
import { runImport } from '../../../../src/runs/import/import-run.js';
import { exportStatus } from '../../../../src/runs/status.js';
import { runReports } from '../../../../src/runs/write-reports.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { openRosterNights, type RosterNight } from '../../../helpers/roster-nights.js';
import { listSearches, makeAcceptance, openSmallSites, searched } from '../../../helpers/small-site.js';
import { fileOf } from '../../../helpers/small-world.js';

const hourMs = 60 * 60 * 1_000;
const signal = new AbortController().signal;

/** A Nordic export with joint holders, one of them listed, and a Polish register with shareholders in one cell, one of them listed. */
const nordic = {
  header: 'Kundnummer;Namn;Ort;Medsökande 1 namn;Medsökande 1 född;Medsökande 2 namn',
  rows: [
    'K-1;Bertil Kvarnström;Lund;Wilhelmina Achterberg;1960-01-01;',
    'K-2;Aroha Ngata;Nya Stan;Åsa Lindqvist;1970-02-03;Bo Ekdahl',
    ...Array.from({ length: 18 }, (_, at) => `K-${at + 3};Tamsin Oyelaran${'abcdefghijklmnopqrs'.charAt(at)};Umeå;;;`),
  ],
  columns: { id: 'Kundnummer', name: 'Namn', type: { value: 'person' as const } },
  named: ['Medsökande 1 namn', 'Medsökande 2 namn'],
  mapped: [
    { name: 'Medsökande 1 namn', role: { value: 'joint_holder' as const }, birthDate: 'Medsökande 1 född' },
    { name: 'Medsökande 2 namn', role: { value: 'joint_holder' as const } },
  ],
  people: ['Åsa Lindqvist', 'Bo Ekdahl'],
  listed: ['K-1', 'Wilhelmina Achterberg'],
};
const polish = {
  header: 'KRS;Nazwa;Siedziba;Wspólnicy;Beneficjent rzeczywisty',
  rows: [
    'P-1;Holdmar Sp. z o.o.;Łódź;"Jan Mazur (50%); Oktavian Prunescu (25%)";brak',
    'P-2;Budex Sp. z o.o.;Łódź;"Ewa Lis (50%)\nInwest S.A. - 50 %";Ewa Lis',
    'P-3;Transpol S.A.;Kraków;-;Zofia Żuk',
  ],
  columns: { id: 'KRS', name: 'Nazwa', type: { value: 'entity' as const } },
  named: ['Wspólnicy', 'Beneficjent rzeczywisty'],
  mapped: [
    { name: 'Wspólnicy', role: { value: 'beneficial_owner' as const } },
    { name: 'Beneficjent rzeczywisty', role: { value: 'beneficial_owner' as const } },
  ],
  people: ['Jan Mazur', 'Ewa Lis', 'Inwest S.A.', 'Zofia Żuk'],
  listed: ['P-1', 'Oktavian Prunescu'],
};

describeOnPostgres('columns of names that no setting reads', (open) => {
  const begin = openSmallSites(open);

  it.each([
    ['a Nordic export', nordic],
    ['a Polish register', polish],
  ])(
    'hold %s with a live key, make a night with a test key incomplete, and are searched once they are mapped',
    async (_, made) => {
      const { sandbox, roster: base, work, run } = await begin();
      const write = (more: readonly string[] = []) =>
        writeFile(fileOf(base), [made.header, ...made.rows, ...more, ''].join('\n'));
      await write();
      const toRoster = (columns: object) =>
        rosterSettingsSchema.parse({ ...base, csv: { path: fileOf(base), delimiter: ';' }, columns });
      const roster = toRoster(made.columns);
      const settings = { rosters: [roster] };
      const named = made.named.map((header) => JSON.stringify(header)).join(', ');
      const said = `columns ${named} look like names of people or firms, and no setting reads them. Nobody in them is searched for: write parties: [{ name: `;
      const live = await work({ apiKey: sandbox.livePrivateKey, settings });
      live.settings.service.mode = 'live';
      live.settings.budget = { ...live.settings.budget, maxSearchesPerMonth: 1_000, pricePerSearch: 0.1 };
      await expect(run(live, { roster })).rejects.toMatchObject({
        heldBy: [{ guard: 'unmapped_columns', message: expect.stringContaining(said) }],
      });
      expect(listSearches(sandbox)).toEqual([]);

      const test = await work({ settings, offsetMs: -90 * hourMs });
      const first = await run(test, { roster });
      const reasons = [expect.stringContaining(said)];
      expect(first).toMatchObject({ state: 'incomplete', exitCode: 3, reasons });
      expect(searched(sandbox, made.listed[1] ?? '')).toBe(0);
      expect(await measureCoverage(test, { list: 0 })).toMatchObject({
        isCovered: false,
        total: { valid: made.rows.length, inScope: made.rows.length },
        rosters: [{ unmappedNames: reasons }],
      });
      expect(
        (await exportStatus(test, { roster: undefined, states: undefined, changedSince: undefined }, signal))
          .unmappedNames,
      ).toEqual(reasons);
      const [report] = await runReports(test, { runId: first.runId });
      const json = await readFile(join(report?.directory ?? '', 'report.json'), 'utf8');
      expect(json).toContain('look like names of people or firms');

      // The second night says so again; then they are mapped.
      expect(await run(await work({ settings, offsetMs: -60 * hourMs }), { roster })).toMatchObject({
        state: 'incomplete',
        reasons,
      });
      const mapped = toRoster({ ...made.columns, parties: made.mapped });
      const third = await work({ settings: { rosters: [mapped] }, offsetMs: -30 * hourMs });
      expect(await run(third, { roster: mapped })).toMatchObject({ state: 'complete', counts: { hits: 1 } });
      for (const name of [...made.people, made.listed[1] ?? ''])
        expect([name, searched(sandbox, name)]).toEqual([name, 1]);
      expect(await measureCoverage(third, { list: 0 })).toMatchObject({
        isCovered: true,
        total: { states: { open_alert: 1, clear: made.rows.length - 1 } },
      });
      // A night later nothing is new, and the alert waits.
      const fourth = await work({ settings: { rosters: [mapped] } });
      expect(await run(fourth, { roster: mapped })).toMatchObject({ state: 'complete', counts: { changes: 0 } });
    },
  );

  it('are found when they appear or are filled later, pass once they are ignored or accepted, and a mapped one that is renamed refuses the roster', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const header = 'customer_id,type,name';
    const play = (night: Partial<RosterNight>) =>
      nights.play({ header, rows: ['C-1,person,Ann Alder', 'C-2,person,Bo Birk'], ...night });
    expect(await play({})).toMatchObject({ state: 'complete' });
    const holder = { header: `${header},Joint holder`, rows: ['C-1,person,Ann Alder,', 'C-2,person,Bo Birk,'] };
    expect(await play({ ...holder, day: 1 })).toMatchObject({ state: 'complete' });
    const filled = { ...holder, rows: ['C-1,person,Ann Alder,Eva Alder', 'C-2,person,Bo Birk,-'] };
    const reasons = [expect.stringContaining('column "Joint holder" looks like names')];
    expect(await play({ ...filled, day: 2 })).toMatchObject({ state: 'incomplete', reasons });
    // A part of the roster with nothing in the column does not settle it.
    expect(await play({ ...holder, day: 3, isDelta: true })).toMatchObject({ state: 'incomplete', reasons });
    expect(await play({ ...filled, day: 4, columns: { ignore: ['Joint holder'] } })).toMatchObject({
      state: 'complete',
    });
    const acceptRoster = await makeAcceptance({ database });
    const live = { ...filled, mode: 'live', day: 5 } as const;
    await expect(play(live)).rejects.toMatchObject({ heldBy: [{ guard: 'unmapped_columns' }] });
    expect(await play({ ...live, acceptRoster })).toMatchObject({ state: 'complete' });
    // An acceptance is for one snapshot, a setting for all.
    await expect(play({ ...live, day: 6 })).rejects.toMatchObject({ heldBy: [{ guard: 'unmapped_columns' }] });
    const columns = { parties: [{ name: 'Joint holder', role: { value: 'joint_holder' as const } }] };
    expect(await play({ ...live, day: 7, columns })).toMatchObject({ state: 'complete' });
    const renamed = { ...live, day: 8, columns, header: `${header},Co-holder` };
    await expect(play(renamed)).rejects.toMatchObject({ code: 'column_missing' });
    await nights.close();
  });

  it('are found in a source of related parties too', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const night = { header: 'customer_id,type,name', rows: ['C-1,entity,Alpha Ltd'], parties: [] };
    const { app, settings } = await nights.prepare(night);
    const path = `${fileOf(settings)}.officers`;
    await writeFile(path, 'customer_id,role,name,Spouse\nC-1,director,Dora Vance,Emil Vance\n');
    const sourceOf = (columns: object) =>
      rosterSettingsSchema.parse({ ...settings, parties: [{ csv: { path }, columns }] });
    expect(await runImport(app, sourceOf({}), signal)).toMatchObject({
      state: 'incomplete',
      reasons: [
        expect.stringMatching(/^column "Spouse" .*: write a further source under parties: .* or ignore: \["Spouse"\]/),
      ],
    });
    expect(await runImport(app, sourceOf({ ignore: ['Spouse'] }), signal)).toMatchObject({ state: 'complete' });
    await nights.close();
  });
});
