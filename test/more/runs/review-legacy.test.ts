import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readXlsx, writeXlsx } from 'hucre/xlsx';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { renderWorkingListWorkbook } from '../../../src/reports/review-list.js';
import { findUntaken, importLegacy, isSampled, renderUntaken } from '../../../src/runs/review/legacy.js';
import { exportAlerts } from '../../../src/runs/review/lists.js';
import { findReviewer } from '../../../src/runs/review/people.js';
import { sql } from '../../../src/store/database/statement.js';
import { readAlertHistories } from '../../../src/store/review/decisions.js';
import { describeOnPostgres, readRows } from '../../helpers/databases.js';
import { collectBytes } from '../../helpers/report-files.js';
import { importList } from '../../helpers/reviewers.js';
import { openSmallSites } from '../../helpers/small-site.js';
import { listed, watchlist } from '../../helpers/small-world.js';

const facts = { importCommand: 'x', wholeListCommand: 'y', allColumns: false };

/** A key under which the sample holds the alert of this number and not the others of the first four. */
function findKey(alertId: number): Buffer {
  for (let tried = 0; ; tried += 1) {
    const key = Buffer.alloc(32, `key ${tried} `);
    if ([1, 2, 3, 4].every((id) => isSampled(id, key) === (id === alertId))) return key;
  }
}

