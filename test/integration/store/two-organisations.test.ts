import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { dossierLinkSchema, type RosterSettings, toFileRoster } from '../../../src/roster/settings.js';
import { runCheck } from '../../../src/runs/checks/check.js';
import { measureCoverage } from '../../../src/runs/coverage.js';
import { dropMails, listMails } from '../../../src/runs/mail/manage.js';
import { runReconciliation } from '../../../src/runs/reconcile-run.js';
import { decideAlerts } from '../../../src/runs/review/decide.js';
import { importDecisions } from '../../../src/runs/review/import-list.js';
import { exportAlerts } from '../../../src/runs/review/lists.js';
import { findReviewer } from '../../../src/runs/review/people.js';
import { findRun, listRuns } from '../../../src/runs/run-reference.js';
import { runScreening } from '../../../src/runs/screening-run.js';
import { runSweep } from '../../../src/runs/sweep-run.js';
import { writeReportFor } from '../../../src/runs/write-reports.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { readImportedRosters } from '../../../src/store/customers/coverage.js';
import { readCustomerStatuses } from '../../../src/store/customers/states.js';
import {
  countWaiting,
  makeWebhooksDue,
  postponeWebhook,
  takeWebhookEvents,
} from '../../../src/store/customers/webhooks.js';
import type { Database, Transaction } from '../../../src/store/database/database.js';
import { readHeldLeases, toLeaseKey, tryAcquireLease } from '../../../src/store/database/leases.js';
import { sql } from '../../../src/store/database/statement.js';
import { readCurrentDiscrepancies, readDecidable } from '../../../src/store/dossiers/discrepancies.js';
import { findLastSweep, readDossiers } from '../../../src/store/dossiers/dossiers.js';
import { forgetEvents, listMarkedDossiers, markDossiers } from '../../../src/store/dossiers/event-marks.js';
import { readDossierHistory } from '../../../src/store/night/changes.js';
import { findDeadChecks } from '../../../src/store/night/checks.js';
import { countStoredChanges, readHistory } from '../../../src/store/night/responses.js';
import {
  noteWatched,
  readAhead,
  readOpenIncidents,
  saveIncidentNews,
} from '../../../src/store/operations/incidents.js';
import {
  beginJobRun,
  cancelJobRun,
  findJobRun,
  findSchedulePause,
  pauseSchedule,
  readJobRuns,
  readJobSchedules,
  saveJobSchedules,
} from '../../../src/store/operations/jobs.js';
import { readStoredFigures } from '../../../src/store/operations/metrics.js';
import { claimNext, makeDue, queueOutbox, queueReport, readOutbox } from '../../../src/store/operations/outbox.js';
import { findLastNights, readRunning } from '../../../src/store/operations/watch-facts.js';
import {
  findLastAccount,
  findRoster,
  hasAccountAt,
  isKnownCustomer,
  readAcceptedSettings,
  readOrganisation,
  readReviewOrganisation,
  readRosterNames,
  readRostersOf,
  readSettingsHistory,
  wasEverAssignee,
} from '../../../src/store/organisations.js';
import { readSpanRuns } from '../../../src/store/reports/span-facts.js';
import { holdAlerts, readAlertHistories } from '../../../src/store/review/decisions.js';
import { readLegacyCustomers } from '../../../src/store/review/legacy.js';
import { assignWaitingAlerts } from '../../../src/store/review/people.js';
import { readBulk, saveBulk } from '../../../src/store/review/waiting.js';
import { hasImport } from '../../../src/store/roster/imports.js';
import { findReportableRuns, findUnsentRuns, isOnTrial, readRuns } from '../../../src/store/runs.js';
import { describeOnPostgres } from '../../helpers/databases.js';
import { showRun } from '../../helpers/show-run.js';
import { buildSandboxDossier, controls, listed, makeAppContext, writeRoster } from '../../helpers/small-world.js';

const { signal } = new AbortController();
const hourMs = 3_600_000;
const now = new Date();
const later = (hours: number): Date => new Date(now.getTime() + hours * hourMs);
/** The same in both organisations: a roster's name, a receiver, an address, a reviewer, keys, jobs. */
const hook = 'https://core.bank.example/hook';
const mailbox = 'mlro@bank.example';
const reviewer = 'e.meyer';
const eventKey = 'ab'.repeat(32);

/** An organisation with one of everything; all its free text has the organisation's name in it. */
type Made = Awaited<ReturnType<typeof makeOrganisation>>;

