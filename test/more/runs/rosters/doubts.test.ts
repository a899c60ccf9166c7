import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { reportJsonSchema } from '../../../../src/reports/report-json.js';
import type { RosterSettings } from '../../../../src/roster/settings.js';
import { runImport } from '../../../../src/runs/import/import-run.js';
import { previewImport } from '../../../../src/runs/preview.js';
import { importDecisions } from '../../../../src/runs/review/import-list.js';
import { findReviewer } from '../../../../src/runs/review/people.js';
import type { RunSummary } from '../../../../src/runs/run-summary.js';
import { type Database, findValue } from '../../../../src/store/database/database.js';
import { sql } from '../../../../src/store/database/statement.js';
import { readChangedParties } from '../../../../src/store/night/screenings.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { fillInList } from '../../../helpers/report-files.js';
import { openRosterNights, readChanges } from '../../../helpers/roster-nights.js';
import { openSmallSites } from '../../../helpers/small-site.js';
import { fileOf, people, type TestAppContext, watchlist } from '../../../helpers/small-world.js';

const dayMs = 24 * 3_600_000;
const { signal } = new AbortController();
const header = 'customer_id,type,name,birth_date,countries';
const [one, ...others] = watchlist;

/** The small roster with these facts of the first customer, who is listed. */
const toRoster = (facts: string): string =>
  [header, ...people.map((name, index) => `C-${index + 1},person,${name},${index === 0 ? facts : ','}`), ''].join('\n');

const readFileOf = ({ artifacts }: RunSummary, name: string): Promise<string> =>
  readFile(join(artifacts ?? '', name), 'utf8');
const readReport = async (run: RunSummary) => reportJsonSchema.parse(JSON.parse(await readFileOf(run, 'report.json')));

const ruleOut = async (app: TestAppContext, run: RunSummary): Promise<void> => {
  const path = join(run.artifacts ?? '', 'filled.xlsx');
  const book = await readFile(join(run.artifacts ?? '', 'report.xlsx'));
  await writeFile(path, await fillInList(book, (who) => (who === 'C-1' ? ['false_positive', 'born elsewhere'] : null)));
  const { database } = app;
  const reviewer = await findReviewer(database, database.dialect === 'embedded' ? 'R. Reviewer' : undefined);
  expect(await importDecisions(app, { path, reviewer, apply: true, partial: false })).toMatchObject({
    isApplied: true,
  });
};

