import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { systemClock } from '../clock.js';
import { pingVariable } from '../config/environment.js';
import type { Config } from '../config/load-config.js';
import { ConfigError, NightscreenError, RunLockedError, readMessage, StoreError } from '../errors.js';
import { makeFolders, writePrivately } from '../files.js';
import type { Alarm } from '../mail/failure-message.js';
import { countNoun, formatTime } from '../reports/text.js';
import type { AppContext } from '../runs/app-context.js';
import { limitSending } from '../runs/mail/deliver.js';
import { buildAlarmMails, sendDirectly } from '../runs/mail/failures.js';
import { describeIncident } from '../scheduling/watchdog/findings.js';
import type { Watch } from '../scheduling/watchdog/watch.js';
import type { Incident } from '../store/operations/incidents.js';
import { findMissingMail } from './app-context.js';
import { describeError } from './describe-error.js';
import { exitCodes, toErrorExitCode } from './exit-code.js';
import { type Invocation, type Outcome, toOutcome } from './invocation.js';
import { describePause } from './schedule/operate-schedule.js';
import { listInvocations, loadInvocationConfig, runForEach, withAppContext } from './session.js';

/** No night takes longer: a process that keeps the embedded database for longer is an alarm. */
const longestNightMs = 12 * 3_600_000;

/** The limit for a database on a server. */
const longestLookMs = 5 * 60_000;

/**
 * Checks each organisation once and reports. A failed check is an alarm too; only wrong settings (ConfigError) and a command at work in the embedded database
 * (RunLockedError) are thrown. A database on a server has `limitMs` to answer.
 */
export async function look(
  invocation: Invocation,
  limitMs = longestLookMs,
  invocations = listInvocations(invocation),
): Promise<Outcome> {
  const { signal } = invocation;
  const complain = (message: string): void => invocation.notify({ level: 'warn', code: 'not_told', message });
  const listener = { complain, signal };
  // The monitor gets one ping for all: the next success would hide a failure before it.
  const [first = invocation] = invocations;
  return withPings(loadInvocationConfig(first), listener, () =>
    runForEach(invocation, (one) => lookOrReport(one, listener, limitMs), invocations),
  );
}

async function lookOrReport(invocation: Invocation, listener: PingListener, limitMs: number): Promise<Outcome> {
  const config = loadInvocationConfig(invocation);
  const problems = findMissingMail(config);
  if (problems.length > 0) throw new ConfigError(problems);
  const { watch } = await import('../scheduling/watchdog/watch.js');
  const { signal } = listener;
  const { jobs } = config.settings;
  const open = (noteLooked: () => void): Promise<Outcome> =>
    withAppContext(
      invocation,
      { command: 'schedule watchdog', queryTimeoutMs: limitMs, needsDatabase: true },
      async (opened) => {
        const app = await goByDatabaseClock(opened);
        return presentWatch(await watch(app, { jobs }, { signal, noteLooked }));
      },
    );
  try {
    // The embedded database runs in this process and may be busy with jobs: it has no limit.
    const isEmbedded = config.secret('DATABASE_URL') === undefined;
    const outcome = isEmbedded ? await open(() => {}) : await withinLimit(limitMs, signal, open);
    await reportReachable(config, listener);
    return outcome;
  } catch (error) {
    if (error instanceof ConfigError || isAtWork(error) || signal.aborted) throw error;
    const reason =
      error instanceof NightscreenError
        ? error.message
        : `an unexpected error (${error instanceof Error ? error.name : 'unknown'})`;
    const since = await reportUnreachable(config, reason, listener);
    return toOutcome(
      'nightscreen/watchdog/1',
      { at: new Date().toISOString(), isAlarm: true, canLook: false, reason, since: since.toISOString() },
      `ALARM  the watchdog cannot check: ${reason}\n       -> nightscreen doctor\n1 alarm: no roster was checked\n`,
      exitCodes.incomplete,
    );
  }
}

const isAtWork = (error: unknown): boolean =>
  error instanceof RunLockedError && (error.heldMs === null || error.heldMs < longestNightMs);

/** A larger difference means that one of two clocks is wrong. */
const mostApartMs = 5 * 60_000;

/**
 * The app context with the clock of the database, and a warning, when the clock of this host differs by more than five minutes; otherwise
 * watchdogs on several hosts would contradict each other.
 */
