import type { Logger } from 'pino';
import type { ClientEvent } from '../client/client.js';
import { systemClock } from '../clock.js';
import { countNoun, describeSpan, formatCount, toVisibleLines, toVisibleText } from '../reports/text.js';
import { LastRun, type ProgressStage, type RunEvent } from '../runs/app-context.js';
import { codeWords } from '../vocabulary/words.js';
import { describeError, noteReported, toErrorDetails } from './describe-error.js';
import type { Terminal } from './terminal.js';
import { describeCounts, describeReasons, omitZeros, showTimes, wrap } from './text.js';

/** The recent growth rate of a counter. */
export class SlidingRate {
  readonly #windowMs: number;
  readonly #samples: { atMs: number; count: number }[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  note(atMs: number, count: number): void {
    this.#samples.push({ atMs, count });
    // The newest sample outside of the window stays: it has the counter at the start of the window.
    while ((this.#samples[1]?.atMs ?? atMs) <= atMs - this.#windowMs) this.#samples.shift();
  }

  /** Growth per second over the window that ends at this instant, or since the first sample when that is shorter. */
  perSecond(nowMs: number): number {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined) return 0;
    const beginMs = nowMs - this.#windowMs;
    const start = this.#samples.findLast((sample) => sample.atMs <= beginMs) ?? first;
    const spanMs = nowMs - Math.max(start.atMs, beginMs);
    return spanMs <= 0 ? 0 : ((last.count - start.count) * 1_000) / spanMs;
  }
}

/** How far a run has come. */
type ProgressFigures = NonNullable<ProgressMeter['figures']>;

/** What delays a run. `seconds` counts from its start; of a pause, until its end. */
type Wait =
  | { kind: 'outage' | 'pause' | 'database'; seconds: number }
  /** The calls are made at the allowed rate. */
  | { kind: 'rate' }
  /** The calls wait for their answers. */
  | { kind: 'answers' };

const shortMs = 10_000;
const longMs = 60_000;
// The share of the rate that a run uses when only the rate limits it.
const fullShare = 0.9;
// A rate over a shorter time is unreliable.
const steadyAfterMs = 2_000;
const nothing = { matches: 0, hits: 0 };

/** Derives progress, speed and current wait from the events of a run. */
export class ProgressMeter {
  readonly #elapsedMs: () => number;
  readonly #limitPerSecond: number;
  readonly #outages = new Map<string, number>();
  #pausedUntilMs = 0;
  #databaseSinceMs: number | null = null;
  #foundBefore = nothing;
  #stage: { runId: string; stage: ProgressStage; beganMs: number; calls: SlidingRate; done: SlidingRate } | null = null;
  #latest: Extract<RunEvent, { kind: 'progress' }> | null = null;

  constructor(limitPerSecond: number, elapsedMs: () => number) {
    this.#limitPerSecond = limitPerSecond;
    this.#elapsedMs = elapsedMs;
  }

  note(event: RunEvent): void {
    const nowMs = this.#elapsedMs();
    switch (event.kind) {
      case 'run_started':
        this.#foundBefore = event.found ?? nothing;
        return;
      case 'stage_started': {
        const { runId, stage } = event;
        const rates = { calls: new SlidingRate(shortMs), done: new SlidingRate(longMs) };
        rates.calls.note(nowMs, 0);
        this.#stage = { runId, stage, beganMs: nowMs, ...rates };
        this.#latest = null;
        return;
      }
      case 'progress':
        this.#latest = event;
        this.#stage?.calls.note(nowMs, event.calls ?? 0);
        this.#stage?.done.note(nowMs, event.done);
        return;
      case 'stage_finished':
      case 'run_finished':
        this.#stage = null;
        return;
      case 'database_wait':
        this.#databaseSinceMs = event.isWaiting ? nowMs - 2_000 : null;
        return;
      case 'service':
        this.#noteService(event.event, nowMs);
    }
  }

