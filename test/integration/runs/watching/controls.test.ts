import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toSubject } from '../../../../src/mail/report-message.js';
import { toReport } from '../../../../src/reports/report.js';
import type { Sandbox } from '../../../../src/sandbox/start-sandbox.js';
import type { Database } from '../../../../src/store/database/database.js';
import { makeScaledClock } from '../../../helpers/clocks.js';
import { testDatabases } from '../../../helpers/databases.js';
import { showRun } from '../../../helpers/show-run.js';
import { listenAlong, listSearches, openSmallSites, searched } from '../../../helpers/small-site.js';
import { controls, dayMs, usualScreening, watchlist } from '../../../helpers/small-world.js';

const names = Array.from({ length: 13 }, (_, index) => `Customer Number ${index}`);
const world = { watchlist, dossiers: [] };
const blind = { watchlist: [], dossiers: [] };
const everyFive = { screening: { ...usualScreening, controlsEvery: 5 } };

/** The searches for customers between the rounds of control searches, without the first searches of the sandbox. */
function toRuns(sandbox: Sandbox, without = 0): number[] {
  const control = new Set<string | null | undefined>(controls.map(({ name }) => name));
  const calls = listSearches(sandbox).slice(without);
  const runs: number[] = [];
  let isRound = false;
  for (const { searchName } of calls) {
    const isControl = control.has(searchName);
    if (isControl && !isRound) runs.push(0);
    if (!isControl) runs[runs.length - 1] = (runs[runs.length - 1] ?? 0) + 1;
    isRound = isControl;
  }
  return runs;
}

const listRounds = async (database: Database, runId: string): Promise<string[]> => {
  const [first] = (await showRun(database, 'default', runId)).controls;
  return (first?.rounds ?? []).map(
    ({ round, occasion, searches, verdict }) => `${round} ${occasion} ${searches} ${verdict}`,
  );
};

describe('controls', () => {
  const { open } = testDatabases('postgres');
  const begin = openSmallSites(open);

  it('run first, after each interval and last, without other searches in a round; a resumed run loses and repeats no round', async () => {
    const { sandbox, database, work, run } = await begin(names);
    const summary = await run(await work({ offsetMs: -dayMs, settings: everyFive }));
    expect(summary).toMatchObject({ state: 'complete', counts: { searches: 13, screened: 13 } });
    expect(toRuns(sandbox)).toEqual([5, 5, 3, 0]);
    expect(await listRounds(database, summary.runId)).toEqual([
      '1 start 0 passed',
      '2 periodic 5 passed',
      '3 periodic 10 passed',
      '4 end 13 passed',
    ]);
    expect(summary.counts).toMatchObject({ attempts: 13 + 4 * controls.length });

    const before = listSearches(sandbox).length;
    const stopped = await run(await work({ settings: everyFive }), { maxSearches: 7 });
    expect(stopped.state).toBe('stopped');
    const resumed = await run(await work({ settings: everyFive }));
    expect(resumed).toMatchObject({ state: 'complete', runId: stopped.runId });
    expect(toRuns(sandbox, before)).toEqual([5, 2, 5, 1, 0]);
    expect(await listRounds(database, resumed.runId)).toEqual([
      '1 start 0 passed',
      '2 periodic 5 passed',
      '3 end 7 passed',
      '4 resumed 7 passed',
      '5 periodic 12 passed',
      '6 end 13 passed',
    ]);
  });

  it('that fail between searches, many at once, leave every answer unapplied that no earlier round proved', async () => {
    const { sandbox, database, work, run } = await begin(names);
    const [match, none] = controls;
    const many = { ...everyFive, controls: [match, none, match, match, match] };
    const patchy = listenAlong(await work({ offsetMs: -dayMs, settings: many }), (event) => {
      if (event.kind === 'progress' && event.done === 5) sandbox.setWorld(blind);
    });
    const red = await run(patchy, { writeReport: true });
    sandbox.setWorld(world);
    expect(red).toMatchObject({ state: 'incomplete', exitCode: 3, counts: { screened: 0, failed: 13 } });
    expect(red.reasons[0]).toBe('4 of 5 control searches failed');
    expect(toRuns(sandbox)).toEqual([5, 0]);
    const facts = await showRun(database, 'default', red.runId);
    expect(facts.states).toMatchObject({ clear: 0, not_screened: 13 });
    expect(facts.controls[0]?.verdict).toBe('failed');
    const rounds = new Set((await listRounds(database, red.runId)).map((line) => line.replace(/ \w+ \d+/, '')));
    expect([...rounds]).toEqual(['1 passed', '2 failed']);
    const page = await readFile(join(red.artifacts ?? '', 'report.html'), 'utf8');
    expect(page).toContain('round 2 failed (after 5 searches)');
    expect(page).not.toMatch(/have a valid screening|No match changed/);
    expect(toSubject(toReport(facts))).toContain('[RED] control search failed');

    const again = await run(await work({ settings: everyFive }));
    expect(again).toMatchObject({ state: 'complete', counts: { planned: 13, screened: 13 } });
  });

  it('keep a run with a failed round from continuing after a crash', async () => {
    const { sandbox, database, work, run } = await begin(names);
    const stopped = await run(await work({ settings: everyFive }), { maxSearches: 7 });
    await database.execute(
      `update control_outcome set verdict = 'failed', found = 'no hit' where round = 3 and ordinal = 0`,
    );
    await database.execute(`update run set proven_wave = 0, applied_wave = 0, unconfirmed_because = 'control_failed'`);
    const before = listSearches(sandbox).length;
    const red = await run(await work({ settings: everyFive }));
    expect(red).toMatchObject({ runId: stopped.runId, state: 'incomplete', counts: { screened: 0, failed: 13 } });
    expect(listSearches(sandbox)).toHaveLength(before);
  });

  it('are repeated until an outage during a round is over', async () => {
    const { sandbox, database, work, run } = await begin(names);
    sandbox.setFaults([{ name: controls[0].name, status: 503, times: 20, afterCalls: 1 }]);
    const clock = makeScaledClock(400);
    const settings = { ...everyFive, run: { deadline: '8h' } };
    const summary = await run(await work({ clock, maxAttempts: 6, baseDelayMs: 500, settings }));
    expect(summary).toMatchObject({ state: 'complete', counts: { screened: 13, failed: 0 } });
    expect(await listRounds(database, summary.runId)).toHaveLength(4);
    expect(names.map((name) => searched(sandbox, name))).toEqual(names.map(() => 1));
  });

  it('must match entries with the topics that they name', async () => {
    const { work, run } = await begin(names.slice(0, 3));
    const pep = [{ ...controls[0], topics: ['role.pep'] }, controls[1]];
    expect(await run(await work({ settings: { controls: pep } }))).toMatchObject({
      state: 'incomplete',
      counts: { screened: 0, failed: 3 },
    });
    const either = [{ ...controls[0], topics: ['role.pep', 'sanction'], label: 'our listed one' }, controls[1]];
    expect(await run(await work({ settings: { controls: either } }))).toMatchObject({ state: 'complete' });
  });
});
