import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AppContext } from '../../../src/runs/app-context.js';
import { showAlerts, undoDecision } from '../../../src/runs/review/decide.js';
import { assignAlerts, findReviewer } from '../../../src/runs/review/people.js';
import { reviewSettingsSchema } from '../../../src/runs/review/settings.js';
import { type Database, readValue } from '../../../src/store/database/database.js';
import { saveLegacyDecisions } from '../../../src/store/review/legacy.js';
import { openReviewSheet, readReportSheet, saveReportSheet } from '../../../src/store/review/waiting.js';
import type { DispositionVerdict } from '../../../src/vocabulary.js';
import { testDatabases } from '../../helpers/databases.js';
import { decideByMarks } from '../../helpers/reviewers.js';
import { findAlerts, openSmallSites } from '../../helpers/small-site.js';
import { dayMs, fileOf, listed, people, toCsv, watchlist } from '../../helpers/small-world.js';

const [one = listed('one', ''), two = listed('two', ''), control = listed('c', '')] = watchlist;

const readNumber = (database: Database, sql: string): Promise<number> =>
  readValue(database, z.number(), `select ${sql} as number`);

const countShown = (database: Database) => readNumber(database, '(select count(*) from shown_alert)');

/** Keeps a sheet of what waits; gives what it shows, and what the tables say without anything kept. */
async function keepSheet({ database, clock }: AppContext) {
  const now = clock.now();
  const runId = await readNumber(database, '(select max(run_id) from run)');
  const scope = { rosterId: 1, accountId: 1 };
  await database.transaction((transaction) => saveReportSheet(transaction, runId, scope, { now, maxItems: 10_000 }));
  const sheet = await readReportSheet(database, runId);
  const list = { organisationId: 1, roster: null, assignee: null, exportedBy: 'a test', now };
  const { waiting } = await openReviewSheet(database, list);
  return { sheet, waiting };
}

// Whole runs on the embedded database are slow, and the statements are the same there.
describe("a report's list of what waits", () => {
  const begin = openSmallSites(testDatabases('postgres').open);

  it('shows each alert as it is, whatever has happened to it, and puts none together again to which nothing has', async () => {
    const { sandbox, database, roster, work, run } = await begin();
    const review = { ...reviewSettingsSchema.parse({}), expiresAfterDays: { critical: 1 } };
    const at = (daysAgo: number, settings = review) =>
      work({ offsetMs: -daysAgo * dayMs, settings: { review: settings } });
    const rerun = async (daysAgo: number, settings = review) => run(await at(daysAgo, settings));
    const by = await findReviewer(database, undefined);
    const findAlert = async (app: AppContext, reference: string) => {
      const [alert] = await showAlerts(app, reference);
      const [alertId = 0] = await findAlerts(database, reference);
      return { mark: alert?.mark ?? '', alertId };
    };
    const decide = async (app: AppContext, reference: string, verdict: DispositionVerdict) => {
      const { fourEyes } = app.settings.review;
      const { mark } = await findAlert(app, reference);
      expect(await decideByMarks(app, [mark], verdict)).toMatchObject([
        { kind: fourEyes.length > 0 ? 'proposed' : 'decided' },
      ]);
    };
    const undo = async (app: AppContext, reference: string) => {
      const { mark } = await findAlert(app, reference);
      expect(await undoDecision(app, { mark, reason: 'a slip', reviewer: by })).toMatchObject({ kind: 'undone' });
    };
    const assign = (app: AppContext, to: string) =>
      assignAlerts(app, { marks: [], customer: 'C-1', severity: null, roster: null, to, by });

    let shown: unknown = [];
    const expectShown = async (what: string, app: AppContext) => {
      const { sheet, waiting } = await keepSheet(app);
      expect(waiting, `${what} shows`).not.toEqual(shown);
      expect(sheet, what).toMatchObject({ alerts: waiting, waiting: waiting.length });
      const stored = await countShown(database);
      expect((await keepSheet(app)).sheet?.alerts, `${what}, a second time`).toEqual(waiting);
      expect(await countShown(database), `${what} is stored once`).toBe(stored);
      shown = waiting;
    };

    await rerun(9.5);
    const early = await at(9);
    await expectShown('a first night', early);
    await decide(early, 'C-1', 'inconclusive');
    await expectShown('a decision', early);
    await undo(early, 'C-1');
    await expectShown('an undone decision', early);
    await decide(early, 'C-1', 'false_positive');
    await expectShown('a settling', early);
    await undo(early, 'C-1');
    await expectShown('an undone settling', early);
    await assign(early, 'ada');
    await expectShown('an assignment', early);
    const later = await at(6);
    const legacy = { verdict: 'false_positive', reason: 'not him', comment: null } as const;
    const { alertId } = await findAlert(later, 'C-2');
    await saveLegacyDecisions(
      database,
      [{ ...legacy, alertId, decidedBy: 'B. Old', decidedAt: '3.2.2021', isSample: true }],
      { reviewer: by.name, isAttested: by.isAttested, now: later.clock.now() },
    );
    await expectShown('what an older system said', later);
    await decide(later, 'C-2', 'inconclusive');
    await expectShown('a decision about a sample', later);
    sandbox.setWorld({
      watchlist: [{ ...one, topics: ['sanction', 'crime'] }, { ...two, id: 'amla_new' }, control],
      dossiers: [],
    });
    await rerun(5);
    await expectShown('another topic and another id', await at(4.9));
    const [header, first, second, ...rest] = toCsv(people).trim().split('\n');
    const rows = [`${header},birth_date`, `${first},`, `${second},1971-02-03`, ...rest.map((row) => `${row},`)];
    await writeFile(fileOf(roster), rows.join('\n'));
    await run(await at(4), { acceptRoster: { by, reason: 'a test' } });
    await expectShown('another birth date of a customer', await at(3.9));
    await decide(await at(3.9), 'C-1', 'false_positive');
    await rerun(2, { ...review, fourEyes: ['critical'] });
    await expectShown('a decision that has run out', await at(1.9));
    await decide(await at(1.9, { ...review, fourEyes: ['critical'] }), 'C-2', 'false_positive');
    await expectShown('a proposal', await at(1.8));
  });
});
