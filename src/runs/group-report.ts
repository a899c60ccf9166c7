import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { usageError } from '../errors.js';
import { toLocalTime } from '../local-time.js';
import { buildGroupMessage } from '../mail/group-message.js';
import { listEntries, listRecipients } from '../mail/settings.js';
import { toGroupReport } from '../reports/assess-group.js';
import type { GroupFacts, GroupReport, GroupRosterFacts } from '../reports/group.js';
import { printPdf } from '../reports/print-pdf.js';
import { countNoun } from '../reports/text.js';
import { writeGroupReport } from '../reports/write-group.js';
import type { WrittenReport } from '../reports/write-report.js';
import { toCadence } from '../screening/cadence.js';
import { countAccepted } from '../store/customers/coverage.js';
import { readUrgentChanges } from '../store/night/changes.js';
import { queueOutbox, readOutbox } from '../store/operations/outbox.js';
import { readAccountName } from '../store/organisations.js';
import {
  readKnownRosters,
  readNightRuns,
  readNightsBefore,
  readWaitingByRoster,
  readWaitingHolds,
} from '../store/reports/group-facts.js';
import { readSpanRun } from '../store/reports/span-facts.js';
import { type RunRow, toRunId } from '../store/runs.js';
import { type Severity, stateOrder } from '../vocabulary.js';
import type { AppContext } from './app-context.js';
import { isRosterCovered, measureCoverage, type RosterCoverage } from './coverage.js';
import { toGiveUpAt } from './mail/deliver.js';
import { toExitCode } from './run-summary.js';
import { readPause, readScheduleHistory } from './scheduled.js';
import { readBudget } from './screening/plan.js';
import { openOrganisation } from './session.js';
import {
  findEdge,
  keepFormerSpan,
  prepareMail,
  type ReportChoice,
  requireTableOwner,
  type SpanRequest,
} from './write-reports.js';

/** The report over all rosters on disk, with its content. */
export interface WrittenGroupReport extends WrittenReport {
  report: GroupReport;
}

/** The span of the report: without `since`, the last night. */
interface NightRequest {
  since?: SpanRequest['since'] | undefined;
  until?: SpanRequest['until'];
}

/**
 * Writes one report over all rosters: those of the configuration (without any, all that were imported), and former ones with customers,
 * open alerts or runs. Throws ConfigError for a wrong edge, ReportError when the files cannot be written.
 */
export async function reportGroup(
  app: AppContext,
  request: NightRequest = {},
  { directory = app.settings.reports.dir, chromium }: Pick<ReportChoice, 'directory' | 'chromium'> = {},
): Promise<WrittenGroupReport> {
  await requireTableOwner(app.database);
  const span = await findNight(app, request);
  const report = toGroupReport(await readGroupFacts(app, span, directory));
  const written = await writeGroupReport(report, directory, keepFormerSpan, app.nameInCommands);
  const printed = chromium === undefined ? [] : [await printPdf(chromium, written.directory)];
  return { ...written, files: [...written.files, ...printed], report };
}

/** Whether anybody gets the report over all rosters by mail. */
export const isGroupMailed = ({ mail }: AppContext['settings']): boolean =>
  mail !== undefined && listEntries(mail).some(({ kinds }) => kinds.includes('group'));

/** Writes the report over all rosters and queues its mail for one slot of a job, unless that was done before. */
export async function queueGroupReportOnce(app: AppContext, slot: string): Promise<void> {
  const known = await readOutbox(app.database, app.settings.organisation, { keyPrefix: toKeyPrefix(slot) });
  if (known.length === 0) await queueGroupReport(app, {}, { slot });
}

