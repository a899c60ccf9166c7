import type { ClientEvent } from '../client/client-event.js';
import type { RunEvent, RunStage } from '../runs/workplace.js';

interface Sample {
  atMs: number;
  count: number;
}

/** How fast a counter has grown of late. */
export class SlidingRate {
  readonly #windowMs: number;
  readonly #spacingMs: number;
  #samples: Sample[] = [];

  /** Looks back over `windowMs`. */
  constructor(windowMs: number) {
    this.#windowMs = windowMs;
    this.#spacingMs = windowMs / 100;
  }

  /** Notes the counter at an instant. */
  note(atMs: number, count: number): void {
    const last = this.#samples.at(-1);
    const isClose = this.#samples.length > 1 && last !== undefined && atMs - last.atMs < this.#spacingMs;
    if (isClose) last.count = count;
    else this.#samples.push({ atMs, count });
    // The newest one that lies outside stays: it says where the counter stood when the window began.
    const firstInside = this.#samples.findIndex((sample) => sample.atMs > atMs - this.#windowMs);
    if (firstInside > 1) this.#samples = this.#samples.slice(firstInside - 1);
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

/** How far a run has come; times are milliseconds of the clock that the meter reads. */
export interface ProgressFigures {
  runId: string;
  stage: RunStage;
  done: number;
  total: number | null;
  /** Calls in the last ten seconds, per second, against the ceiling; null where none are counted. */
  callsPerSecond: number | null;
  limitPerSecond: number;
  /** Of an import; null otherwise. */
  rowsPerSecond: number | null;
  waitingFor: Wait | null;
  /** Of the whole run; null outside the searches. */
  found: { matches: number; hits: number } | null;
  secondsLeft: number | null;
}

/** What holds a run up; `seconds` counts from when it began, of a pause until it ends. */
export type Wait =
  | { kind: 'outage' | 'pause' | 'database'; seconds: number }
  /** The calls are made as fast as they may be. */
  | { kind: 'rate' }
  /** The calls wait for their answers. */
  | { kind: 'answers' };

type Progress = Extract<RunEvent, { kind: 'progress' }>;

const shortMs = 10_000;
const longMs = 60_000;
// As much of the rate as is used while nothing but the rate holds the run up.
const fullShare = 0.9;
// Before that a rate says nothing.
const settledMs = 2_000;
const nothing = { matches: 0, hits: 0 };

/** Turns what a run tells into how far it has come, how fast it is, and what it waits for. */
export class ProgressMeter {
  readonly #elapsedMs: () => number;
  readonly #limitPerSecond: number;
  readonly #outages = new Map<string, number>();
  #pausedUntilMs = 0;
  #databaseSinceMs: number | null = null;
  #foundBefore = nothing;
  #stage: { runId: string; stage: RunStage; beganMs: number; calls: SlidingRate; done: SlidingRate } | null = null;
  #latest: Progress | null = null;

  constructor(limitPerSecond: number, elapsedMs: () => number) {
    this.#limitPerSecond = limitPerSecond;
    this.#elapsedMs = elapsedMs;
  }

  /** Takes an event in. */
  note(event: RunEvent): void {
    const nowMs = this.#elapsedMs();
    switch (event.kind) {
      case 'run_started':
        this.#foundBefore = event.found ?? nothing;
        return;
      case 'stage_started': {
        const { runId, stage } = event;
        this.#stage = {
          runId,
          stage,
          beganMs: nowMs,
          calls: new SlidingRate(shortMs),
          done: new SlidingRate(longMs),
        };
        this.#stage.calls.note(nowMs, 0);
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
        return;
      case 'warning':
      case 'roster_failed':
        return;
    }
  }

  /** How things stand now; null between stages. */
  get figures(): ProgressFigures | null {
    if (this.#stage === null) return null;
    const nowMs = this.#elapsedMs();
    const { runId, stage, beganMs, calls, done } = this.#stage;
    const { done: count = 0, total = null, found, reading } = this.#latest ?? {};
    const perSecond = this.#latest?.calls === undefined ? null : calls.perSecond(nowMs);
    const waitingFor = this.#findWait(nowMs, nowMs - beganMs > settledMs ? perSecond : null);
    const isHeldUp = waitingFor?.kind === 'outage' || waitingFor?.kind === 'pause';
    const donePerSecond = done.perSecond(nowMs);
    const isKnown = total !== null && !isHeldUp && donePerSecond > 0 && nowMs - beganMs > settledMs;
    return {
      runId,
      stage,
      done: count,
      total,
      callsPerSecond: perSecond,
      limitPerSecond: this.#limitPerSecond,
      rowsPerSecond: reading?.perSecond ?? null,
      waitingFor,
      found: found
        ? { matches: found.matches + this.#foundBefore.matches, hits: found.hits + this.#foundBefore.hits }
        : null,
      secondsLeft: isKnown ? Math.ceil((total - count) / donePerSecond) : toSecondsOrNull(reading?.leftMs),
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

const toSecondsOrNull = (ms: number | null | undefined): number | null => (ms == null ? null : Math.ceil(ms / 1_000));

const toSeconds = (ms: number): number => Math.max(0, Math.round(ms / 1_000));