async function makeOrganisation(database: Database, sandbox: Sandbox, name: string) {
  const Name = name.charAt(0).toUpperCase() + name.slice(1);
  const hit = listed(name, `Nicola ${Name}`);
  sandbox.setWorld({
    watchlist: [hit, listed('c', 'Control Listed')],
    dossiers: [1, 3].map((number) => buildSandboxDossier(number, { name: `Person ${Name}` })),
  });
  const roster: RosterSettings = {
    ...toFileRoster('retail', await writeRoster([`Nicola ${Name}`, `Zdenek ${Name}`, `Ottokar ${Name}`])),
    dossiers: dossierLinkSchema.parse({}),
  };
  const settings = { organisation: name, rosters: [roster], controls };
  const app = { ...(await makeAppContext(database, sandbox, { settings })), owner: `process-of-${name}` };
  await runSweep(app, { writeReport: false }, signal);
  const night = { kind: 'rescreen', roster, selection: 'due', importFirst: true, writeReport: false } as const;
  const run = await findRun(database, name, (await runScreening(app, night, signal)).runId);
  await runReconciliation(app, { writeReport: false }, signal);
  await writeReportFor(app, run);
  const question = { type: 'person', name: `Nicola ${Name}`, reason: `file ${name}`, askedBy: `desk ${name}` } as const;
  await runCheck(app, question, signal);
  const { organisationId } = await readOrganisation(database, name);
  await awaitReceiver(database, organisationId);
  await leaveRuns(database, run.runId, name);
  await fillQueues(database, { name, organisationId, runId: run.runId });
  return { app, name, organisationId, run, accountId: run.accountId ?? 0, rosterId: run.rosterId ?? 0 };
}

/** A check and a sweep that are left by a process without a lease. */
async function leaveRuns(database: Database, likeRunId: number, name: string): Promise<void> {
  for (const kind of ['check', 'sweep'] as const) {
    await database.execute(
      sql`insert into run (organisation_id, account_id, mode, kind, state, stage, lease_key, epoch, owner, settings_digest, version, started_at)
       select organisation_id, account_id, mode, ${kind}, 'running', 'started', ${toLeaseKey(kind, name, '1')}, 1, ${`dead process of ${name}`}, 's', 'v', started_at from run where run_id = ${likeRunId}`,
    );
  }
}

/** The changes of state of a roster wait for a receiver. */
async function awaitReceiver(database: Database, organisationId: number): Promise<void> {
  await database.execute(
    sql`insert into webhook_event (organisation_id, url, change_id)
     select organisation_id, ${hook}, change_id from customer_state_change join customer using (customer_id) join roster using (roster_id)
     where organisation_id = ${organisationId}`,
  );
}

async function fillQueues(
  database: Database,
  { name, organisationId, runId }: { name: string; organisationId: number; runId: number },
): Promise<void> {
  const common = { organisationId, runId: null, content: { body: name }, queuedAt: now, giveUpAt: later(1) };
  await queueOutbox(database, [
    { ...common, kind: 'mail_failure', destination: mailbox, dedupKey: 'failure/1' },
    { ...common, kind: 'mail_failure', destination: mailbox, dedupKey: 'failure/2' },
    { ...common, kind: 'webhook', destination: hook, dedupKey: 'message-1' },
  ]);
  await queueReport(database, { organisationId, runId }, { queuedAt: now, giveUpAt: later(1) });
  const incident = { kind: 'stuck', subject: 'sweep', roster: null, reason: `of ${name}`, mark: 'm', runId } as const;
  await saveIncidentNews(database, organisationId, { begun: [incident], again: [], over: [], dropped: [] }, now);
  const due = { job: 'rescreen', dueSlot: '2026-11-22', localDate: '2026-11-22', dueAt: now };
  const attempt = { owner: `process of ${name}`, now, isLate: false, again: [], timeoutMs: 1_000 };
  await beginJobRun(database, organisationId, { ...due, ...attempt });
  const plan = { job: 'rescreen', cron: name === 'north' ? '0 2 * * *' : '0 3 * * *', timezone: 'UTC' };
  await saveJobSchedules(database, organisationId, [plan], { areAll: true, now });
  await noteWatched(database, organisationId, ['roster/retail', 'job/rescreen'], now);
  const hints = [{ key: eventKey, dossierIds: [`dossier_of_${name}`], isAml: true }];
  expect(await markDossiers(database, organisationId, hints, now)).toBe(1);
  expect(
    await tryAcquireLease(database, toLeaseKey('job', name, 'rescreen'), `process of ${name}`, hourMs),
  ).toHaveProperty('acquired');
}