  /** The current figures; null between stages. `callsPerSecond` is that of ten seconds, and `found` counts the whole run. */
  get figures() {
    if (this.#stage === null) return null;
    const nowMs = this.#elapsedMs();
    const { runId, stage, beganMs, calls, done } = this.#stage;
    const { done: count = 0, total = null, found, reading, workers = null } = this.#latest ?? {};
    const perSecond = this.#latest?.calls === undefined ? null : calls.perSecond(nowMs);
    const waitingFor = this.#findWait(nowMs, nowMs - beganMs > steadyAfterMs ? perSecond : null);
    const isHeldUp = waitingFor?.kind === 'outage' || waitingFor?.kind === 'pause';
    const donePerSecond = done.perSecond(nowMs);
    const isKnown = total !== null && !isHeldUp && donePerSecond > 0 && nowMs - beganMs > steadyAfterMs;
    const secondsLeft = isKnown ? (total - count) / donePerSecond : (reading?.leftMs ?? Number.NaN) / 1_000;
    return {
      runId,
      stage,
      done: count,
      total,
      callsPerSecond: perSecond,
      limitPerSecond: this.#limitPerSecond,
      rowsPerSecond: reading?.perSecond ?? null,
      waitingFor,
      workers,
      found: found
        ? { matches: found.matches + this.#foundBefore.matches, hits: found.hits + this.#foundBefore.hits }
        : null,
      secondsLeft: Number.isNaN(secondsLeft) ? null : Math.ceil(secondsLeft),
    };
  }

  #noteService(event: ClientEvent, nowMs: number): void {
    if (event.kind === 'outage_began') this.#outages.set(event.operation, nowMs);
    if (event.kind === 'outage_ended') this.#outages.delete(event.operation);
    if (event.kind === 'paused') this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + event.pauseMs);
  }

