import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { toFileRoster } from '../../../../src/roster/settings.js';
import { acceptGaps, measureCoverage } from '../../../../src/runs/coverage.js';
import type { Database } from '../../../../src/store/database/database.js';
import { describeOnPostgres, readRows } from '../../../helpers/databases.js';
import { decide, makeAcceptance, openSmallSites, searched } from '../../../helpers/small-site.js';
import { people, watchlist } from '../../../helpers/small-world.js';
import { expectAgreement } from '../../../helpers/status-agreement.js';

const sound = people.slice(2).map((name, at) => `C-${at + 1},person,${name}`);

/** Whom the view for other systems does not take for screened, as `reference state reason`. */
const readUnscreened = async (database: Database): Promise<readonly string[]> =>
  (
    await database.query(
      z.object({ line: z.string() }),
      `select concat_ws(' ', reference, state, reason) as line from customer_screening_status
       where reason is not null order by reference collate "C"`,
    )
  ).map(({ line }) => line);

describeOnPostgres('customers of whom the roster cannot be read', (open) => {
  const openSite = openSmallSites(open);
  const begin = async (rows: readonly string[], parties?: readonly string[]) => {
    const site = await openSite();
    const folder = await mkdtemp(join(tmpdir(), 'nightscreen-unread-'));
    const write = async (name: string, lines: readonly string[]): Promise<string> => {
      await writeFile(join(folder, name), [...lines, ''].join('\n'));
      return join(folder, name);
    };
    const writeRows = (written: readonly string[], more = '') =>
      write('people.csv', [`customer_id,type,name${more && ','}${more}`, ...written]);
    const writeParties = (written: readonly string[]) => write('parties.csv', ['customer_id,role,name', ...written]);
    const roster = toFileRoster('people', await writeRows(rows));
    const { csv } = toFileRoster('parties', await writeParties(parties ?? []));
    const settings = parties && csv ? { ...roster, parties: [{ csv, columns: {} }] } : roster;
    const app = await site.work({ settings: { rosters: [settings] } });
    const night = (columns = settings.columns) => {
      const mapped = { ...settings, columns };
      const mappedApp = { ...app, settings: { ...app.settings, rosters: [mapped] } };
      return site.run(mappedApp, { roster: mapped, selection: 'all' });
    };
    return { ...site, app, night, writeRows, writeParties };
  };

  it('are not screened when their row was rejected, and end in exit code 3 until somebody accepts it until a day', async () => {
    const { app, database, night } = await begin([...sound, 'C-9,robot,Ann']);
    const first = await night();
    expect(first).toMatchObject({
      exitCode: 3,
      counts: { rows: 5, customers: 4, rejected: 1, screened: 4, skipped: 1 },
    });
    expect(first.reasons).toEqual([
      'not screened because of the roster: 1 customer whose row was rejected, without an accepted record. Correct the roster, or accept it until a day: nightscreen roster except --roster people --all --until DATE --by NAME --reason TEXT',
    ]);
    expect(await expectAgreement(app)).toEqual({ clear: 4, not_screened: 1 });
    expect(await readUnscreened(database)).toEqual(['C-9 not_screened row_rejected']);
    const measure = (days = 0) => {
      const at = { ...app, clock: { ...app.clock, now: () => new Date(Date.now() + days * 86_400_000) } };
      return measureCoverage(at, { list: 0 });
    };
    expect(await measure()).toMatchObject({ isCovered: false, total: { inScope: 5, valid: 4 } });
    const until = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
    const acceptance = await makeAcceptance({ database });
    const refused = acceptGaps(app, { roster: 'people', customers: ['C-8'], until }, acceptance);
    await expect(refused).rejects.toThrow('"C-8": not a gap to accept');
    const over = acceptGaps(app, { roster: 'people', customers: null, until: '2020-01-01' }, acceptance);
    await expect(over).rejects.toThrow('2020-01-01 is past');
    await acceptGaps(app, { roster: 'people', customers: ['C-9'], until }, acceptance);
    expect(await night()).toMatchObject({ state: 'complete', exitCode: 0 });
    expect(await measure()).toMatchObject({
      isCovered: true,
      total: { inScope: 5, valid: 4, states: { not_screened: 1 } },
      rosters: [{ gaps: [{ reason: 'row_rejected', count: 1, accepted: 1 }] }],
    });
    expect(await readUnscreened(database)).toEqual(['C-9 not_screened row_rejected']);
    expect(await measure(3)).toMatchObject({ isCovered: false });
    await expect(database.execute('delete from acceptance')).rejects.toThrow();
  });

  it('are told apart by the reason: rows that contradict each other, rows without an id, and directors without a name', async () => {
    const { app, database, night, sandbox, writeRows, writeParties } = await begin(
      [...sound, 'C-9,person,Ann Lee', 'C-9,person,Bo Ek', ',person,Cy Dow'],
      ['C-1,director,', 'C-2,director,Bo Falk'],
    );
    const first = await night();
    // Nobody can say whose the row without an id is: it keeps coverage from being complete, and invents no customer.
    expect(first).toMatchObject({ exitCode: 3, counts: { rows: 7, rejected: 3 } });
    const reasons = first.reasons.join(' ');
    expect(reasons).toContain('1 customer whose rows contradict each other, without an accepted record');
    expect(reasons).toContain('1 row without a readable customer id');
    expect(reasons).toContain('1 customer with a related party that cannot be read');
    // Who is named only by contradicting rows is searched for by each of them.
    expect([searched(sandbox, 'Ann Lee'), searched(sandbox, 'Bo Ek')]).toEqual([1, 1]);
    expect(await readUnscreened(database)).toEqual([
      'C-1 not_screened related_party_unreadable',
      'C-9 not_screened conflicting_duplicate',
    ]);
    expect(await expectAgreement(app)).toEqual({ clear: 3, not_screened: 2 });

    await writeRows([...sound, 'C-9,person,Ann Lee', ',person,Cy Dow']);
    // Who was known stays: the customer is screened with the director of the last accepted record.
    await writeParties(['C-1,director,Ann Falk', 'C-2,director,']);
    expect(await night()).toMatchObject({
      exitCode: 3,
      reasons: [expect.stringMatching(/^not screened because of the roster: 1 row without a readable customer id\./)],
    });
    expect(await expectAgreement(app)).toEqual({ clear: 5 });
    const measured = await measureCoverage(app, { list: 0 });
    expect(measured).toMatchObject({ isCovered: false, total: { inScope: 5, valid: 5 } });
    const choice = { roster: undefined, customers: null, until: new Date().toISOString().slice(0, 10) };
    await acceptGaps(app, choice, await makeAcceptance({ database }));
    expect(await measureCoverage(app, { list: 0 })).toMatchObject({ isCovered: true });
  });

  it('are searched for under an id that a spreadsheet has changed, and two names of one such id are a conflict', async () => {
    const { app, database, night, sandbox, writeRows } = await begin([
      ...sound,
      '1.23457E+11,person,Ann Lee',
      '1.23457E+11,person,Bo Ek',
      '1.23458E+11,person,Cy Dow',
    ]);
    const first = await night();
    expect(first).toMatchObject({ exitCode: 3, counts: { rows: sound.length + 3, rejected: 2 } });
    expect(['Ann Lee', 'Bo Ek', 'Cy Dow'].map((name) => searched(sandbox, name))).toEqual([1, 1, 1]);
    expect(first.snapshot?.doubts).toMatchObject([{ field: 'id', doubts: 3, values: [{ why: 'spreadsheet_id' }, {}] }]);
    expect(await readUnscreened(database)).toEqual(['1.23457E+11 not_screened conflicting_duplicate']);
    await writeRows([...sound, "'000124,person,Ann Lee", '000124,person,Bo Ek', '####,person,Cy Dow']);
    expect(await night()).toMatchObject({ exitCode: 3, counts: { rejected: 2 } });
    expect(await readUnscreened(database)).toContain('000124 not_screened conflicting_duplicate');
    // The same customer in two forms of the id is one, repeated, also when the form changes in a later night.
    const same = ["'000124,person,Ann Lee", '000124,person,Ann Lee', '####,person,Cy Dow'];
    for (const rows of [same, same.toReversed(), same.slice(1)]) {
      await writeRows([...sound, ...rows]);
      expect((await night()).counts).toMatchObject({ rejected: 0, duplicates: rows.length - 2 });
      expect(await readUnscreened(database)).not.toContain('000124 not_screened conflicting_duplicate');
    }
    await expectAgreement(app);
  });

  it('are searched for under a doubtful name, and without a hit are clear only once the name is right or listed as real', async () => {
    const listed = watchlist[0]?.name ?? '';
    const rows = ['D-1,person,Cl?mence Montevrain', 'D-2,person,Clemence Montevrain', `D-3,person,${listed} ?`];
    const { app, database, night, sandbox, writeRows } = await begin([...sound, ...rows]);
    const first = await night();
    expect(first).toMatchObject({ exitCode: 3, counts: { rows: 7, customers: 7, rejected: 0, screened: 7 } });
    expect(first.reasons.join(' ')).toContain('not screened because of the roster: 2 customers with doubtful names');
    expect(first.snapshot?.doubts).toEqual([
      {
        column: 'name',
        field: 'name',
        read: 5,
        doubts: 2,
        unknown: 0,
        values: [{ value: '', why: 'lost_letters', rows: 2 }],
      },
    ]);
    expect(searched(sandbox, 'Cl?mence Montevrain')).toBe(1);
    const doubtful = ['D-1 not_screened doubtful_name', 'D-3 open_alert doubtful_name'];
    expect(await readUnscreened(database)).toEqual(doubtful);
    expect(await expectAgreement(app)).toEqual({ clear: 5, not_screened: 1, open_alert: 1 });
    // The same again, and with the alert decided: the name is as doubtful as before.
    await decide(database, [1]);
    expect(await readUnscreened(database)).toEqual([doubtful[0], 'D-3 not_screened doubtful_name']);
    expect(await night()).toMatchObject({ exitCode: 3 });
    expect(await expectAgreement(app)).toEqual({ clear: 5, not_screened: 2 });
    // Coverage says the same of each, and not that they were never searched for.
    const uncovered = { status: 'unreadable', failedBecause: 'doubtful_name', lastScreenedAt: expect.any(Date) };
    expect(await measureCoverage(app, { list: 5 })).toMatchObject({
      isCovered: false,
      total: { inScope: 7, valid: 5, never: 0, unreadable: 2 },
      rosters: [{ uncovered: [uncovered, uncovered], gaps: [{ reason: 'doubtful_name', count: 2 }] }],
    });
    // Who was clear before is not any more, and a name that is mended is.
    await writeRows([
      ...sound,
      'D-1,person,Clemence Montevrain',
      'D-2,person,Cl?mence Montevrain',
      `D-3,person,${listed}`,
    ]);
    expect(await night()).toMatchObject({ exitCode: 3, snapshot: { doubts: [{ doubts: 1 }] } });
    expect(await readUnscreened(database)).toEqual(['D-2 not_screened doubtful_name']);
    const real = { realNames: ['Cl?mence Montevrain'] };
    expect(await night(real)).toMatchObject({ state: 'complete', exitCode: 0, snapshot: { doubts: [] } });
    expect(await readUnscreened(database)).toEqual([]);
  });

  it('are not clear while an alias or a related party has a doubtful name', async () => {
    const { app, database, night, writeRows, writeParties } = await begin(sound, [
      'C-1,director,Cl?mence',
      'C-2,director,Bo Falk',
    ]);
    const withAliases = (aliases: string) => {
      const [head = '', ...rest] = sound.slice(2);
      return [...sound.slice(0, 2).map((row) => `${row},`), `${head},"${aliases}"`, ...rest.map((row) => `${row},`)];
    };
    const columns = { aliases: 'aliases' };
    await writeRows(withAliases('Ada Berg|Bo Li'), 'aliases');
    expect(await night(columns)).toMatchObject({ exitCode: 3 });
    expect(await readUnscreened(database)).toEqual([
      'C-1 not_screened doubtful_name',
      'C-3 not_screened doubtful_name',
    ]);
    expect(await expectAgreement(app)).toEqual({ clear: 2, not_screened: 2 });
    await writeRows(withAliases('Ada Berg;Bo Li'), 'aliases');
    await writeParties(['C-1,director,Clemence', 'C-2,director,Bo Falk']);
    expect(await night(columns)).toMatchObject({ exitCode: 0 });
    expect(await expectAgreement(app)).toEqual({ clear: 4 });
  });

  it('are nobody where a row is a total, a repeated header or a footer: such a row is a reject and nothing is open because of it', async () => {
    const stray = ['customer_id,type,name', 'Total,,3', '(4 rows affected)', '-----,------,----'];
    const { app, database, night, writeRows, writeParties } = await begin(
      [...sound, ...stray],
      ['C-1,director,Ann Falk'],
    );
    await writeParties(['C-1,director,Ann Falk', 'C-2,director,Cy Dow', 'Total,,']);
    const first = await night();
    expect(first).toMatchObject({ exitCode: 0, counts: { rows: 8, customers: 4, rejected: 4 } });
    expect(await readUnscreened(database)).toEqual([]);
    expect(await expectAgreement(app)).toEqual({ clear: 4 });
    // A director who is gone from a source is dropped although one of its rows is none.
    await writeParties(['C-1,director,Bo Falk', 'C-2,director,Cy Dow', 'Total,,']);
    await writeRows([...sound, ...stray]);
    expect(await night()).toMatchObject({ exitCode: 0, counts: { rejected: 4 } });
    const kept = await readRows(
      database,
      `select request.name from party join screening_request request using (request_id) where party.is_current and request.name like '%Falk'`,
    );
    expect(kept).toEqual([{ name: 'Bo Falk' }]);
  });
});