/** Writes the report over all rosters, and queues its mail; gives how the keys of its mails in the outbox begin besides. */
export async function queueGroupReport(
  app: AppContext,
  request: NightRequest = {},
  { slot, ...options }: Pick<ReportChoice, 'directory' | 'chromium'> & { slot?: string } = {},
): Promise<WrittenGroupReport & { keyPrefix: string }> {
  const { database, clock, settings } = app;
  const { mail } = settings;
  if (mail === undefined) throw usageError('mail', 'is not configured, so the report cannot be sent');
  const written = await reportGroup(app, request, options);
  const { report } = written;
  const keyPrefix = toKeyPrefix(slot ?? `${report.name} ${report.until.toISOString()}`);
  const recipients = listRecipients(mail, {
    kind: 'group',
    roster: null,
    level: report.verdict.level,
    severities: listFound(report),
  });
  const writeMask = async (): Promise<WrittenReport> => written;
  const toMail = await prepareMail(app, { name: report.name, at: report.until, writeMask }, written, recipients);
  const now = clock.now();
  const { organisationId } = await openOrganisation(app);
  const common = {
    organisationId,
    kind: 'mail_report',
    runId: null,
    queuedAt: now,
    giveUpAt: toGiveUpAt(now),
  } as const;
  const entries = recipients.map((recipient) => {
    const content = buildGroupMessage(report, toMail, recipient, mail);
    const { to: destination, messageId } = content;
    return { ...common, destination, dedupKey: `${keyPrefix}${destination.toLowerCase()}`, content, messageId };
  });
  await database.transaction((transaction) => queueOutbox(transaction, entries));
  return { ...written, keyPrefix };
}

const toKeyPrefix = (name: string): string => `group/${name}/`;

/** The severities of its changes, first screenings included. */
const listFound = ({ total: { changes } }: GroupReport): readonly Severity[] =>
  (changes?.bySeverity ?? []).map(({ severity }) => severity);

const hourMs = 3_600_000;
/** A timer may start a night this much before its due time. */
const earlyMs = 60_000;

type GroupNight = Pick<GroupFacts, 'from' | 'until' | 'isCurrent' | 'dueAt' | 'isNight'>;

/** The requested span. Without one it begins when the last night was due, or began if that was earlier; without a schedule, one screening period ago. */
async function findNight(app: AppContext, { since, until }: NightRequest): Promise<GroupNight> {
  const now = app.clock.now();
  if (since !== undefined) {
    const { from, end } = await findEdges(app, { since, until }, now);
    return { from, until: end ?? now, isCurrent: end === null, dueAt: null, isNight: false };
  }
  const { schedules, runs } = await readScheduleHistory(app);
  const kept = schedules.get('rescreen');
  const dueAt = app.lastRescreening?.(kept === undefined || kept.retiredAt !== null ? null : kept) ?? null;
  if (dueAt === null) {
    const periodMs = Math.min(...Object.values(toCadence(app.settings.screening).hours)) * hourMs;
    return { from: new Date(now.getTime() - periodMs), until: now, isCurrent: true, dueAt, isNight: true };
  }
  const begunAt = runs.get('rescreen')?.find((run) => run.dueAt.getTime() === dueAt.getTime())?.begunAt ?? dueAt;
  const from = new Date(Math.min(dueAt.getTime(), begunAt.getTime()) - earlyMs);
  return { from, until: now, isCurrent: true, dueAt, isNight: true };
}

async function findEdges(
  { database, settings: { organisation } }: AppContext,
  { since, until }: NightRequest & Pick<SpanRequest, 'since'>,
  now: Date,
): Promise<{ from: Date; end: Date | null }> {
  const from = (await findEdge(database, organisation, since)).at;
  if (from > now) throw usageError('since', 'is in the future; a span must start in the past');
  if (until === undefined) return { from, end: null };
  const { at, run } = await findEdge(database, organisation, until);
  const end = run === null ? at : (run.finishedAt ?? now);
  if (end <= from) throw usageError('until', 'is before --since');
  return { from, end: end < now ? end : null };
}

async function readGroupFacts(app: AppContext, span: GroupNight, directory: string): Promise<GroupFacts> {
  const { database, settings, version } = app;
  const { from, until, isCurrent } = span;
  const { organisationId, name: organisation } = await openOrganisation(app);
  const runs = await readNightRuns(database, organisationId, span);
  const runIds = runs.map(({ runId }) => runId);
  const [fromDay, untilDay] = [from, until].map((edge) => toLocalTime(edge, settings.timezone).date);
  const shared = {
    span,
    directory,
    coverage: isCurrent ? await measureCoverage(app, { list: 0 }) : null,
    before: await readNightsBefore(database, organisationId, from),
    waiting: isCurrent ? await readWaitingByRoster(database, organisationId, { runIds, now: until }) : [],
    holds: isCurrent ? await readWaitingHolds(database, organisationId) : [],
  };
  const rosters: GroupRosterFacts[] = [];
  for (const roster of await listRosters(app, organisationId, span)) {
    const own = runs.filter(({ rosterId }) => rosterId === roster.rosterId);
    rosters.push(await readRoster(app, roster, own, shared));
  }
  return {
    ...span,
    name: `group-${fromDay}${fromDay === untilDay ? '' : `-to-${untilDay}`}`,
    organisation,
    timezone: settings.timezone,
    version,
    rosters,
    jobs: await readJobs(app, span),
    budget: await readGroupBudget(app, runs, until),
    pause: await readPause(app),
  };
}

