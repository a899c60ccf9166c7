import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { measureCoverage } from '../../../../src/runs/coverage.js';
import { describeRun } from '../../../../src/runs/describe-run.js';
import { runImport } from '../../../../src/runs/import/import-run.js';
import { previewImport } from '../../../../src/runs/preview.js';
import { toAlertSeenVersion } from '../../../../src/runs/review/alerts.js';
import { decideAlerts, showAlerts, undoDecision } from '../../../../src/runs/review/decide.js';
import { findReviewer } from '../../../../src/runs/review/people.js';
import type { Database } from '../../../../src/store/database/database.js';
import { readReviewOrganisation } from '../../../../src/store/organisations.js';
import { holdAlerts } from '../../../../src/store/review/decisions.js';
import type { DispositionVerdict } from '../../../../src/vocabulary.js';
import { describeOnPostgres, readRows } from '../../../helpers/databases.js';
import { openRosterNights, readChanges } from '../../../helpers/roster-nights.js';
import { openSmallSites, searched } from '../../../helpers/small-site.js';
import { fileOf } from '../../../helpers/small-world.js';

const row = (id: number, rest = ',,,,,,'): string => `C-${id},person,Customer Number ${id}${rest}`;
const rows = (count: number): string[] => Array.from({ length: count }, (_, at) => row(at + 1));
const dayMs = 86_400_000;

/** The changes of C-1, import by import. */
const readAttendance = async (database: Database): Promise<readonly string[]> =>
  (await readChanges(database)).filter((line) => line.includes(' C-1 ') && !line.includes('joined'));

const attendanceRow = z.object({ absent: z.boolean(), left: z.boolean() });
const readFirst = (database: Database) =>
  database.query(
    attendanceRow,
    `select absent_since is not null as absent, left_at is not null as left from customer where reference = 'C-1'`,
  );

