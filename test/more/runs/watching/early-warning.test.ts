import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { deliverDue } from '../../../../src/runs/mail/deliver.js';
import { readEarlyWarnings } from '../../../../src/store/operations/early-warnings.js';
import { makeScaledClock } from '../../../helpers/clocks.js';
import { testDatabases } from '../../../helpers/databases.js';
import { printFigure } from '../../../helpers/figures.js';
import { serveMail } from '../../../helpers/mail-server.js';
import { listenAlong, makeOddNames, openSmallSites } from '../../../helpers/small-site.js';
import { listed, minuteMs, watchlist } from '../../../helpers/small-world.js';

/** Sixty customers, every tenth of them sanctioned. */
const names = makeOddNames(60);
const sanctioned = names.filter((_, index) => index % 10 === 3);
const world = {
  watchlist: [...watchlist, ...sanctioned.map((name, index) => listed(`s${index}`, name))],
  dossiers: [],
};

const referencesOf = (some: readonly string[]): string[] =>
  some.map((name) => `C-${names.indexOf(name) + 1}`).toSorted();

const mailSettings = {
  from: 'night@example.org',
  to: ['compliance@example.org'],
  recipients: [],
  earlyWarning: true,
  timeoutMs: 5_000,
};

describe('critical changes of a long run', () => {
  const { open } = testDatabases('postgres');
  const begin = openSmallSites(open);

  it('are mailed while the run goes on, provisionally, each once, at most every five minutes', async () => {
    const server = await serveMail();
    const { sandbox, database, work, run } = await begin(names);
    sandbox.setWorld(world);
    sandbox.setFaults([{ path: '/aml/search', delayMs: 30, times: 10_000 }]);
    // A night of about twenty minutes.
    const clock = makeScaledClock(400);
    const settings = {
      service: { baseUrl: sandbox.url, rate: { perSecond: 400, concurrency: 1 } },
      mail: { ...mailSettings, transport: 'smtp' as const },
      run: { deadline: '8h' },
    };
    let isRunning = true;
    let mailsAmid = 0;
    const plain = { ...(await work({ clock, settings })), secret: () => server.url };
    const app = listenAlong(plain, (event) => {
      // The first attempt at the second mail is refused.
      if (event.kind === 'warning' && event.code === 'critical_changes') {
        server.isRefusing = server.received.length === 1;
        if (isRunning) mailsAmid += 1;
      }
      if (event.kind === 'warning' && event.code === 'mail_waits') server.isRefusing = false;
      if (event.kind === 'run_finished') isRunning = false;
    });
    const summary = await run(app);
    expect(summary).toMatchObject({ state: 'complete', counts: { screened: 60 } });
    expect(mailsAmid).toBeGreaterThanOrEqual(2);
    // What was refused shortly before the end is tried again after it.
    await clock.sleep(4 * minuteMs);
    await deliverDue(app);

    const listedReferences = server.received.flatMap(({ text }) => text.match(/C-\d+/g) ?? []);
    expect(listedReferences.toSorted()).toEqual(referencesOf(sanctioned));
    expect(server.received[0]?.subject).toBe('[PROVISIONAL] sanction hit - TEST key, people, 2026-01-01');
    expect(server.received[0]?.text).toContain(summary.runId);
    const texts = server.received.map(({ text }) => text).join();
    expect(names.filter((name) => texts.includes(name))).toEqual([]);
    expect(plain.events.some((event) => event.kind === 'warning' && event.code === 'mail_waits')).toBe(true);

    const warnings = await readEarlyWarnings(database, 1);
    const queued = warnings.map(({ queuedAt }) => queuedAt.getTime());
    expect(warnings.every(({ acceptedAt }) => acceptedAt !== null)).toBe(true);
    // The last one of a run does not wait.
    const gaps = queued.slice(1, -1).map((time, index) => time - (queued[index] ?? 0));
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(5 * minuteMs);
    const waited = await database.query(
      z.object({ ms: z.number() }),
      `select extract(epoch from min(warning.queued_at) - batch.committed_at)::double precision * 1000 as ms
       from change_event event
       join lateral (
         select max(answered_at) as committed_at from party_answer answer
         where answer.run_id = event.run_id and answer.party_id = event.party_id
       ) batch on true
       join outbox warning on event.change_id between warning.first_change_id and warning.last_change_id
       where event.severity = 'critical'
       group by event.change_id, batch.committed_at`,
    );
    const longestMs = Math.max(...waited.map(({ ms }) => ms));
    printFigure(`critical changes queued for mail: ${Math.round(longestMs / 1_000)} s after their commit at most`);
    // A second of this machine is seven minutes of the run's.
    expect(longestMs).toBeLessThanOrEqual(5 * minuteMs + 400 * 3_000);
    expect(warnings.reduce((sum, { changes }) => sum + changes, 0)).toBe(sanctioned.length);
  });
});

describe('critical changes', () => {
  const { open } = testDatabases('postgres');
  const begin = openSmallSites(open);

  it('told before a run was stopped are not told again when it goes on', async () => {
    const { sandbox, work, run } = await begin(names);
    sandbox.setWorld(world);
    const dir = await mkdtemp(join(tmpdir(), 'nightscreen-mail-'));
    const directory = join(dir, 'mail');
    const full = { to: mailSettings.to, kinds: ['warning' as const], attach: 'full' as const };
    const mail = { ...mailSettings, transport: 'file' as const, to: [], recipients: [full] };
    const settings = { mail, reports: { dir } };
    await run(await work({ settings }), { maxSearches: 30 });
    const [first, ...none] = await readdir(directory);
    expect(none).toEqual([]);
    await run(await work({ settings }));
    const files = await readdir(directory);
    expect(files).toHaveLength(2);
    const before = await readFile(join(directory, first ?? ''), 'utf8');
    const after = await readFile(join(directory, files.find((file) => file !== first) ?? ''), 'utf8');
    const reported = [before, after].map((text) => new Set(text.match(/C-\d+(?= )/g)));
    expect([...(reported[0] ?? []), ...(reported[1] ?? [])].toSorted()).toEqual(referencesOf(sanctioned));
    expect(sanctioned.filter((name) => before.includes(name)).length).toBe(reported[0]?.size);
  });

  it('are an event without names where no mail is configured', async () => {
    const { sandbox, work, run } = await begin(names.slice(0, 20));
    sandbox.setWorld(world);
    sandbox.setFaults([{ path: '/aml/search', delayMs: 30, times: 10_000 }]);
    const rate = { perSecond: 400, concurrency: 1 };
    const unmailed = await work({ clock: makeScaledClock(400), settings: { service: { baseUrl: sandbox.url, rate } } });
    await run(unmailed);
    const reported = unmailed.events.filter((event) => event.kind === 'warning' && event.code === 'critical_changes');
    expect(reported.length).toBeGreaterThanOrEqual(1);
    expect(reported[0]).toMatchObject({
      message: expect.stringMatching(/^[12] critical changes? found so far and not reported yet; no mail is sent/),
    });
  });
});