type ListedRoster = Pick<GroupRosterFacts, 'roster' | 'isConfigured' | 'isImported' | 'mode'> & {
  rosterId: number | null;
};

/** The rosters of the configuration, and all others that were ever known; without a configured one all count as configured. */
async function listRosters({ database, settings }: AppContext, organisationId: number, { until }: GroupNight) {
  const known = (await readKnownRosters(database, organisationId)).filter(({ createdAt }) => createdAt <= until);
  const names = settings.rosters.map(({ name }) => name);
  const isConfigured = (roster: string): boolean => names.length === 0 || names.includes(roster);
  const listed = known.map(
    ({ createdAt: _, ...roster }): ListedRoster => ({
      ...roster,
      mode: settings.service.mode ?? roster.mode,
      isConfigured: isConfigured(roster.roster),
    }),
  );
  const unknown = names.filter((name) => !known.some(({ roster }) => roster === name));
  const never = { rosterId: null, isConfigured: true, isImported: false, mode: settings.service.mode ?? null };
  return [...listed, ...unknown.map((roster): ListedRoster => ({ ...never, roster }))];
}

/** The most critical and high changes of a roster that are listed; the others are counted. */
const mostUrgent = 10;

async function readRoster(
  { database }: AppContext,
  { rosterId, ...roster }: ListedRoster,
  runs: readonly RunRow[],
  shared: {
    span: GroupNight;
    directory: string;
    coverage: RosterCoverage | null;
    before: Awaited<ReturnType<typeof readNightsBefore>>;
    waiting: Awaited<ReturnType<typeof readWaitingByRoster>>;
    holds: Awaited<ReturnType<typeof readWaitingHolds>>;
  },
): Promise<GroupRosterFacts> {
  const { coverage, directory } = shared;
  const measured = coverage?.rosters.find((one) => one.roster === roster.roster);
  const spanRuns: GroupRosterFacts['runs'][number][] = [];
  for (const run of runs) spanRuns.push({ ...(await readSpanRun(database, run)), exitCode: toExitCode(run.state) });
  const written = runs.map(toRunId).filter((runId) => existsSync(join(directory, runId, 'report.html')));
  const closed = runs.findLast(({ sums, openAlerts }) => sums !== null && openAlerts !== null) ?? null;
  const waiting = shared.waiting.filter((one) => one.rosterId === rosterId && one.mode === roster.mode);
  return {
    ...roster,
    runs: spanRuns,
    changed: runs.flatMap(({ sums, kind }, index) => {
      const isHeldBack = spanRuns[index]?.held.some((one) => one.kind === 'answers' && one.accepted.length === 0);
      if (sums === null || kind === 'import' || isHeldBack) return [];
      return { changes: sums.changesBySeverity, baseline: sums.baseline };
    }),
    before: shared.before.find((one) => one.rosterId === rosterId) ?? null,
    cadence: runs.findLast((run) => run.cadence !== null)?.cadence ?? null,
    customers: coverage === null ? toClosedCustomers(closed) : measured ? toCustomers(measured) : null,
    uncovered: measured ? describeUncovered(measured) : null,
    alerts: coverage === null ? toClosedAlerts(closed, runs) : roster.isImported ? toAlerts(waiting) : null,
    held: shared.holds.filter((one) => one.rosterId === rosterId).map(toHeld),
    urgent: await readUrgentChanges(
      database,
      runs.map(({ runId }) => runId),
      mostUrgent,
    ),
    reports: new Map(written.map((runId) => [runId, `../${runId}/report.html`])),
  };
}

function toCustomers({ total }: RosterCoverage['rosters'][number]): GroupRosterFacts['customers'] {
  const { inScope, valid, never, overdue, states } = total;
  return {
    inScope,
    states: stateOrder.map((code) => ({ code, count: states[code] ?? 0 })),
    uncovered: { never, overdue, others: inScope - valid - never - overdue },
  };
}