describeOnPostgres('a fact that cannot be read', (open) => {
  const begin = openSmallSites(open);
  let shared: Database;
  beforeAll(async () => {
    shared = await open();
  });

  const readRecord = async (reference: string): Promise<unknown> => {
    return findValue(
      shared,
      z.unknown(),
      sql`select version.record from customer join customer_version version using (customer_id, version)
       where customer.reference = ${reference} order by customer_id desc limit 1`,
    );
  };

  it('stops no search, is counted by column and value, and comes back mended from rejects.csv', async () => {
    const { sandbox, roster, work, run } = await begin();
    await writeFile(fileOf(roster), toRoster('31.02.1980,Germany;Atlantis'));
    const first = await run(await work({ offsetMs: -2 * dayMs }), { writeReport: true });
    expect(first).toMatchObject({ state: 'complete', counts: { rows: 6, customers: 6, rejected: 0, hits: 2 } });
    expect(sandbox.ledger().map(({ searchName }) => searchName)).toContain(people[0]);
    const doubts = [
      {
        column: 'birth_date',
        field: 'birthDate',
        read: 0,
        doubts: 1,
        unknown: 0,
        values: [{ value: '31.02.1980', why: 'no_such_day', rows: 1 }],
      },
      {
        column: 'countries',
        field: 'countries',
        read: 0,
        doubts: 1,
        unknown: 0,
        values: [{ value: 'Germany;Atlantis', why: 'unknown_country', rows: 1 }],
      },
    ];
    expect(first.snapshot?.doubts).toEqual(doubts);
    const report = await readReport(first);
    expect(report.evidence.rosterSource?.doubts).toEqual(doubts);
    expect(report.verdict.remarks.join()).toContain('1 of 1 value of column birth_date is in doubt');
    expect(report.verdict.remarks.join()).not.toContain('31.02.1980');
    expect(report.doubted).toMatchObject([{ line: 2, reference: 'C-1', doubts: [{}, {}] }]);
    expect(report.baselineChanges).toContainEqual(
      expect.objectContaining({ corroboration: { birthDate: 'unknown', country: 'unknown' } }),
    );
    const page = await readFileOf(first, 'report.html');
    expect(page).toMatch(/id="doubts".*31\.02\.1980.*not a day of the calendar/s);
    const rejects = await readFileOf(first, 'rejects.csv');
    const [row, ...more] = parse<Record<string, string>>(rejects, { bom: true, columns: true });
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      customer_id: 'C-1',
      birth_date: '31.02.1980',
      rejected_column: 'birth_date; countries',
      rejected_reason: 'no_such_day; unknown_country',
      rejected_outcome: expect.stringMatching(/^accepted/),
    });
    // Fed back as it is, then mended.
    const fed = join(first.artifacts ?? '', 'fed.csv');
    const feed = async (text: string): Promise<RunSummary> => {
      await writeFile(fed, text);
      const delta: RosterSettings = {
        ...roster,
        csv: { path: fed, delimiter: 'auto', encoding: 'auto', header: true },
      };
      return runImport(await work({ offsetMs: -dayMs }), delta, signal, { isDelta: true });
    };
    expect((await feed(rejects)).snapshot).toMatchObject({ changed: 0, joined: 0, doubts: [{}, {}] });
    const mended = rejects.replace('31.02.1980', '1980-02-28').replace('Germany;Atlantis', 'Germany;France');
    expect((await feed(mended)).snapshot).toMatchObject({ changed: 1, joined: 0, doubts: [] });
  });

  it('carries no decision that was made by the value, and is `settings` where it is only read in another way', async () => {
    const { sandbox, roster, work, run } = await begin();
    await writeFile(fileOf(roster), toRoster('1985-05-05,Kongo'));
    await run(await work({ offsetMs: -3 * dayMs }));
    // Another reading of the same texts.
    const norwegian = { ...roster, columns: { language: 'no' } };
    if (one === undefined) throw new Error('expected a listed party');
    sandbox.setWorld({ watchlist: [{ ...one, country: ['cd'] }, ...others], dossiers: [] });
    const read = await run(await work({ offsetMs: -2 * dayMs }), { writeReport: true, roster: norwegian });
    const change = (await readReport(read)).changes?.find(({ party }) => party.reference === 'C-1');
    expect(change).toMatchObject({ cause: 'settings', party: { countries: ['cd'] } });
    await ruleOut(await work({ offsetMs: -1.5 * dayMs }), read);
    // The decision falls with the birth date that it was made by.
    await writeFile(fileOf(roster), toRoster('05/05/198,Kongo'));
    const lost = await run(await work({ offsetMs: -dayMs }), { writeReport: true, roster: norwegian });
    expect((await readReport(lost)).openAlerts).toMatchObject({ waiting: 2 });
  });

  it('is kept as it stands with the record, and another text for the same country is no change', async () => {
    const nights = await openRosterNights(shared, 'kept');
    const play = (facts: string, parties: string) =>
      nights.play({
        header: `${header},risk_tier`,
        rows: [`K-1,person,Ann Lee,${facts}`],
        parties: [`K-1,director,person,Bo Ek,${parties}`],
      });
    await play('31.02.1980,Deutschland,severe', '1969-02-30,Norge');
    expect(await readRecord('K-1')).toMatchObject({
      riskTier: null,
      doubts: { birthDate: '31.02.1980', riskTier: 'severe' },
      said: { countries: 'Deutschland' },
      parties: [
        { birthDate: null, countries: ['de'] },
        { birthDate: null, countries: ['no'], doubts: { birthDate: '1969-02-30' }, said: { countries: 'Norge' } },
      ],
    });
    // A tier that cannot be read lowers no severity.
    const partyId = await findValue(
      shared,
      z.number(),
      `select party_id as "partyId" from party join customer using (customer_id) where reference = 'K-1' and ordinal = 0`,
    );
    const asked = { partyId: partyId ?? 0, customerVersion: 1 };
    expect([...(await readChangedParties(shared, 0, [asked])).values()]).toMatchObject([
      { riskTier: 'high', birthDate: null, countries: ['de'] },
    ]);
    await play('31.02.1980,Germany,severe', '1969-02-30,NO');
    await play('32.02.1980,Germany,severe', '1969-02-30,NO');
    await play('32.02.1980,Germany,severe', '1969-02-31,NO');
    expect((await readChanges(shared)).filter((line) => line.includes('K-1 changed'))).toEqual([
      expect.stringMatching(/K-1 changed doubts$/),
      expect.stringMatching(/K-1 changed related_parties$/),
    ]);
    await nights.close();
  });

  it('is shown by a preview without being stored', async () => {
    const nights = await openRosterNights(shared, 'preview');
    const { app, settings } = await nights.prepare({ header, rows: ['P-1,person,Ann Lee,2513-01-01,Stateless'] });
    expect(await previewImport(app, settings, signal)).toMatchObject({
      counts: { customers: 1, rejected: 0 },
      doubts: [{ values: [{ why: 'buddhist_year' }] }, { values: [{ why: 'stateless' }] }],
    });
    await nights.close();
  });
});