export async function goByDatabaseClock(app: AppContext): Promise<AppContext> {
  const { database, clock, emit } = app;
  if (database.dialect === 'embedded') return app;
  const askedAt = clock.now();
  const [row] = await database.query(z.object({ now: z.date() }), 'select clock_timestamp() as now');
  if (!row) return app;
  const apartMs = row.now.getTime() - (askedAt.getTime() + clock.now().getTime()) / 2;
  if (Math.abs(apartMs) <= mostApartMs) return app;
  const minutes = Math.round(Math.abs(apartMs) / 60_000);
  const message = `the clock of this host is ${minutes} minutes ${apartMs > 0 ? 'behind' : 'ahead of'} the database's clock. The watchdog uses the database's clock, but the jobs of this host use theirs: set it by NTP`;
  emit({ kind: 'warning', runId: null, code: 'clock_apart', message });
  return { ...app, clock: { ...clock, now: () => new Date(clock.now().getTime() + apartMs) } };
}

/**
 * Does work that calls `noteLooked` after its last query; until then it has `limitMs`, and two seconds after `signal` is aborted. Throws
 * StoreError (`database_unreachable`) after the limit, or the signal's reason; a hanging query is abandoned.
 */
async function withinLimit<Result>(
  limitMs: number,
  signal: AbortSignal,
  work: (noteLooked: () => void) => Promise<Result>,
): Promise<Result> {
  const limit = limitSending(limitMs, signal);
  const message = `the database has not answered within ${Math.ceil(limitMs / 1_000)} seconds`;
  const tooLate = new Promise<never>((_, reject) => {
    const fail = (): void => reject(signal.aborted ? signal.reason : new StoreError('database_unreachable', message));
    limit.signal.addEventListener('abort', fail, { once: true });
  });
  try {
    return await Promise.race([work(limit.clear), tooLate]);
  } finally {
    limit.clear();
  }
}

function describeFinding({ incident, isKnown, isNews, reason, actions }: Watch['findings'][number]): readonly string[] {
  const reported = isNews ? 'reported now' : `reported ${formatTime(incident.reportedAt)}`;
  const lines = [
    `${isKnown ? 'known' : 'ALARM'}  ${describeIncident(incident)}`,
    `       ${reason}`,
    `       since ${formatTime(incident.openedAt)}, ${reported}`,
  ];
  return isKnown ? lines : [...lines, ...actions.map((action) => `       -> ${action}`)];
}

const describeClosed = (incident: Incident): string =>
  `${describeIncident(incident)}, since ${formatTime(incident.openedAt)}`;

/** The result of a check: new alarms with the commands that help, known alarms, and incidents that are over. */
export function presentWatch(watch: Watch): Outcome {
  const over = watch.over.map((incident) => `over   ${describeClosed(incident)}`);
  const dropped = watch.dropped.map((incident) => `closed ${describeClosed(incident)}: it is no longer watched`);
  const unscreened = watch.unscreened.map((roster) => `new    ${roster}: not screened yet, and no night was due`);
  const paused = watch.pause === null ? [] : [`paused ${describePause(watch.pause)}`];
  const alarms = watch.findings.filter(({ isKnown }) => !isKnown).length;
  const rosters = countNoun(watch.rosters.length, 'roster');
  const verdict = alarms === 0 ? `no alarm: ${rosters} watched` : `${countNoun(alarms, 'alarm')}: ${rosters} watched`;
  return toOutcome(
    'nightscreen/watchdog/1',
    {
      at: watch.at.toISOString(),
      isAlarm: watch.isAlarm,
      canLook: true,
      rosters: watch.rosters,
      findings: watch.findings.map(({ kind, subject, roster, reason, actions, isKnown, isNews, incident }) => ({
        kind,
        subject,
        roster,
        reason,
        actions,
        isKnown,
        isNews,
        incidentId: incident.incidentId,
        openedAt: incident.openedAt.toISOString(),
        toldAt: incident.reportedAt.toISOString(),
        timesTold: incident.timesReported,
      })),
      over: watch.over.map(toClosed),
      dropped: watch.dropped.map(toClosed),
      unscreened: watch.unscreened,
      pause: watch.pause,
    },
    [...watch.findings.flatMap(describeFinding), ...over, ...dropped, ...unscreened, ...paused, verdict, ''].join('\n'),
    watch.isAlarm ? exitCodes.incomplete : exitCodes.complete,
  );
}

const toClosed = ({ incidentId, kind, subject, openedAt }: Incident) => ({ incidentId, kind, subject, openedAt });

/** How long one ping may take. */
const longestPingMs = 10_000;

/** `complain` gets every ping or mail that could not be sent; after `signal` is aborted each has a short limit. */
interface PingListener {
  complain: (message: string) => void;
  signal: AbortSignal;
}