/** Why a roster is not covered, in words; null where it is. */
function describeUncovered({ total, gaps, unmappedNames }: RosterCoverage['rosters'][number]): string | null {
  if (isRosterCovered(total, gaps, unmappedNames)) return null;
  const customers = total.inScope - total.valid - countAccepted(gaps);
  if (customers > 0) return `${countNoun(customers, 'customer')} without a valid screening now`;
  const open = gaps.reduce((sum, { count, accepted }) => sum + count - accepted, 0);
  if (open > 0) return `${countNoun(open, 'row')} cannot be screened`;
  return unmappedNames.length > 0 ? 'columns of names are not searched for' : 'later answers are held';
}

/** The customers and alerts when a past run closed; null without one. */
function toClosedCustomers(run: RunRow | null): GroupRosterFacts['customers'] {
  const sums = run?.sums ?? null;
  if (sums === null) return null;
  const states = stateOrder.map((code) => ({ code, count: sums.states[code] }));
  return { inScope: sums.counts.inScope, states, uncovered: null };
}

function toClosedAlerts(run: RunRow | null, runs: readonly RunRow[]): GroupRosterFacts['alerts'] {
  const alerts = run?.openAlerts ?? null;
  if (alerts === null) return null;
  const { waiting, overdue, oldestAt, bySeverity } = alerts;
  return {
    waiting,
    overdue,
    oldestAt,
    opened: runs.reduce((sum, { openAlerts }) => sum + (openAlerts?.news.alerts ?? 0), 0),
    bySeverity: bySeverity.map((one) => ({ ...one, opened: null })),
  };
}

function toAlerts(waiting: Awaited<ReturnType<typeof readWaitingByRoster>>): GroupRosterFacts['alerts'] {
  const oldest = waiting.map(({ oldestAt }) => oldestAt.getTime());
  const add = (name: 'waiting' | 'overdue' | 'opened'): number => waiting.reduce((sum, one) => sum + one[name], 0);
  return {
    waiting: add('waiting'),
    overdue: add('overdue'),
    opened: add('opened'),
    oldestAt: oldest.length === 0 ? null : new Date(Math.min(...oldest)),
    bySeverity: waiting.map(({ severity, waiting: count, overdue, opened }) => ({
      severity,
      waiting: count,
      overdue,
      opened,
    })),
  };
}

function toHeld({ runId, kind, reasons, command }: Awaited<ReturnType<typeof readWaitingHolds>>[number]) {
  const accept = kind === 'roster' ? command : `nightscreen runs accept ${runId} --by NAME --reason TEXT`;
  return { runId, kind, reasons, command: accept };
}

/** The jobs whose runs a night consists of. */
const nightJobs: readonly string[] = ['sweep', 'rescreen', 'onboard', 'reconcile'];

/** Those jobs that were due on the days of the span. */
async function readJobs(app: AppContext, { from, until }: GroupNight): Promise<GroupFacts['jobs']> {
  const { runs } = await readScheduleHistory(app);
  const day = toLocalTime(from, app.settings.timezone).date;
  return nightJobs
    .flatMap((job) => runs.get(job) ?? [])
    .filter(({ localDate, dueAt }) => localDate >= day && dueAt <= until)
    .toSorted((one, other) => one.dueAt.getTime() - other.dueAt.getTime())
    .map(({ job, dueAt, begunAt, endedAt, state, exitCode, because }) => {
      const times = { dueAt, begunAt, endedAt };
      return { job, ...times, state, exitCode, because };
    });
}

async function readGroupBudget(
  { database, settings }: AppContext,
  runs: readonly RunRow[],
  until: Date,
): Promise<GroupFacts['budget']> {
  const health = runs.flatMap((run) => run.health ?? []);
  const costs = health.flatMap(({ cost }) => cost ?? []);
  const [first] = costs;
  const accountIds = [...new Set(runs.flatMap(({ accountId }) => accountId ?? []))];
  const accounts = [];
  for (const accountId of accountIds) {
    const { caps } = await readBudget(database, accountId, until, settings);
    const shown = caps.filter(({ per }) => per !== 'run').map(({ per, cap, used }) => ({ per, cap, used }));
    accounts.push({ account: await readAccountName(database, accountId), caps: shown });
  }
  return {
    calls: health.reduce((sum, { billable }) => sum + billable, 0),
    cost: first ? { amount: costs.reduce((sum, { amount }) => sum + amount, 0), currency: first.currency } : null,
    accounts,
  };
}