describeOnPostgres('leaving a roster', (open) => {
  const begin = openSmallSites(open);

  it('counts only days on which a whole snapshot came: nobody leaves by the clock alone', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const play = (day: number, present = rows(3).slice(1)) => nights.play({ day, rows: present, leaveAfterDays: 2 });
    await play(0, rows(3));
    // The first snapshot after two weeks without any.
    await play(14);
    expect(await readAttendance(database)).toEqual(['2: C-1 absent']);
    // Absent for ten days by the clock, of which one had a snapshot.
    await play(24);
    await play(24);
    expect(await readAttendance(database)).toEqual(['2: C-1 absent']);
    await play(25);
    expect(await readAttendance(database)).toEqual(['2: C-1 absent', '5: C-1 left absent']);
    await nights.close();
  });

  it('by an end date is the day after that in the time zone of the run', async () => {
    const { database, roster, work } = await begin();
    const today = new Date().toISOString().slice(0, 10);
    const fiveNextDay = Date.parse(today) + dayMs + 5 * 3_600_000;
    await writeFile(fileOf(roster), `customer_id,type,name,last_day\nC-1,person,Ada Ficticia,${today}\n`);
    const ending = { ...roster, columns: { endDate: 'last_day' } };
    for (const [timezone, left] of [
      ['Etc/GMT+11', false],
      ['UTC', true],
    ] as const) {
      const settings = { timezone, rosters: [ending] };
      await runImport(
        await work({ offsetMs: fiveNextDay - Date.now(), settings }),
        ending,
        new AbortController().signal,
      );
      expect([timezone, await readFirst(database)]).toMatchObject([timezone, [{ left }]]);
    }
  });

  it('neither marks nor counts absence by a held, a failed, a previewed or a partial import', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const leaveAfterDays = 2;
    await nights.play({ leaveAfterDays, rows: rows(40) });
    const others = rows(40).slice(1);
    const none = async (day: number): Promise<void> => {
      await nights.play({ day, leaveAfterDays, rows: others.slice(10), guards: {} }).catch(() => undefined);
      await nights.play({ day, leaveAfterDays, rows: ['C-2,"person'] }).catch(() => undefined);
      const { app, settings } = await nights.prepare({ day, leaveAfterDays, rows: others });
      await previewImport(app, settings, new AbortController().signal);
      await nights.play({ day, leaveAfterDays, rows: others.slice(0, 2), isDelta: true });
    };
    await none(1);
    expect(await readFirst(database)).toEqual([{ absent: false, left: false }]);
    await nights.play({ day: 2, leaveAfterDays, rows: others });
    // Two days would be enough to leave.
    for (const day of [3, 6]) await none(day);
    await nights.play({ day: 12, leaveAfterDays, rows: others });
    expect(await readFirst(database)).toEqual([{ absent: true, left: false }]);
    await nights.close();
  });

  it('keeps a customer in scope on the last day, in UTC, and no longer', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const toDay = (days: number): string => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);
    await nights.play({ rows: [row(1, `,,,,,,${toDay(0)}`), row(2, `,,,,,,${toDay(-1)}`), row(3)] });
    const left = await readRows(database, 'select reference from customer where left_at is not null');
    expect(left).toEqual([{ reference: 'C-2' }]);
    await nights.close();
  });

  it('searches at once for a customer who returns, whatever the earlier answer', async () => {
    const { sandbox, database, work, run, roster } = await begin(['Aroha Ngata', 'Ciro Malvestuto']);
    const settings = { ...roster, columns: { active: 'active' } };
    const write = (active: string) =>
      writeFile(
        fileOf(roster),
        `customer_id,type,name,active\nC-1,person,Aroha Ngata,${active}\nC-2,person,Ciro Malvestuto,yes\n`,
      );
    await write('yes');
    await run(await work({ offsetMs: -3 * 3_600_000 }), { roster: settings });
    await write('no');
    const without = await run(await work({ offsetMs: -2 * 3_600_000 }), { roster: settings });
    expect(without.counts).toMatchObject({ planned: 0, skipped: 1 });
    await write('yes');
    const back = await run(await work({ offsetMs: -3_600_000 }), { roster: settings });
    expect(back.counts).toMatchObject({ planned: 1, screened: 1, skipped: 1 });
    expect([searched(sandbox, 'Aroha Ngata'), searched(sandbox, 'Ciro Malvestuto')]).toEqual([2, 1]);
    // Once, not every night.
    expect((await run(await work(), { roster: settings })).counts).toMatchObject({ planned: 0, skipped: 2 });
    expect(await readAttendance(database)).toEqual([
      '2: C-1 changed standing',
      '2: C-1 left inactive',
      '3: C-1 changed standing',
      '3: C-1 returned inactive',
    ]);
  });

  it('a true match that is open again keeps its customer in scope until it is decided, a dropped party until it is no longer matched', async () => {
    const { sandbox, database, work, run, roster } = await begin();
    const settings = { ...roster, columns: { active: 'active', aliases: 'alias' } };
    const write = (...lines: string[]) =>
      writeFile(fileOf(roster), `customer_id,type,name,alias,active\n${lines.join('\n')}\n`);
    await write('C-1,person,Wilhelmina Achterberg,,yes', 'C-2,person,Aroha Ngata,Oktavian Prunescu,yes');
    const first = await work({ offsetMs: -4 * dayMs });
    await run(first, { roster: settings });
    const { organisationId, reviewKey } = await readReviewOrganisation(database, 'default');
    const reviewer = await findReviewer(database, database.dialect === 'embedded' ? 'R. Reviewer' : undefined);
    const confirm = (ids: readonly number[], verdict: DispositionVerdict = 'true_match') =>
      database.transaction(async (transaction) => {
        const said = { verdict, reason: 'it is them', comment: null, origin: 'review' } as const;
        const decisions = [...(await holdAlerts(transaction, organisationId, ids)).values()].map((alert) => {
          const seenVersion = toAlertSeenVersion(alert, reviewKey);
          return { alertId: alert.alertId, seenVersion, ...said, sheetId: null, expiresAt: null };
        });
        await decideAlerts(
          transaction,
          { organisationId, reviewKey, reviewer, now: new Date(), review: first.settings.review },
          decisions,
        );
      });
    await confirm([1, 2]);
    for (const reference of ['C-1', 'C-2']) {
      const [alert] = await showAlerts(first, reference);
      await undoDecision(first, { mark: alert?.mark ?? '', reviewer, reason: 'a slip' });
    }
    await write('C-1,person,Wilhelmina Achterberg,,no', 'C-2,person,Aroha Ngata,,yes');
    const night = async (daysAgo: number) => {
      const app = await work({ offsetMs: -daysAgo * dayMs, settings: { rosters: [settings] } });
      const { runId, counts, snapshot } = await run(app, { roster: settings });
      const { sums, balance } = await describeRun(app, runId);
      expect(balance).toMatchObject({ disagreements: [] });
      const { total } = await measureCoverage(app, { list: 0 });
      return { counts, states: sums?.states, inScope: total.inScope, dropped: snapshot?.droppedParties };
    };
    expect(await night(3)).toMatchObject({ counts: { planned: 2 }, inScope: 2, states: { true_match: 2 }, dropped: 1 });
    expect(['Wilhelmina Achterberg', 'Oktavian Prunescu'].map((name) => searched(sandbox, name))).toEqual([2, 2]);
    await confirm([1, 2]);
    expect(await night(2)).toMatchObject({ counts: { planned: 1 }, inScope: 1, states: { true_match: 1 }, dropped: 0 });
    expect(['Wilhelmina Achterberg', 'Oktavian Prunescu'].map((name) => searched(sandbox, name))).toEqual([2, 3]);
    // The alert of the dropped alias waits; that of C-1 does not, as the customer has left, but it stays a true match.
    await confirm([2], 'no_longer_matched');
    expect(await night(1)).toMatchObject({ counts: { planned: 1 }, inScope: 1, states: { clear: 1, true_match: 0 } });
    expect(['Wilhelmina Achterberg', 'Oktavian Prunescu'].map((name) => searched(sandbox, name))).toEqual([2, 3]);
    const left = z.object({ reference: z.string(), state: z.string(), inScope: z.boolean() });
    expect(
      await database.query(
        left,
        'select reference, state, in_scope as "inScope" from customer_screening_status order by 1',
      ),
    ).toEqual([
      { reference: 'C-1', state: 'true_match', inScope: false },
      { reference: 'C-2', state: expect.any(String), inScope: true },
    ]);
  });
});