describeOnPostgres('decisions of an older system', (open) => {
  const begin = openSmallSites(open);

  it('are taken over for 90 days, once, beside what was decided here by workbook, and a sample stays open', async () => {
    const { sandbox, database, work, run } = await begin();
    await database.execute(
      sql`insert into organisation (name, digest_key, review_key, created_at) values (${'default'}, ${findKey(1)}, ${findKey(1)}, ${new Date()})`,
    );
    sandbox.setWorld({ watchlist: [...watchlist, listed('three', 'Tamsin Oyelaran')], dossiers: [] });
    await run(await work({ offsetMs: -86_400_000 }));
    const app = await work();
    const folder = await mkdtemp(join(tmpdir(), 'nightscreen-legacy-'));
    const reviewer = await findReviewer(database, undefined);
    const list = async () => exportAlerts(app, { roster: null, exportedBy: 'a test' });

    // Decided here: the first customer whose alert is not the sample's.
    const ids = await database.query(
      z.object({ id: z.number(), reference: z.string(), name: z.string(), match: z.string() }),
      `select alert_id as id, reference, listed ->> 'name' as name, match_id as match
       from alert_with_match join party using (party_id) join customer using (customer_id) order by alert_id`,
    );
    const [sample, here, taken] = ids;
    expect(ids.map(({ id }) => id)).toEqual([1, 2, 3]);
    const exported = await list();
    const bytes = await collectBytes(
      renderWorkingListWorkbook(exported.alerts, { ...exported, ...facts, waiting: exported.alerts.length }),
    );
    const rows = (await readXlsx(bytes)).sheets[0]?.rows ?? [];
    const [header = []] = rows;
    for (const row of rows.filter((cells) => cells[header.indexOf('Customer')] === here?.reference)) {
      row[header.indexOf('Disposition')] = 'True match';
      row[header.indexOf('Reason')] = 'met him';
    }
    const decided = await importList(app, await writeXlsx({ sheets: [{ name: 'To review', rows }] }));
    expect(decided).toMatchObject({ isApplied: true, decided: [{ reason: 'met him' }], undecided: 2, faulty: [] });

    const path = join(folder, 'old.csv');
    const say = (who: (typeof ids)[number] | undefined, match: string, name: string, decision = 'false positive') =>
      `${who?.reference};${match};${name};${decision};not him;B. Old;3.2.2021;seen twice`;
    const good = [say(sample, '', sample?.name.toUpperCase() ?? ''), say(taken, taken?.match ?? '', '')];
    const bad = [say(here, '', here?.name ?? ''), 'C-99;;Nobody;false_positive;r;B;2021;', say(taken, '', '=Else')];
    const write = (lines: readonly string[]) =>
      writeFile(
        path,
        ['Customer ID;match_id;listed name;decision;reason;decided by;decided at;comment', ...lines].join('\n'),
      );
    const take = async (how: { apply?: boolean; partial?: boolean } = {}) => {
      const { isApplied, rows } = await importLegacy(app, {
        path,
        reviewer,
        apply: true,
        partial: false,
        ...how,
      });
      return { isApplied, kinds: rows.map((row) => ('reason' in row ? row.reason : row.kind)), rows };
    };
    await write([...good, ...bad]);
    const kinds = ['sample', 'decided', 'decided_here', 'unknown_customer', 'not_listed'];
    expect(await take({ apply: false, partial: true })).toMatchObject({ isApplied: false, kinds });
    const refused = await take();
    expect(refused).toMatchObject({ isApplied: false, kinds });
    expect((await list()).alerts).toHaveLength(2);
    expect(renderUntaken(findUntaken(refused.rows))).toContain(
      '6,the customer has no match with that match id or name',
    );
    expect(renderUntaken(findUntaken(refused.rows))).toContain("'=Else");
    expect(await take({ partial: true })).toMatchObject({ isApplied: true, kinds });
    const legacy = { verdict: 'false_positive', reviewer: 'B. Old', decidedAt: '3.2.2021', reason: 'not him' };
    expect((await list()).alerts).toMatchObject([
      { party: { reference: sample?.reference }, lastDecision: null, legacy: { ...legacy, isSample: true } },
    ]);
    const stored = await readRows(
      database,
      sql`select origin, reviewer, (extract(epoch from expires_at - decided_at) / 86400)::integer as days, state
       from disposition join alert using (alert_id) where alert_id = ${taken?.id ?? null}`,
    );
    expect(stored).toEqual([{ origin: 'legacy', reviewer: reviewer.name, days: 90, state: 'false_positive' }]);
    await write(good);
    expect(await take()).toMatchObject({ isApplied: true, kinds: ['same', 'same'] });
    await write([say(taken, '', taken?.name ?? '', 'true_match')]);
    expect(await take()).toMatchObject({ isApplied: false, kinds: ['taken_otherwise'] });
    // The same matches on another account are decided there too, also where the last run was not on it.
    const budget = { maxSearchesPerMonth: 1_000, pricePerSearch: 0.2, currency: 'EUR', reserveShare: 0.05 };
    await run(await work({ apiKey: sandbox.livePrivateKey, settings: { budget } }));
    await run(app);
    await write(good);
    const onBoth = (await take()).rows.map(({ row, mode, kind }) => [row.line, mode, kind === 'same']);
    expect(onBoth).toEqual([
      [2, 'test', true],
      [2, 'live', false],
      [3, 'test', true],
      [3, 'live', false],
    ]);
    const [history] = await readAlertHistories(database, 'default', taken?.reference ?? '');
    expect(history?.history.map(({ what, who }) => [what, who])).toEqual([
      ['opened critical', null],
      ['legacy false_positive', 'B. Old'],
      ['decided false_positive', reviewer.name],
    ]);
    await expect(database.execute('update alert set legacy = null where legacy is not null')).rejects.toThrow(
      /never changed or removed/,
    );
    // The words are in no copy, so that they are gone when the owner erases them.
    const shown = `select bool_or(facts::text ~ 'not him|B. Old') as copies from shown_alert where facts -> 'legacy' -> 'isSample' = 'true'`;
    expect(await readRows(database, shown)).toEqual([{ copies: false }]);
    await database.execute(
      `update alert set legacy = legacy || '{"reason": "erased", "comment": null}' where legacy is not null`,
    );
    const [erased] = await readAlertHistories(database, 'default', taken?.reference ?? '');
    expect(erased?.history.map(({ reason }) => reason)).toContain('erased');
  });
});