  #findWait(nowMs: number, callsPerSecond: number | null): Wait | null {
    if (this.#outages.size > 0)
      return { kind: 'outage', seconds: toSeconds(nowMs - Math.min(...this.#outages.values())) };
    if (this.#pausedUntilMs > nowMs) return { kind: 'pause', seconds: toSeconds(this.#pausedUntilMs - nowMs) };
    if (this.#databaseSinceMs !== null) return { kind: 'database', seconds: toSeconds(nowMs - this.#databaseSinceMs) };
    if (callsPerSecond === null) return null;
    return { kind: callsPerSecond >= fullShare * this.#limitPerSecond ? 'rate' : 'answers' };
  }
}

const toSeconds = (ms: number): number => Math.max(0, Math.round(ms / 1_000));

function describeWait(wait: Wait): string {
  switch (wait.kind) {
    case 'outage':
      return `service unreachable for ${describeSpan(wait.seconds)}`;
    case 'pause':
      return `pause, ${describeSpan(wait.seconds)} more`;
    case 'database':
      return `waits for the database for ${describeSpan(wait.seconds)}`;
    case 'rate':
      return 'waits for the rate';
    case 'answers':
      return 'waits for answers';
  }
}

/** The progress of a run in one line, the most important parts first; parts beyond `width` are left out. */
export function describeProgress(figures: ProgressFigures, width: number): string {
  const { stage, done, total, callsPerSecond, limitPerSecond, rowsPerSecond, waitingFor, workers, found, secondsLeft } =
    figures;
  const count = done === 0 && total === null ? '...' : formatCount(done);
  const head = `${stage.padEnd(9)} ${count}${total === null ? '' : ` of ${formatCount(total)}`}`;
  const wait = waitingFor !== null && describeWait(waitingFor);
  const facts = [
    rowsPerSecond !== null && `${formatCount(rowsPerSecond)} rows per s`,
    callsPerSecond !== null && `${callsPerSecond.toFixed(1)}/${limitPerSecond} per s`,
    secondsLeft !== null && `${describeSpan(secondsLeft)} left`,
    workers !== null && `${countNoun(workers.alive, 'worker')}, ${countNoun(workers.chunksLeft, 'chunk')} left`,
    found !== null && `${countNoun(found.matches, 'match', 'matches')}, ${countNoun(found.hits, 'hit')}`,
  ];
  // The cause of a delay matters more than the speed.
  const isFirst = waitingFor !== null && isTrouble(waitingFor);
  const parts = isFirst ? [wait, ...facts] : [...facts, wait];
  let line = head;
  for (const part of parts) {
    if (part !== false && line.length + 2 + part.length <= width) line = `${line}  ${part}`;
  }
  return line.slice(0, Math.max(0, width));
}

const minuteMs = 60_000;

/** The unfinished run of this process in one sentence, for other processes; the end is that of its stage. */
export function describeRunning({ current }: LastRun, figures: ProgressFigures | null, now: Date): string | null {
  if (current === null || current.isFinished) return null;
  const run = current.roster === null ? current.runId : `${current.runId} of ${current.roster}`;
  if (figures === null) return run;
  const { stage, done, total, waitingFor, secondsLeft } = figures;
  const parts = [run, `stage ${stage}`];
  if (done > 0 || total !== null)
    parts.push(total === null ? formatCount(done) : `${formatCount(done)} of ${formatCount(total)}`);
  if (waitingFor !== null && isTrouble(waitingFor)) parts.push(describeWait(waitingFor));
  if (secondsLeft !== null) {
    const endMs = now.getTime() + secondsLeft * 1_000;
    parts.push(`until about ${new Date(Math.ceil(endMs / minuteMs) * minuteMs).toISOString()}`);
  }
  return parts.join(', ');
}

const isTrouble = ({ kind }: Wait): boolean => kind === 'outage' || kind === 'pause' || kind === 'database';

// The names of stages and states, and the gap behind them.
const headWidth = 10;

const redrawMs = 100;
// The seconds of a wait are redrawn without events.
const idleRedrawMs = 1_000;

export const clearLine = '\r\u001b[2K';

const paint = (text: string, on: number, off: number, { hasColours }: Terminal): string =>
  hasColours ? `\u001b[${on}m${text}\u001b[${off}m` : text;

/** Shows run events to a person: a line for each finished stage, and on a screen a line of progress that is redrawn. */
export function showProgress(terminal: Terminal, perSecond: number, indent = '') {
  const meter = new ProgressMeter(perSecond, systemClock.elapsedMs);
  let isDrawn = false;
  let drawnAtMs = Number.NEGATIVE_INFINITY;
  const draw = (everyMs: number): void => {
    const nowMs = systemClock.elapsedMs();
    if (!terminal.isScreen || nowMs - drawnAtMs < everyMs) return;
    const { figures } = meter;
    if (figures === null) return;
    // A line as wide as the screen would wrap, and the next redraw would not erase it.
    const text = describeProgress(figures, terminal.columns - indent.length - 1);
    terminal.writeMessage(`${clearLine}${indent}${paint(toVisibleText(text), 2, 22, terminal)}`, true);
    isDrawn = true;
    drawnAtMs = nowMs;
  };
  const erase = (): void => {
    if (isDrawn) terminal.writeMessage(clearLine, true);
    isDrawn = false;
  };
  const say = (rest: string, name = '', colour = (text: string) => text): void => {
    erase();
    const head = name === '' ? '' : name.padEnd(headWidth);
    const width = terminal.isScreen ? terminal.columns - indent.length - head.length : Number.POSITIVE_INFINITY;
    const [first = '', ...others] = wrap(toVisibleLines(showTimes(rest)), width);
    const lines = [
      `${colour(head.trimEnd())}${' '.repeat(head.length - head.trimEnd().length)}${first}`,
      ...others.map((line) => `${' '.repeat(head.length)}${line}`),
    ];
    terminal.writeMessage(lines.map((line) => `${indent}${line}\n`).join(''), true);
  };
  const warn = (text: string): string => paint(text, 33, 39, terminal);
  const timer = setInterval(() => draw(idleRedrawMs), idleRedrawMs).unref();
  const emit = (event: RunEvent): void => {
    meter.note(event);
    switch (event.kind) {
      case 'run_started':
        if (event.resumed) say(`run ${event.runId} resumes`);
        break;
      case 'progress':
        draw(redrawMs);
        break;
      case 'stage_started':
      case 'database_wait':
        draw(0);
        break;
      case 'stage_finished':
        say(describeStage(event, perSecond), event.stage);
        break;
      case 'service': {
        const text = describeServiceEvent(event.event);
        if (text !== null) say(text, 'service', warn);
        break;
      }
      case 'warning':
        say(event.message, 'warning', warn);
        break;
      case 'worker_ready':
        say(`ready: ${event.account}, ${event.perSecond} calls per s of all processes together`, 'worker');
        break;
      case 'run_finished':
        // The summary of a run that screened gives its reasons; other runs have none.
        if (event.state !== 'complete') {
          const hasSummary = event.state === 'incomplete' || event.state === 'stopped';
          say(hasSummary ? event.runId : event.reasons.join('\n'), codeWords.runState[event.state], warn);
        }
    }
  };
  return {
    emit,
    meter,
    /** Erases the line of progress and stops the timer. */
    close: (): void => {
      clearInterval(timer);
      erase();
    },
  };
}

/** The counts of a stage: of an import those that are not zero, of a plan with the reasons and the least time. */
function describeStage(event: Extract<RunEvent, { kind: 'stage_finished' }>, perSecond: number): string {
  const { stage, counts, occasion } = event;
  if (stage === 'plan') {
    const { inScope = 0, planned = 0, searches = 0, ...reasons } = counts;
    const seconds = Math.round(searches / perSecond);
    const time = seconds < 60 ? '' : `at ${perSecond} calls/s at least ${describeSpan(seconds)}`;
    const parts = [describeCounts({ inScope, planned, searches }), time, describeReasons(reasons)];
    return parts.filter(Boolean).join('; ');
  }
  if (stage === 'import') {
    const { rows = 0, customers = 0, rejected = 0, duplicates = 0, ...history } = counts;
    return describeCounts({ rows, customers, rejected, duplicates, ...omitZeros(history) });
  }
  return `${describeCounts(counts)}${occasion ? ` (${codeWords.controlTrigger[occasion]})` : ''}`;
}

const shortestReportedMs = 5_000;

const inSeconds = (ms: number): string => `${Math.max(1, Math.round(ms / 1_000))} s`;

/** An event of the client in words for a person who watches the run; null for events without interest. */
function describeServiceEvent(event: ClientEvent): string | null {
  switch (event.kind) {
    case 'outage_began':
      return `unreachable (${event.operation}); the next try is in ${inSeconds(event.probeInMs)}, then at least one every 20 s; no data is lost`;
    case 'outage_ended':
      return `reachable again after ${inSeconds(event.lastedMs)} (${event.operation})`;
    case 'paused':
      return event.pauseMs < shortestReportedMs ? null : `requests a pause of ${inSeconds(event.pauseMs)}`;
    case 'rate_lowered':
      return null;
    case 'key_renewed':
      return `the key was refused and read again; the new key has the fingerprint ${event.fingerprint}`;
    case 'no_public_key':
      return `the account has no public key; the private key counts as a ${event.isTest ? 'test' : 'live'} key by service.mode or its prefix`;
  }
}

const progressEveryMs = 30_000;

/**
 * Writes run events as structured lines with their run and roster, and the progress of a stage every 30 seconds and at
 * its end. No line holds customer data.
 */
export function logEvents(logger: Logger, perSecond: number, everyMs = progressEveryMs) {
  const meter = new ProgressMeter(perSecond, systemClock.elapsedMs);
  const rosters = new Map<string, string | null>();
  const lastRun = new LastRun();
  let hasNews = false;
  /** The run of a line with its roster (null for a sweep); empty for no run. */
  const toRun = (runId: string | null): Record<string, string | null> => {
    const roster = runId === null ? undefined : rosters.get(runId);
    return roster === undefined ? {} : { runId, roster };
  };
  const logProgress = (): void => {
    const { figures } = meter;
    if (figures !== null) logger.info({ ...toRun(figures.runId), ...toFields(figures) }, 'progress');
    hasNews = false;
  };
  const timer = setInterval(logProgress, everyMs).unref();
  return {
    emit: (event: RunEvent): void => {
      if (event.kind === 'progress') hasNews = true;
      if ((event.kind === 'stage_finished' || event.kind === 'run_finished') && hasNews) logProgress();
      meter.note(event);
      lastRun.note(event);
      if (event.kind === 'run_started') rosters.set(event.runId, event.roster);
      const current = lastRun.current?.isFinished ? null : (lastRun.current?.runId ?? null);
      if (event.kind === 'roster_failed') logFailure(logger, event, lastRun);
      else logEvent(logger, event, toRun('runId' in event ? event.runId : current));
    },
    meter,
    /** Reports what is pending and stops the timer. */
    close: (): void => {
      clearInterval(timer);
      if (hasNews) logProgress();
    },
  };
}

function toFields({ found, waitingFor, callsPerSecond, ...figures }: ProgressFigures) {
  const rounded = callsPerSecond === null ? null : Math.round(callsPerSecond * 10) / 10;
  return {
    ...figures,
    ...found,
    callsPerSecond: rounded,
    waitingFor: waitingFor?.kind ?? null,
    ...(waitingFor && 'seconds' in waitingFor ? { waitingSeconds: waitingFor.seconds } : {}),
  };
}

type RosterFailure = Extract<RunEvent, { kind: 'roster_failed' }>;

/** Single steps have level debug, warnings and incomplete runs level warn. */
function logEvent(logger: Logger, event: Exclude<RunEvent, RosterFailure>, run: Record<string, string | null>): void {
  // One for each search, and nearly nobody reads them.
  if (event.kind === 'progress' && !logger.isLevelEnabled('debug')) return;
  const { kind, ...facts } = event.kind === 'service' ? event.event : event;
  // An outage and its end are warnings; a changed pace is normal.
  const isBad =
    ['outage_began', 'outage_ended', 'warning'].includes(kind) ||
    (event.kind === 'run_finished' && event.state !== 'complete');
  if (kind === 'progress') logger.debug({ ...run, ...facts }, 'step');
  else if (kind === 'chunk_finished') logger.debug({ ...run, ...facts }, kind);
  else logger[isBad ? 'warn' : 'info']({ ...run, ...facts }, kind);
}

/** A failed roster has level error; what the end of its run said is not repeated. */
function logFailure(logger: Logger, { kind, error, ...given }: RosterFailure, lastRun: LastRun): void {
  if (!logger.isLevelEnabled('error')) return;
  const isShown = logger.isLevelEnabled('warn');
  const facts = isShown ? { ...given, message: lastRun.shorten(given.message) } : given;
  const stack = logger.isLevelEnabled('debug') ? { err: error } : {};
  logger.error({ ...facts, ...toErrorDetails(describeError(error)), ...stack }, kind);
  noteReported(error);
}