const heldSchema = z.object({ key: z.string(), owner: z.string() });

/** What each function of the store gives to an organisation. None of them changes what another one reads. */
async function readEverything(database: Database, made: Made): Promise<Record<string, unknown>> {
  const { name, organisationId, run, rosterId, accountId, app } = made;
  const ids = Array.from({ length: 40 }, (_, index) => index + 1);
  const statuses: unknown[] = [];
  for await (const batch of readCustomerStatuses(database, name, ['retail'])) statuses.push(...batch);
  const mode = 'test';
  const span = { from: later(-24), until: later(24), roster: 'retail' };
  return {
    listRuns: await listRuns(database, name, 100),
    showRun: await showRun(database, name, String(run.runId)),
    readRuns: await readRuns(database, name, 100),
    findReportableRuns: await findReportableRuns(database, name),
    findUnsentRuns: await findUnsentRuns(database, name),
    readSpanRuns: await readSpanRuns(database, name, span),
    findDeadChecks: await findDeadChecks(database, name),
    isOnTrial: await isOnTrial(database, name, mode),
    readHeldLeases: z.array(heldSchema).parse(await readHeldLeases(database, name)),
    readOutboxByKind: await readOutbox(database, name, {
      kinds: ['mail_failure', 'mail_report', 'webhook'],
      all: true,
    }),
    readOutboxByNumber: await readOutbox(database, name, { outboxIds: ids }),
    listMails: await listMails(database, name, { all: true }),
    readOpenIncidents: await readOpenIncidents(database, organisationId),
    readAhead: await readAhead(database, organisationId, ['retail'], later(-2)),
    readJobRuns: await readJobRuns(database, organisationId, 10),
    findJobRun: await findJobRun(database, organisationId, 'rescreen', '2026-11-22'),
    readJobSchedules: await readJobSchedules(database, organisationId),
    findSchedulePause: await findSchedulePause(database, organisationId, now),
    readStoredFigures: await readStoredFigures(database, organisationId, ['retail'], now),
    readRosterNames: [...(await readRosterNames(database, name))],
    readRostersOf: await readRostersOf(database, organisationId),
    findRoster: await findRoster(database, name, 'retail'),
    hasImport: await hasImport(database, organisationId, 'retail'),
    hasAccountAt: await hasAccountAt(database, organisationId, app.settings.service.baseUrl ?? ''),
    isKnownCustomer: await isKnownCustomer(database, organisationId, 'C-1'),
    readAcceptedSettings: await readAcceptedSettings(database, organisationId),
    readSettingsHistory: await readSettingsHistory(database, name),
    findLastAccount: await findLastAccount(database, rosterId, mode),
    wasEverAssignee: await wasEverAssignee(database, organisationId, reviewer),
    readAlertHistories: await readAlertHistories(database, name, 'C-1'),
    readLegacyCustomers: await readLegacyCustomers(database, name, ['C-1', 'C-2', 'C-3']),
    findLastNightsOfRoster: await findLastNights(database, organisationId, 'retail'),
    findLastSweeps: await findLastNights(database, organisationId, null),
    readRunning: (await readRunning(database, organisationId)).map(({ silentMs: _, ...running }) => running),
    findLastSweep: await findLastSweep(database, { organisationId }),
    readDossiers: [...(await readDossiers(database, accountId, [buildSandboxDossier(1).id]))],
    readDossierHistory: await readDossierHistory(database, organisationId, buildSandboxDossier(1).id),
    listMarkedDossiers: await listMarkedDossiers(database, organisationId, { now: later(1), limit: 10 }),
    readCurrentDiscrepancies: await readCurrentDiscrepancies(database, { organisationId, roster: 'retail' }, null),
    countWaiting: await countWaiting(database, organisationId),
    takeWebhookEvents: await withoutEffect(database, (transaction) =>
      takeWebhookEvents(transaction, organisationId, 99),
    ),
    readCustomerStatuses: statuses,
    readImportedRosters: await readImportedRosters(database, organisationId),
    measureCoverage: { ...(await measureCoverage({ ...app, clock: { ...app.clock, now: () => now } }, { list: 10 })) },
    readHistory: await readWholeHistory(database, name),
    countStoredChanges: await countStoredChanges(database, name, null),
    exportAlerts: await withoutSheet(made),
  };
}

