import crypto from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { RosterHeldError } from '../../../../src/errors.js';
import { reportJsonSchema } from '../../../../src/reports/report-json.js';
import { rosterSettingsSchema, toFileRoster } from '../../../../src/roster/settings.js';
import { runImport } from '../../../../src/runs/import/import-run.js';
import type { Database } from '../../../../src/store/database/database.js';
import { describeOnPostgres, testDatabases } from '../../../helpers/databases.js';
import { makeAcceptance, openPreparedSites, openSmallSites, searched } from '../../../helpers/small-site.js';
import { controls, listed, toCsv, watchlist } from '../../../helpers/small-world.js';
import { expectAgreement } from '../../../helpers/status-agreement.js';

const { signal } = new AbortController();
/** A name that is like no other one. */
const makeName = (at: number): string => {
  const word = (salt: string): string =>
    [...crypto.hash('sha256', `${salt}${at}`, 'buffer').subarray(0, 4)]
      .map((byte) => `${'bdfgklmnprstvz'[byte % 14]}${'aeiou'[byte % 5]}`)
      .join('');
  return `${word('first')} ${word('last')}`;
};
/** So many customers, the first ten of them listed. */
const names = Array.from({ length: 25 }, (_, at) => makeName(at));
const world = {
  watchlist: [...watchlist, ...names.slice(0, 10).map((name, at) => listed(`listed${at}`, name))],
  dossiers: [],
};

/** The customers without an accepted record, and why. */
const readUnaccepted = async (database: Database): Promise<readonly string[]> =>
  (
    await database.query(
      z.object({ line: z.string() }),
      `select concat_ws(' ', reference, state, reason) as line from customer_screening_status
       where reason is not null order by reference collate "C"`,
    )
  ).map(({ line }) => line);

