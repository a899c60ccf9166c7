import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { RosterHeldError } from '../../../../src/errors.js';
import { toReport } from '../../../../src/reports/report.js';
import { renderRejectsCsv } from '../../../../src/reports/write-report.js';
import type { Database } from '../../../../src/store/database/database.js';
import { readRejects } from '../../../../src/store/roster-imports.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { openRosterNights, readChanges, readCounts, readParties } from '../../../helpers/roster-nights.js';
import { buildCounts, buildRunFacts } from '../../../helpers/run-facts.js';
import { makeAcceptance } from '../../../helpers/small-site.js';

const guards = {};
const header = 'customer_id,type,name';
const rowsOf = (count: number, from = 1): string[] =>
  Array.from({ length: count }, (_, index) => `C-${from + index},person,Customer ${from + index}`);

describeOnPostgres('small things of a roster', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  const heldBecause = (play: Promise<unknown>): Promise<string> =>
    play.then(
      () => 'taken',
      (error: unknown) => (error instanceof RosterHeldError ? error.message : Promise.reject(error)),
    );

  it('holds a roster of which most is exchanged, however small it is', async () => {
    const nights = await openRosterNights(database, 'exchanged');
    await nights.play({ header, guards, rows: rowsOf(5) });
    expect(await heldBecause(nights.play({ header, guards, rows: rowsOf(5, 11) }))).toMatch(
      /5 of 5 customers of the last snapshot are missing: 100 % \(at most 1 %.*\[guard shrink_night\].*nightscreen import --file \S+ --roster exchanged --accept-roster/s,
    );
    expect(await heldBecause(nights.play({ header, guards, rows: rowsOf(2) }))).toContain('3 of 5');
    // One by one is what small rosters do.
    await nights.play({ header, guards, rows: rowsOf(3) });
    await nights.play({ header, guards, rows: rowsOf(2) });
    await nights.play({ header, guards, rows: rowsOf(5, 11), acceptRoster: await makeAcceptance({ database }) });
    await nights.close();
  });

  it('takes a source of related parties with a header alone for saying that nobody has any, as far as the guards let it', async () => {
    const nights = await openRosterNights(database, 'partyless');
    const director = (id: number): string => `C-1,director,person,Director ${id},,`;
    await nights.play({ header, guards, rows: rowsOf(2), parties: [] });
    expect(await readCounts(database)).toEqual(['customers=2', 'joined=2', 'rows=2']);
    await nights.play({ header, guards, rows: rowsOf(2), parties: [1, 2, 3, 4, 5, 6, 7].map(director) });
    expect(await heldBecause(nights.play({ header, guards, rows: rowsOf(2), parties: [] }))).toMatch(
      /7 of 7 rows of related parties are fewer than in the last snapshot: 100 %.*\[guard party_shrink\]/,
    );
    await nights.play({
      header,
      guards,
      rows: rowsOf(2),
      parties: [],
      acceptRoster: await makeAcceptance({ database }),
    });
    expect((await readParties(database)).filter((line) => line.includes('director'))).toEqual([]);
    await nights.close();
  });

  it('takes aliases in another order for no change, also where an earlier version stored the order that the source had', async () => {
    const nights = await openRosterNights(database, 'aliases');
    const row = (alias: string): string => `A-1,person,Ann Lee,,,,${alias},,`;
    const changes = async (): Promise<readonly string[]> =>
      (await readChanges(database)).filter((line) => line.includes('A-1')).map((line) => line.replace(/^\d+: /, ''));
    await nights.play({ rows: [row('Zoe Lee;Ann Ek;May Lee')] });
    await nights.play({ rows: [row('Ann Ek;Zoe Lee;May Lee')] });
    const readDigest = () =>
      database.query(
        z.object({ digest: z.string(), version: z.number() }),
        `select encode(record_digest, 'hex') as digest, version from customer where reference = 'A-1'`,
      );
    const digest = await readDigest();
    await database.execute(`update customer set record_digest = '\\x00' where reference = 'A-1'`);
    await nights.play({ rows: [row('May Lee;Zoe Lee;Ann Ek')] });
    expect(await changes()).toEqual(['A-1 joined']);
    // Compared once: the next night knows it by its digest.
    expect(await readDigest()).toEqual(digest);
    await nights.play({ rows: [row('May Lee;Ann Ek'), row('Ann Ek;May Lee')] });
    expect(await changes()).toEqual(['A-1 joined', 'A-1 changed aliases']);
    const unnamed = z.object({ unnamed: z.number() });
    expect(
      await database.query(
        unnamed,
        `select count(*)::integer as unnamed from customer_version where changed_fields = '{}'`,
      ),
    ).toEqual([{ unnamed: 0 }]);
    await nights.close();
  });

  it('gives back the rejected rows of columns without a header, those that contradict each other included', async () => {
    const nights = await openRosterNights(database, 'blanks');
    const blank = 'customer_id,type,name,,birth_date,';
    const bad = ['B-1,person,Ann,first,1970-01-01,x', 'B-1,person,Bo,,1971-01-01,=y', 'B-2,robot,Cy,third,,z'];
    await nights.play({ header: blank, rows: ['B-0,person,Di,,,', ...bad] });
    const runIds = await database.query(z.object({ runId: z.number() }), 'select max(run_id) as "runId" from run');
    const rejects = await readRejects(database, runIds[0]?.runId ?? 0);
    expect(rejects.map(({ fields }) => Object.keys(fields))).toContainEqual([
      'customer_id',
      'type',
      'name',
      'column 4',
      'birth_date',
      'column 6',
    ]);
    const counts = buildCounts({ rows: 10, customers: 7, rejected: 3, duplicates: 0 });
    const csv = [...renderRejectsCsv(toReport({ ...buildRunFacts(), counts, rejects }))]
      .join('')
      .replace(/^\ufeff/, '');
    const [headerLine = '', ...lines] = csv.split(/\r?\n/).filter((line) => line !== '');
    const again = { header: headerLine, isDelta: true };
    // A part of a roster without any sound row would be refused whole.
    await nights.play({ ...again, rows: [...lines, `B-9,person,Ed${','.repeat(12)}`] });
    const refused = await readRejects(database, (runIds[0]?.runId ?? 0) + 1);
    expect(refused.map(({ reason, fields }) => [reason, fields])).toEqual(
      rejects.map(({ reason, fields }) => [reason, fields]),
    );
    const mended = lines.map((line) => line.replace('robot', 'person').replace('B-1,person,Bo', 'B-3,person,Bo'));
    await nights.play({ ...again, rows: mended });
    expect((await readParties(database)).filter((line) => line.startsWith('B-'))).toEqual([
      'B-0 0 customer Di',
      'B-1 0 customer Ann',
      'B-2 0 customer Cy',
      'B-3 0 customer Bo',
      'B-9 0 customer Ed',
    ]);
    await nights.close();
  });
});
