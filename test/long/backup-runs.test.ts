import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { AppContext } from '../../src/runs/app-context.js';
import { listMails } from '../../src/runs/mail/manage.js';
import { resumeRun } from '../../src/runs/resume-run.js';
import { exportStatus } from '../../src/runs/status.js';
import { runReports } from '../../src/runs/write-reports.js';
import { readRecentRestorations, readRestorations } from '../../src/store/backup/restoration.js';
import { findValue } from '../../src/store/database/database.js';
import { queueOutbox } from '../../src/store/operations/outbox.js';
import { describeOnEachDatabase, insertDispositionsSql, testDatabases } from '../helpers/databases.js';
import { backUp, readAllRows, restore } from '../helpers/former-databases.js';
import { seenByHand } from '../helpers/reviewers.js';
import { openSmallSites } from '../helpers/small-site.js';
import { makeAppContext } from '../helpers/small-world.js';

const dayMs = 86_400_000;
const { signal } = new AbortController();

async function readReport({ settings }: AppContext): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {};
  for (const entry of await readdir(settings.reports.dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[path.slice(settings.reports.dir.length)] = (await readFile(path)).toString('base64');
  }
  return files;
}

async function readStatuses(app: AppContext): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for await (const batch of (await exportStatus(app, {}, signal)).batches) all.push(...batch);
  return all;
}

describeOnEachDatabase('a backup that is restored into the other kind of database', (open, { dialect }) => {
  const openSite = openSmallSites(open);
  const others = testDatabases(dialect === 'postgres' ? 'embedded' : 'postgres');

  it('holds every row, makes the same report, goes on with a stopped run, and sends nothing again by itself', async () => {
    const { sandbox, database, roster, run, work } = await openSite();
    await run(await work());
    const stopped = await run(await work({ offsetMs: 1.5 * dayMs }), { maxSearches: 2 });
    expect(stopped).toMatchObject({ runId: expect.stringMatching(/-2$/), state: 'stopped' });
    await queueOutbox(database, [
      {
        organisationId: 1,
        kind: 'mail_failure',
        destination: 'night@bank.example',
        runId: 2,
        dedupKey: 'once',
        content: { subject: 'x' },
        queuedAt: new Date(),
        giveUpAt: new Date(Date.now() + dayMs),
      },
    ]);
    // Decided under a login that the other database does not know, as one that it would refuse from anybody.
    await database.execute(
      insertDispositionsSql(
        `select alert_id, 'decided' as kind, 'inconclusive' as verdict, session_user as reviewer, ${dialect === 'embedded'} as is_attested,
           'looked at' as reason, '${seenByHand}'::jsonb as seen
         from alert_with_match order by alert_id limit 1`,
      ),
    );

    const path = await backUp(database);
    const before = await readAllRows(database);
    const restored = await others.open(await others.locateEmpty());
    const lost = '2026-03-04-rescreen-3';
    const folders = ['2026-03-02-rescreen-1', lost, 'spans', 'notes-77'];
    const summary = await restore(restored, path, folders);
    const after = await readAllRows(restored);
    const settled = ['outbox', 'lease'];
    for (const table of Object.keys(before).filter((name) => !settled.includes(name))) {
      expect([table, after[table]]).toEqual([table, before[table]]);
    }
    expect(summary).toMatchObject({
      heldMails: [1],
      waitingMessages: 0,
      openRuns: [stopped.runId],
      rows: { run: 2, customer: 6, disposition: 1, disposition_text: 1 },
    });
    expect(await listMails(restored, 'default', { all: false })).toMatchObject([
      { id: 1, state: 'given_up', lastError: expect.stringContaining('held by the restore of a backup of') },
    ]);

    const options = { settings: (await work()).settings, offsetMs: 1.5 * dayMs };
    const first = await makeAppContext(database, sandbox, options);
    const reports = { ...first.settings.reports, dir: `${first.settings.reports.dir}-restored` };
    const second = await makeAppContext(restored, sandbox, { ...options, settings: { ...options.settings, reports } });
    expect(await readStatuses(second)).toEqual(await readStatuses(first));
    await runReports(first, { runId: '1' });
    await runReports(second, { runId: '1' });
    const files = await readReport(first);
    expect(Object.keys(files).length).toBeGreaterThan(5);
    expect(await readReport(second)).toEqual(files);

    const resumed = await resumeRun(second, '2', signal);
    // The first run since the restore says what is missing, and nobody reads it as complete; the next one does not repeat it.
    expect(resumed).toMatchObject({ state: 'incomplete', counts: { screened: 6, failed: 0, remaining: 0 } });
    expect(resumed.reasons).toEqual([
      expect.stringMatching(
        /^the database was restored on \d{4}-.* from a backup of \d{4}-.*All runs, dispositions and acceptances in between are missing, also 1 run whose reports exist: 2026-03-04-rescreen-3\. Ask the reviewers to repeat what they decided in between$/,
      ),
    ]);
    const [restoration] = await readRestorations(restored);
    expect(restoration).toMatchObject({ backupAt: new Date(summary.header.createdAt), lostRuns: [lost] });
    expect(await readRecentRestorations(restored)).toEqual([restoration]);
    // Whatever had a number since the backup is not taken for something else.
    const night = await run(await makeAppContext(restored, sandbox, { ...options, offsetMs: 3 * dayMs }), { roster });
    expect(night).toMatchObject({ runId: expect.stringMatching(/-1003$/), state: 'complete', counts: { changes: 0 } });
    expect(await readRecentRestorations(restored)).toEqual([]);
    const next = await findValue(
      restored,
      z.number(),
      `select nextval(pg_get_serial_sequence('customer_state_change', 'change_id')) as next`,
    );
    expect(next).toBeGreaterThan(1_000_000);
    await Promise.all([first, second].map((app) => app.client().close()));
  }, 120_000);
});