async function readWholeHistory(database: Database, name: string) {
  const history = await readHistory(database, name, 0, 100);
  return history && { ...history, matchSets: [...history.matchSets.values()] };
}

/** A working list without the numbers that each export gets anew. */
async function withoutSheet({ app }: Made) {
  const { alerts, discrepancies, accounts } = await exportAlerts(app, { roster: 'retail', exportedBy: 'test' });
  const listedItems = alerts.map(({ mark: _, sheetId: _sheet, ...alert }) => alert);
  return { alerts: listedItems, discrepancies: discrepancies.listed, accounts };
}

class Undone extends Error {}

/** The result of work whose transaction is then undone. */
async function withoutEffect<T>(database: Database, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const results: T[] = [];
  const undone = await database
    .transaction(async (transaction) => {
      results.push(await work(transaction));
      throw new Undone();
    })
    .catch((error: unknown) => error);
  const [result] = results;
  if (!(undone instanceof Undone) || result === undefined) throw undone;
  return result;
}

// Each statement has the same condition on both databases; on the embedded one, the two nights take as long as all else here.
describeOnPostgres('two organisations in one database', (open) => {
  let database: Database;
  let sandbox: Sandbox;
  let north: Made;
  let south: Made;
  let before: Record<string, unknown>;
  beforeAll(async () => {
    sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
    database = await open();
    north = await makeOrganisation(database, sandbox, 'north');
    before = await readEverything(database, north);
    south = await makeOrganisation(database, sandbox, 'south');
  }, 120_000);
  afterAll(() => sandbox.close());

  it('no reading function gives one what the other has, though rosters, customers, keys and addresses have the same names', async () => {
    const ofNorth = await readEverything(database, north);
    const ofSouth = await readEverything(database, south);
    expect(ofNorth).toEqual(before);
    // Each has something of everything to see.
    const empty = Object.entries(ofSouth).filter(
      ([, found]) => found === null || (Array.isArray(found) && found.length === 0),
    );
    expect(empty.map(([name]) => name)).toEqual(['findSchedulePause', 'readDossierHistory']);
    for (const name of Object.keys(ofNorth)) {
      expect(JSON.stringify(ofNorth[name]).toLowerCase(), name).not.toContain('south');
      expect(JSON.stringify(ofSouth[name]).toLowerCase(), name).not.toContain('north');
      if (Array.isArray(ofNorth[name])) expect(ofSouth[name], name).toHaveLength(ofNorth[name].length);
    }
    await expect(findRun(database, 'north', String(south.run.runId))).rejects.toThrow('there is no run');
    await expect(showRun(database, 'south', String(north.run.runId))).rejects.toThrow('there is no run');
  });

  it('what one writes leaves what the other has as it is', async () => {
    const { organisationId } = south;
    const rows = await readOutbox(database, 'north', { kinds: ['mail_failure', 'mail_report', 'webhook'], all: true });
    const ids = rows.map(({ outboxId }) => outboxId);
    await makeDue(database, 'south', ids, { now: later(2), giveUpAt: later(9) });
    await makeWebhooksDue(database, organisationId, ids, { now: later(2), giveUpAt: later(9) });
    await postponeWebhook(database, 'south', hook, later(3));
    const drop = {
      ids,
      reason: 'wrong',
      by: database.dialect === 'embedded' ? 'A. Meyer' : undefined,
      evenQueued: true,
    };
    await expect(dropMails(south.app, drop)).rejects.toThrow(`there is no ${ids[0]}`);
    const claim = { kinds: ['mail_failure', 'mail_report', 'webhook'], now: later(5), leaseMs: hourMs } as const;
    const claimed: number[] = [];
    for (let row = true as unknown; row !== null; ) {
      const next = await claimNext(database, { organisation: 'south', owner: 'south', except: claimed, ...claim });
      if (next) claimed.push(next.outboxId);
      row = next;
    }
    expect(claimed).toHaveLength(ids.length);
    expect(claimed.filter((id) => ids.includes(id))).toEqual([]);

    await pauseSchedule(database, organisationId, { pausedAt: now, until: later(9), by: 'south', reason: null });
    await cancelJobRun(database, organisationId, 'rescreen', 'south');
    await saveJobSchedules(database, organisationId, [], { areAll: true, now });
    await noteWatched(database, organisationId, ['roster/retail'], later(48));
    const closed = await readOpenIncidents(database, organisationId);
    await saveIncidentNews(database, organisationId, { begun: [], again: [], over: closed, dropped: [] }, later(1));
    await forgetEvents(database, organisationId, later(24 * 30));
    const again = [{ key: eventKey, dossierIds: ['d'], isAml: false }];
    expect(await markDossiers(database, north.organisationId, again, now)).toBe(0);
    const actor = {
      name: database.dialect === 'embedded' ? 'A. Meyer' : 'nightscreen',
      isAttested: database.dialect === 'embedded',
    };
    const all = { organisation: 'south', alertIds: null, customer: 'C-1', severity: null, roster: 'retail' };
    expect(await assignWaitingAlerts(database, all, { to: reviewer, actor, now })).toMatchObject({ assigned: 1 });
    expect(await wasEverAssignee(database, organisationId, reviewer)).toBe(true);
    expect(await findSchedulePause(database, organisationId, now)).not.toBeNull();

    expect(await readEverything(database, north)).toEqual(before);
  });

  it('what one is shown is decided about by nobody of the other: not by its list, nor alert by alert, nor under the number of its sheet', async () => {
    const { alerts, sheetId } = await exportAlerts(north.app, { roster: 'retail', exportedBy: 'test' });
    const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-list-')), 'list.csv');
    await writeFile(path, `alert,sheet,disposition,reason\n${alerts[0]?.mark},S-${sheetId},false positive,no reason\n`);
    const by = await findReviewer(database, database.dialect === 'embedded' ? reviewer : undefined);
    const apply = (made: Made) =>
      importDecisions(made.app, { path, reviewer: by, apply: made === south, partial: true });
    expect(await apply(north)).toMatchObject({ isApplied: false, decided: [{}], faulty: [] });
    expect(await apply(south)).toMatchObject({ decided: [], refused: [{ reason: 'unknown_alert' }] });

    const alertsOf = ({ organisationId }: Made) =>
      database.transaction((transaction) => holdAlerts(transaction, organisationId, ids));
    const ids = Array.from({ length: 40 }, (_, index) => index + 1);
    const [ofNorth, ofSouth] = [await alertsOf(north), await alertsOf(south)];
    const [own = 0] = ofSouth.keys();
    expect([...ofNorth.keys()].filter((id) => ofSouth.has(id))).toEqual([]);
    const said = {
      verdict: 'true_match',
      reason: 'r',
      comment: null,
      seenVersion: '',
      origin: 'review',
      sheetId,
    } as const;
    const decisions = [...ofNorth.keys()].map((alertId) => ({ ...said, alertId, expiresAt: null }));
    const { reviewKey } = await readReviewOrganisation(database, 'north');
    const context = {
      organisationId: south.organisationId,
      reviewKey,
      reviewer: by,
      now,
      review: south.app.settings.review,
    };
    expect(await database.transaction((transaction) => decideAlerts(transaction, context, decisions))).toEqual(
      decisions.map(({ alertId }) => ({ alertId, kind: 'refused', reason: 'unknown_alert' })),
    );
    const named = [...ofNorth.keys(), ...ofNorth.keys()];
    const bulk = await saveBulk(database, sheetId, named);
    expect(await readBulk(database, north.organisationId, bulk)).toEqual(named);
    await expect(saveBulk(database, sheetId, [own, own])).rejects.toThrow(/names alerts of another organisation/);
    expect(await readBulk(database, south.organisationId, bulk)).toEqual([]);
    const discrepanciesOf = async ({ organisationId }: Made) => [
      ...(await readDecidable(database, organisationId, ids)).keys(),
    ];
    const [discrepancies, others] = [await discrepanciesOf(north), await discrepanciesOf(south)];
    expect(Math.min(discrepancies.length, others.length)).toBeGreaterThan(0);
    expect(discrepancies.filter((id) => others.includes(id))).toEqual([]);
    const byHand = database.execute(
      sql`insert into disposition (alert_id, kind, verdict, reviewer, is_attested, decided_at, origin, text_digest, sheet_id)
       values (${own}, 'decided', 'true_match', ${by.name}, ${by.isAttested}, now(), 'review', '\\x00', ${sheetId})`,
    );
    await expect(byHand).rejects.toThrow(`sheet ${sheetId} is of another organisation than alert ${own}`);
  });

  it('a lease of one is never that of the other, whatever their names and rosters are', () => {
    expect(toLeaseKey('screening', 'a', 'b/c')).not.toBe(toLeaseKey('screening', 'a/b', 'c'));
    expect(toLeaseKey('job', 'a', 'b/c')).not.toBe(toLeaseKey('job', 'a/b', 'c'));
  });
});