/**
 * Does a check of the watchdog and pings its monitor, if one is configured, before and after it: a success only with exit code 0. A failed
 * ping goes to `complain` and changes nothing else.
 */
export async function withPings<Result extends { exitCode: number; text: string }>(
  config: Config,
  { complain, signal }: PingListener,
  act: () => Promise<Result>,
  pingLimitMs = longestPingMs,
): Promise<Result> {
  const address = config.secret(pingVariable);
  if (address === undefined) return act();
  const { sendPing } = await import('../webhooks/ping.js');
  const runUuid = randomUUID();
  const emit = async (kind: 'start' | 'success' | 'failure', body: string): Promise<void> => {
    // Longer than the limit of the ping itself, so that the ping reports its own timeout.
    const limit = limitSending(pingLimitMs + 1_000, signal);
    const trouble = await sendPing(address, { kind, runUuid, body }, pingLimitMs, limit.signal);
    limit.clear();
    if (trouble !== null) complain(`the ping of the watchdog's monitor failed (${kind}): ${trouble}`);
  };
  const head = 'nightscreen schedule watchdog';
  await emit('start', head);
  const result = await act().catch(async (error: unknown) => {
    const lines = [head, `exit code ${toErrorExitCode(error)}`, describeError(error).code];
    await emit('failure', lines.join('\n'));
    throw error;
  });
  const { exitCode, text } = result;
  const body = [head, `exit code ${exitCode}`, text.trimEnd()].join('\n');
  await emit(exitCode === 0 ? 'success' : 'failure', body);
  return result;
}

/** The file that notes that the database is unreachable and that this was mailed; every host can write its reports. */
const toNoteFile = ({ settings }: Config): string => join(settings.reports.dir, '.watchdog.json');

const attemptLimitMs = 5 * 60_000;

/** Mails, without the outbox and once per outage, that the database is unreachable; failures go to `complain`. Returns the start of the outage. */
async function reportUnreachable(config: Config, reason: string, listener: PingListener): Promise<Date> {
  const { complain } = listener;
  const noteFile = toNoteFile(config);
  const known = await readNote(noteFile);
  const at = systemClock.now();
  const since = known?.since ?? at;
  if (known?.told) return since;
  const reported = await mailAlarm(
    config,
    { phase: 'begun', reason, openedAt: since, at, actions: begunActions },
    listener,
  );
  try {
    await makeFolders(dirname(noteFile));
    await writePrivately(noteFile, `${JSON.stringify({ since, told: reported })}\n`);
  } catch (error) {
    complain(`${noteFile} cannot be written, so each check sends this mail: ${readMessage(error)}`);
  }
  return since;
}

const begunActions = [
  'Check whether the database is up, and whether this host may connect to it: nightscreen doctor',
  'Until then the watchdog cannot see whether the nights run: check the host that runs them',
];

/** Mails that the database is reachable again, if its outage was mailed. */
async function reportReachable(config: Config, listener: PingListener): Promise<void> {
  const noteFile = toNoteFile(config);
  const known = await readNote(noteFile);
  if (known === null) return;
  const alarm = {
    phase: 'over',
    reason: 'the database was unreachable',
    openedAt: known.since,
    at: systemClock.now(),
    actions: ['Check the coverage of the rosters: nightscreen coverage'],
  } as const;
  if (known.told && !(await mailAlarm(config, alarm, listener))) return;
  await rm(noteFile, { force: true });
}

/** True when at least one mail was accepted, or when there is no recipient. */
async function mailAlarm(
  config: Config,
  facts: Omit<Alarm, 'title'>,
  { complain, signal }: PingListener,
): Promise<boolean> {
  const { mail } = config.settings;
  if (!mail) return true;
  const alarm = { ...facts, title: 'watchdog: the database is unreachable' };
  const key = ['unreachable', alarm.phase, alarm.openedAt.toISOString()];
  const mails = buildAlarmMails(alarm, key, [null], { ...config.settings, mail });
  const limit = limitSending(attemptLimitMs, signal);
  const lost = await sendDirectly(config, mails, limit.signal);
  limit.clear();
  for (const said of lost) complain(`the alarm about the database could not be mailed: ${said}`);
  return lost.length < mails.length || mails.length === 0;
}

/** The start of an outage of the database, and whether it was mailed; the database itself cannot store this. */
const noteSchema = z.object({ since: z.coerce.date(), told: z.boolean() });

/** The note in the file; null when the file is missing or unreadable. */
async function readNote(file: string): Promise<z.infer<typeof noteSchema> | null> {
  try {
    return noteSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return null;
  }
}