describeOnPostgres('a night whose roster is held', (open, databases) => {
  const core = testDatabases('postgres');
  const openSite = openSmallSites(open);
  const openScreened = openPreparedSites(
    databases,
    async ({ run, work }) => expect((await run(await work())).state).toBe('complete'),
    { names, world },
  );

  it('screens the last accepted roster, leaves new ids unscreened, ends incomplete, and says how to take it', async () => {
    const { sandbox, database, roster, run, work } = await openScreened();
    const path = String(roster.csv?.path);
    const app = await work();
    const before = await expectAgreement(app);
    expect(before).toMatchObject({ open_alert: 10 });

    const rotated = [...names.slice(1, 10), names[0] ?? '', ...names.slice(10)];
    await writeFile(path, toCsv([...rotated, 'Nova Entrant']));
    await expect(runImport(app, roster, signal)).rejects.toBeInstanceOf(RosterHeldError);
    const held = await run(app, { selection: 'all', writeReport: true });
    expect(held).toMatchObject({ state: 'incomplete', exitCode: 3, counts: { rows: 0, screened: 25, skipped: 1 } });
    expect(held.reasons.slice(0, 4)).toEqual([
      'the roster is held (guards changed, changed_alerts). The last accepted roster was screened. 1 new customer of the held one is not screened.',
      expect.stringMatching(
        /^- 10 of 25 known customers have the name that another one had: .* \[guard changed\]\. Check whether one column was sorted/,
      ),
      expect.stringMatching(
        /^- 10 of 10 customers with alerts or dispositions are changed: .* \[guard changed_alerts\]/,
      ),
      'if the source is wrong, correct it. If it is right, accept it: nightscreen rescreen --roster people --accept-roster --by NAME --reason TEXT',
    ]);
    expect(searched(sandbox, 'Nova Entrant')).toBe(0);
    expect(await readUnaccepted(database)).toEqual(['C-26 not_screened roster_held']);
    expect(await expectAgreement(app)).toEqual({ ...before, not_screened: 1 });

    const accepted = await run(app, { acceptRoster: await makeAcceptance({ database }), writeReport: true });
    expect(accepted.state).toBe('complete');
    expect(accepted.acceptedChanges).toHaveLength(10);
    expect(accepted.acceptedChanges?.[0]).toMatchObject({
      reference: 'C-1',
      before: { name: names[0] },
      after: { name: names[1] },
    });
    const report = reportJsonSchema.parse(
      JSON.parse(await readFile(join(accepted.artifacts ?? '', 'report.json'), 'utf8')),
    );
    expect(report.rosterAcceptances[0]?.changes).toHaveLength(10);
    expect(await readFile(join(accepted.artifacts ?? '', 'report.html'), 'utf8')).toContain(names[1]);
    expect(await readUnaccepted(database)).toEqual([]);
    // The alerts of the former names wait for a reviewer.
    expect(await expectAgreement(app)).toMatchObject({ open_alert: 10 });
  });

  it('that is stopped is not resumed when the roster is corrected or accepted', async () => {
    const { roster, run, work } = await openScreened();
    const path = String(roster.csv?.path);
    const app = await work();
    const rotated = toCsv([...names.slice(1, 10), names[0] ?? '', ...names.slice(10)]);
    await writeFile(path, rotated);
    const stop = { selection: 'all', maxSearches: 5 } as const;
    const stopped = await run(app, stop);
    expect(stopped).toMatchObject({ state: 'stopped', counts: { screened: 5 } });
    const resumeOnly = Number(stopped.runId.split('-').at(-1));
    const acceptRoster = await makeAcceptance(app);
    await expect(run(app, { ...stop, resumeOnly, acceptRoster })).rejects.toThrow(
      /continues with the last accepted roster.* nightscreen rescreen --roster people --accept-roster/,
    );
    expect((await run(app, stop)).runId).toBe(stopped.runId);

    await writeFile(path, toCsv([...names, 'Nova Entrant']));
    const mended = await run(app, { ...stop, maxSearches: 200 });
    expect(mended.runId).not.toBe(stopped.runId);
    expect(mended).toMatchObject({ state: 'complete', counts: { rows: 26, screened: 26 } });

    await writeFile(path, rotated);
    const again = await run(app, stop);
    const accepted = await run(app, { selection: 'all', acceptRoster });
    expect(accepted.runId).not.toBe(again.runId);
    expect(accepted.acceptedChanges).toHaveLength(10);
    expect(app.events).toContainEqual(
      expect.objectContaining({ code: 'run_abandoned', message: expect.stringContaining('its roster was held') }),
    );
  });

  it('is refused where no roster was accepted yet, and where it is onboarded', async () => {
    const { roster, run, work } = await openSite(names);
    const path = String(roster.csv?.path);
    const app = await work({ settings: { controls } });
    await writeFile(path, `${toCsv(names)}${'X-1,robot,Ann\n'.repeat(30)}`);
    await expect(run(app)).rejects.toBeInstanceOf(RosterHeldError);
    await writeFile(path, toCsv(names.slice(0, 22)));
    await runImport(app, roster, signal);
    await writeFile(path, toCsv(names.slice(0, 5)));
    await expect(run(app, { kind: 'onboard', selection: 'new' })).rejects.toBeInstanceOf(RosterHeldError);
    expect(await run(app)).toMatchObject({ exitCode: 3, counts: { screened: 22 } });
  });

  it('that cannot be read screens the last accepted one, says what is missing, and is mended by the next night', async () => {
    const { roster, run, work } = await openScreened();
    const path = String(roster.csv?.path);
    const app = await work({ settings: { controls, rosters: [roster] } });
    const all = { selection: 'all' } as const;
    await writeFile(path, toCsv([...names.slice(1, 10), names[0] ?? '', ...names.slice(10), 'Nova Entrant']));
    expect(await run(app, all)).toMatchObject({ exitCode: 3, counts: { screened: 25, skipped: 1 } });

    const spoilt: readonly (readonly [string | Buffer | null, RegExp])[] = [
      [null, /there is no such file/],
      ['', /is empty/],
      ['customer_id,type,name\n', /only a header|no rows/],
      ['customer_id,type,surname\nC-1,person,Ada\n', /name/],
      [gzipSync(toCsv(names)).subarray(0, 90), /gzip/],
      [Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(900, 7)]), /damaged or incomplete/],
      [Buffer.from(toCsv(names), 'utf16le').subarray(1), /UTF|encoding|bytes|text/i],
    ];
    for (const [text, found] of spoilt) {
      if (text === null) await rm(path);
      else await writeFile(path, text);
      const night = await run(app, all);
      expect(night).toMatchObject({ exitCode: 3, state: 'incomplete', counts: { rows: 0, screened: 25, skipped: 1 } });
      expect(night.reasons.slice(0, 3)).toEqual([
        'the roster is held (guard unreadable). The last accepted roster was screened.',
        expect.stringMatching(
          /^- .* \[guard unreadable\]\. Customers who are new or changed in the source are not known\.$/,
        ),
        'correct the source, then: nightscreen rescreen --roster people',
      ]);
      expect(night.reasons[1]).toMatch(found);
    }
    await writeFile(path, toCsv([...names, 'Nova Entrant']));
    expect(await run(app, all)).toMatchObject({ state: 'complete', counts: { rows: 26, screened: 26 } });
  });

  it('whose database is away, refuses the query or gives no rows screens the last accepted one', async () => {
    const { roster, run, work } = await openScreened();
    const { url = '' } = await core.locate();
    const empty = "select 'C-1' as customer_id, 'person' as type, 'Ada' as name where false";
    const spoilt: readonly (readonly [string, string, RegExp])[] = [
      ['postgres://nobody@127.0.0.1:1/none', 'select 1', /cannot connect to 127\.0\.0\.1:1/],
      [url, 'select * from nowhere', /refused the query/],
      [url, empty, /gave no rows/],
    ];
    for (const [source, query, found] of spoilt) {
      const read = rosterSettingsSchema.parse({ name: 'people', postgres: { urlEnv: 'CORE_URL', query } });
      const app = { ...(await work({ settings: { controls, rosters: [read] } })), secret: () => source };
      const night = await run(app, { roster: read, selection: 'all' });
      expect(night).toMatchObject({ exitCode: 3, state: 'incomplete', counts: { rows: 0, screened: 25 } });
      expect(night.reasons[1]).toMatch(found);
    }
    const app = await work({ settings: { controls, rosters: [roster] } });
    expect(await run(app, { selection: 'all' })).toMatchObject({
      state: 'complete',
      counts: { rows: 25, screened: 25 },
    });
  });

  it('that cannot be read is refused at a first import, where it is onboarded or accepted, and where the command names it', async () => {
    const { roster, run, work } = await openSite(names);
    const path = String(roster.csv?.path);
    const app = await work({ settings: { controls, rosters: [roster] } });
    await rm(path);
    await expect(run(app)).rejects.toThrow('there is no such file');
    await writeFile(path, toCsv(names));
    await runImport(app, roster, signal);
    await rm(path);
    await expect(run(app, { kind: 'onboard', selection: 'new' })).rejects.toThrow('there is no such file');
    await expect(run(app, { acceptRoster: await makeAcceptance(app) })).rejects.toThrow('there is no such file');
    await expect(run(app, { roster: toFileRoster('people', `${path}.typo`) })).rejects.toThrow('there is no such file');
  });

  it('that becomes unreadable while a run is stopped begins a new run of the last accepted one, once', async () => {
    const { roster, run, work } = await openScreened();
    const app = await work({ settings: { controls, rosters: [roster] } });
    const stop = { selection: 'all', maxSearches: 5 } as const;
    const stopped = await run(app, stop);
    expect(stopped).toMatchObject({ state: 'stopped' });
    await rm(String(roster.csv?.path));
    const held = await run(app, stop);
    expect(held.runId).not.toBe(stopped.runId);
    const ended = await run(app, { selection: 'all' });
    expect(ended).toMatchObject({ runId: held.runId, state: 'incomplete', counts: { screened: 25 } });
    expect(ended.reasons[0]).toContain('guard unreadable');
  });

  it('because the file of related parties is missing screens the last accepted one', async () => {
    const { roster: plain, run, work } = await openScreened();
    const csv = { path: String(plain.csv?.path) };
    const roster = rosterSettingsSchema.parse({
      name: 'people',
      csv,
      parties: [{ csv: { path: `${csv.path}.owners` } }],
    });
    const app = await work({ settings: { controls, rosters: [roster] } });
    const night = await run(app, { roster, selection: 'all' });
    expect(night).toMatchObject({ exitCode: 3, counts: { rows: 0, screened: 25 } });
    expect(night.reasons[1]).toMatch(/\.owners: there is no such file/);
  });
});
