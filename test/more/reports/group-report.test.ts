import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { reportJob } from '../../../jobs/report.js';
import { mailMessageSchema } from '../../../src/mail/message.js';
import { mailSettingsSchema } from '../../../src/mail/settings.js';
import { toFileRoster } from '../../../src/roster/settings.js';
import { reportGroup, type WrittenGroupReport } from '../../../src/runs/group-report.js';
import { sendGroupReport } from '../../../src/runs/mail/manage.js';
import { readOutbox } from '../../../src/store/operations/outbox.js';
import { describeOnPostgres } from '../../helpers/databases.js';
import { makeAcceptance, openSitesAfterNight, type SmallSite } from '../../helpers/small-site.js';
import {
  dayMs,
  fileOf,
  hourMs,
  listed,
  signal,
  type TestAppContext,
  watchlist,
  writeRoster,
} from '../../helpers/small-world.js';

const hourAgo = () => new Date(Date.now() - hourMs);
const atNight = (app: TestAppContext, due = hourAgo()): TestAppContext => ({ ...app, lastRescreening: () => due });
const outcomes = ({ report }: WrittenGroupReport) =>
  report.rosters.map(({ roster, outcome, level }) => `${roster}: ${outcome}, ${level}`);

describeOnPostgres('the report over all rosters', (_open, databases) => {
  const begin = openSitesAfterNight(databases);

  /** The workplace of a site with further rosters. */
  const openGroup = async ({ work, roster }: SmallSite, names: readonly string[]) => {
    const others = await Promise.all(names.map(async (name) => toFileRoster(name, await writeRoster(['Zoltan Free']))));
    return { app: await work({ settings: { rosters: [roster, ...others] } }), others };
  };

  it('says of each roster whether it ran since the night was due, with the alerts and customers as they are now', async () => {
    const site = await begin();
    const { app, others } = await openGroup(site, ['cards', 'savings', 'never']);
    const [cards, savings] = others;
    if (!cards || !savings) throw new Error('there are two more rosters');
    const before = await reportGroup(atNight(app));
    expect(outcomes(before)).toEqual([
      'cards: never_imported, red',
      'never: never_imported, red',
      'people: did_not_run, red',
      'savings: never_imported, red',
    ]);
    expect(before.report.rosters[2]).toMatchObject({
      changes: null,
      alerts: { waiting: 2, opened: 0 },
      customers: { inScope: 6, states: expect.arrayContaining([{ code: 'open_alert', count: 2 }]) },
    });

    const [first = listed('one', '')] = watchlist;
    site.sandbox.setWorld({ watchlist: [...watchlist, { ...first, id: 'fresh', name: 'Zoltan Free' }], dossiers: [] });
    const people = await site.run(app, { writeReport: true });
    await site.run(app, { roster: cards });
    await rm(fileOf(savings));
    await expect(site.run(app, { roster: savings })).rejects.toThrow(/no such file|does not exist|not found/i);
    const after = await reportGroup(atNight(app));
    expect(outcomes(after)).toEqual([
      'never: never_imported, red',
      'savings: refused, red',
      'cards: complete, complete',
      'people: complete, complete',
    ]);
    const [, , newcomers, known] = after.report.rosters;
    expect(newcomers).toMatchObject({ alerts: { waiting: 1, opened: 1 }, run: { report: null } });
    expect(known).toMatchObject({ run: { id: people.runId, exitCode: 0, report: `../${people.runId}/report.html` } });
    expect(after.report.total).toMatchObject({ alerts: { waiting: 3, opened: 1 }, customers: { inScope: 7 } });
    expect(after.report.budget.calls).toBeGreaterThan(0);

    const page = await readFile(join(after.directory, 'report.html'), 'utf8');
    expect(page).not.toContain('Zoltan');
    expect(await readFile(join(after.directory, 'SHA256SUMS'), 'utf8')).toMatch(
      /report\.html\n.*rosters\.csv\n.*report\.json/,
    );
    // The former report of the night is kept.
    expect(await readFile(join(after.directory, 'earlier-1', 'report.html'), 'utf8')).toContain('did not run');
  });

  it('lists critical and high changes of known customers, and counts what is more severe as new', async () => {
    const site = await begin();
    const app = await site.work();
    const [first = listed('one', '')] = watchlist;
    site.sandbox.setWorld({ watchlist: [...watchlist, { ...first, id: 'again' }], dossiers: [] });
    await site.run(app);
    const { report } = await reportGroup(atNight(app));
    expect(report.rosters[0]).toMatchObject({
      outcome: 'complete',
      alerts: { waiting: 3, opened: 1 },
      changes: { urgent: [{ customer: 'C-1', severity: 'critical', change: expect.stringContaining('Newly listed') }] },
    });
    expect(report.verdict.news).toMatch(/^Changes: 1 critical/);
  });

  it('says that a roster is held, why, and how to accept it', async () => {
    const site = await begin();
    const app = await site.work();
    await writeFile(fileOf(site.roster), 'customer_id,type,name\nC-1,person,Wilhelmina Achterberg\n');
    await site.run(app);
    const { report, directory } = await reportGroup(atNight(app));
    expect(report.rosters[0]).toMatchObject({
      level: 'partial',
      held: [
        {
          kind: 'roster',
          reasons: expect.arrayContaining([expect.stringMatching(/ /)]),
          command: 'nightscreen rescreen --roster people --accept-roster --by NAME --reason TEXT',
        },
      ],
    });
    expect(await readFile(join(directory, 'rosters.csv'), 'utf8')).toContain('--accept-roster');
    await site.run(app, { acceptRoster: await makeAcceptance(app) });
    expect((await reportGroup(atNight(app))).report.rosters[0]?.held).toEqual([]);
  });

  it('of a night in progress is red, and its mail says which rosters have not ended', async () => {
    const site = await begin();
    const group = await openGroup(site, ['cards']);
    const recipients = [{ to: ['head@bank.example'], kinds: ['group'] }];
    const mail = mailSettingsSchema.parse({ from: 'nightscreen@bank.example', recipients });
    const app = await site.work({ settings: { rosters: group.app.settings.rosters, mail } });
    await site.run(app);
    await site.database.execute("update run set state = 'running', finished_at = null where run_id = 2");
    const { report } = await reportGroup(atNight(app));
    expect(report.rosters.map(({ roster, outcome }) => [roster, outcome])).toEqual([
      ['cards', 'not_begun'],
      ['people', 'running'],
    ]);
    expect(report.verdict).toMatchObject({
      level: 'red',
      short: expect.stringMatching(/^1 roster not begun: cards; 1 roster still running: people; /),
    });
    await reportJob.run(atNight(app), signal, { dueAt: new Date() });
    const [sent] = await readOutbox(app.database, 'default', { keyPrefix: 'group/' });
    const { text } = mailMessageSchema.parse(sent?.content);
    expect(text).toMatch(/^RED: 1 roster not begun: cards; 1 roster still running: people\.$/m);
    expect(text).toMatch(/^- people: still running, .* to now\./m);
    expect(text).toMatch(/^- cards: HAS NOT BEGUN\. .* the night is still in progress \(people\)/m);
    expect(text).toMatch(/To mail its end: nightscreen report --all --send$/m);
  });

  it('keeps a roster that the configuration no longer names, while it has customers or alerts', async () => {
    const site = await begin();
    const [cards] = (await openGroup(site, ['cards'])).others;
    if (!cards) throw new Error('there is one more roster');
    const app = await site.work({ settings: { rosters: [cards] } });
    await site.run(app, { roster: cards });
    const { report } = await reportGroup(atNight(app));
    expect(report.rosters[0]).toMatchObject({ roster: 'people', outcome: 'not_configured', level: 'partial' });
    expect(report.verdict.short).toMatch(/^1 roster no longer configured: people; /);
  });

  it('without a roster is red, and without a schedule is about one screening period', async () => {
    const site = await begin();
    const app = await site.work({ settings: { rosters: [] } });
    // Without a configured roster all that were imported count.
    expect(outcomes(await reportGroup(app))).toEqual(['people: did_not_run, red']);
    await site.run(app);
    expect(outcomes(await reportGroup(app))).toEqual(['people: complete, complete']);
  });

  it('over a past span has the figures of its runs, and misses a roster that did not run in it', async () => {
    const site = await begin();
    const { app } = await openGroup(site, ['cards']);
    await site.run(app);
    const since = new Date(Date.now() - 2 * dayMs);
    const { report } = await reportGroup(app, { since, until: new Date(Date.now() - dayMs + hourMs) });
    expect(report).toMatchObject({ isCurrent: false, rosters: [{ roster: 'cards' }, { roster: 'people', runs: 1 }] });
    expect(report.rosters[1]).toMatchObject({
      outcome: 'complete',
      alerts: { waiting: 2 },
      customers: { uncovered: null },
    });
    await expect(reportGroup(app, { since: new Date(Date.now() + hourMs) })).rejects.toThrow(/future/);
  });

  it('is mailed once by the job `report` to those who chose it, also when a report of a roster cannot be written', async () => {
    const site = await begin();
    const mail = mailSettingsSchema.parse({
      from: 'nightscreen@bank.example',
      to: ['reviewers@bank.example'],
      recipients: [{ to: ['head@bank.example', 'board@bank.example'], kinds: ['group'], attach: 'masked' }],
    });
    const app = atNight(await site.work({ settings: { mail } }));
    const run = await site.run(app, { writeReport: true });
    const slot = { dueAt: new Date() };
    const read = () => readOutbox(app.database, 'default', { keyPrefix: 'group/' });
    expect(await reportJob.run(app, signal, slot)).toEqual({ runs: [] });
    const first = await read();
    expect(first.map(({ destination, kind, state }) => [destination, kind, state])).toEqual([
      ['head@bank.example', 'mail_report', 'sent'],
      ['board@bank.example', 'mail_report', 'sent'],
    ]);
    expect(first[0]?.content).toMatchObject({
      subject: expect.stringMatching(/^\[COMPLETE\] 1 roster complete; 2 open alerts.* - TEST key, all rosters, /),
      attachments: [{ name: expect.stringMatching(/^group-.*-report-masked\.html$/) }],
    });
    // The same slot again, as after a crash.
    await reportJob.run(app, signal, slot);
    expect(await read()).toHaveLength(2);

    await writeFile(join(run.artifacts ?? '', 'manifest.json'), 'another report');
    await app.database.execute('update report set sent_at = null, manifest_sha256 = null');
    await app.database.execute("delete from outbox where dedup_key like 'report/%'");
    await expect(reportJob.run(app, signal, { dueAt: new Date(Date.now() + 1) })).rejects.toThrow();
    expect((await read()).map(({ state }) => state)).toEqual(['sent', 'sent', 'queued', 'queued']);
  });

  it('is mailed by hand as often as a person asks for it, and refused where nobody chose it', async () => {
    const site = await begin();
    const to = ['reviewers@bank.example'];
    const from = 'nightscreen@bank.example';
    const without = await site.work({ settings: { mail: mailSettingsSchema.parse({ from, to }) } });
    await expect(sendGroupReport(without, {}, {})).rejects.toThrow(/kinds: \[group\]/);
    const recipients = [{ to: 'head@bank.example', kinds: ['group'] }];
    const app = atNight(await site.work({ settings: { mail: mailSettingsSchema.parse({ from, recipients }) } }));
    const first = await sendGroupReport(app, {}, {});
    expect(first.mails).toMatchObject([{ recipient: 'head@bank.example', state: 'sent' }]);
    expect((await sendGroupReport(app, {}, {})).mails[0]?.id).not.toBe(first.mails[0]?.id);
    expect(first.mails[0]?.subject).toMatch(/^\[RED\] 1 roster did not run: people; /);
  });
});
