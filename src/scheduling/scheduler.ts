import type { Clock } from '../clock.js';
import type { AppContext, Job } from '../runs/app-context.js';
import { mendSchedules, readPause, recordMissed, runDueSlot, toForgetBefore } from '../runs/scheduled.js';
import type { JobDue, JobEnding, JobRun } from '../store/operations/jobs.js';
import {
  decideDue,
  findNextStart,
  type JobStatus,
  readJobStatuses,
  type SchedulePlan,
  waitAtMostMs,
} from './schedule.js';

const tickMs = 1_000;
const shortestRetryMs = 1_000;
const longestRetryMs = 60_000;

/**
 * Looks at once, and then whenever the clock shows the next time, also after the clock was set; looks never overlap. A look that fails is
 * reported and repeated after a minute at most. `look` begins what is due and gives the time of the next look.
 */
export function startScheduler({
  clock,
  look,
  emit,
}: {
  clock: Clock;
  look: () => Promise<Date>;
  emit: (event: ScheduleEvent) => void;
}) {
  let lookAt = clock.now();
  let tickedAt = lookAt;
  let failing: { sinceMs: number; retryMs: number } | null = null;
  let underWay: Promise<void> | null = null;
  const lookOnce = async (): Promise<void> => {
    try {
      lookAt = await look();
      failing = null;
    } catch (error) {
      const nowMs = clock.now().getTime();
      const retryMs: number = failing ? Math.min(failing.retryMs * 2, longestRetryMs) : shortestRetryMs;
      failing = { sinceMs: failing?.sinceMs ?? nowMs, retryMs };
      lookAt = new Date(nowMs + retryMs);
      emit({ kind: 'blocked', error, retryMs, sinceMs: nowMs - failing.sinceMs });
    }
  };
  const tick = (): void => {
    const now = clock.now();
    // When the clock was set back, the next run may come earlier.
    const isDue = now >= lookAt || now < tickedAt;
    tickedAt = now;
    if (!isDue || underWay) return;
    underWay = lookOnce().finally(() => {
      underWay = null;
    });
  };
  const timer = setInterval(tick, tickMs);
  tick();
  return {
    /** Begins no more; resolves when the job in progress has ended. */
    stop: async (): Promise<void> => {
      clearInterval(timer);
      await underWay;
    },
  };
}

/** An event of a scheduler; none of them stops it. */
export type ScheduleEvent =
  | { kind: 'begun'; run: JobRun }
  | { kind: 'ended'; run: JobRun; exitCode: number; because: string | null; runIds: readonly string[] }
  /** It was asked to stop or lost its database; it will be continued. */
  | { kind: 'interrupted'; run: JobRun; because: string | null }
  | { kind: 'missed'; job: string; missed: readonly JobDue[] }
  | { kind: 'given_up'; run: JobRun }
  | { kind: 'held'; job: string; due: JobDue; holder: string }
  | { kind: 'waiting'; job: string; due: JobDue; for: string; until: Date }
  /** A look failed; it is repeated after `retryMs`. */
  | { kind: 'blocked'; error: unknown; retryMs: number; sinceMs: number };

/** Does the work of a due job; never throws. */
export type PerformJob = (app: AppContext, job: Job, run: JobRun, signal: AbortSignal) => Promise<JobEnding>;

const minuteMs = 60_000;
const askAgainMs = 15_000;
const shortestWaitMs = 1_000;
const longestPauseMs = 15 * minuteMs;
const longestSleepMs = 60 * minuteMs;

type Decided = ReturnType<typeof decideDue> & { status: JobStatus };
type Begin = Extract<Decided['decision'], { kind: 'begin' }>;

/** Jobs that process rosters or dossiers share the service and the night: they run one after another, as far as their waits allow. */
const nightly: ReadonlySet<string> = new Set(['sweep', 'rescreen', 'onboard', 'dirty']);

/** Finds what is due and begins it, jobs side by side; remembers what it has reported, what is in progress and what is paused. */
export class JobStarter {
  readonly #plan: SchedulePlan;
  readonly #perform: PerformJob;
  readonly #emit: (event: ScheduleEvent) => void;
  readonly #pausedUntil = new Map<string, Date>();
  readonly #emitted = new Set<string>();
  readonly #underWay = new Map<string, Promise<void>>();
  #failure: { error: unknown } | null = null;
  #freeSince: Date | null = null;
  #nextJobs: readonly string[] = [];

  constructor(plan: SchedulePlan, perform: PerformJob, emit: (event: ScheduleEvent) => void) {
    this.#plan = plan;
    this.#perform = perform;
    this.#emit = emit;
  }

  /** Whether the next look may begin a long job; `mail` is short. */
  get isLasting(): boolean {
    return this.#nextJobs.some((job) => job !== 'mail');
  }

  get running(): readonly string[] {
    return [...this.#underWay.keys()];
  }

  /** Begins everything that is due until no job is in progress; gives the time of the next look. Throws StoreError when the database fails. */
  async look(app: AppContext, signal: AbortSignal): Promise<Date> {
    for (;;) {
      const next = await this.#lookOnce(app, signal);
      if (this.#underWay.size === 0) return next;
      await this.#waitForNews(app, next, signal);
    }
  }

  async #lookOnce(app: AppContext, signal: AbortSignal): Promise<Date> {
    try {
      this.#throwFailure();
      await mendSchedules(app);
      const statuses = await readJobStatuses(app, this.#plan.planned);
      const now = app.clock.now();
      const free = [...statuses.values()].filter(({ job }) => !this.#underWay.has(job));
      const decided = free.map((status) => this.#decide(status, statuses, now));
      const pause = await readPause(app);
      if (pause !== null || signal.aborted) return new Date(now.getTime() + askAgainMs);
      for (const one of decided) await this.#recordMissed(app, one);
      const ready = this.#choose(decided, now);
      for (const { status, decision } of ready) this.#start(app, status, decision, signal);
      return this.#findNextLook(
        decided.filter((one) => !ready.some(({ status }) => status === one.status)),
        now,
      );
    } catch (error) {
      // The jobs in progress keep their database; a failed look loses nothing.
      if (this.#underWay.size === 0) throw error;
      this.#emit({ kind: 'blocked', error, retryMs: askAgainMs, sinceMs: 0 });
      return new Date(app.clock.now().getTime() + askAgainMs);
    }
  }

  #throwFailure(): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure) throw failure.error;
  }

  /** Waits until a job ends, a stop is requested, or the next look is due. */
  async #waitForNews({ clock }: AppContext, next: Date, signal: AbortSignal): Promise<void> {
    const awake = new AbortController();
    const ms = Math.max(shortestWaitMs, Math.min(askAgainMs, next.getTime() - clock.now().getTime()));
    const sleep = signal.aborted ? [] : [clock.sleep(ms, awake.signal).catch(() => undefined)];
    await Promise.race([...this.#underWay.values(), ...sleep]);
    awake.abort();
  }

  #start(app: AppContext, status: JobStatus, decision: Begin, signal: AbortSignal): void {
    const { job } = status;
    const work = this.#begin(app, status, decision, signal)
      .catch((error: unknown) => {
        // Without another job in progress the whole look fails, and is repeated.
        if (this.#underWay.size > 1) this.#pausedUntil.set(job, new Date(app.clock.now().getTime() + askAgainMs));
        this.#failure = { error };
      })
      .finally(() => this.#underWay.delete(job));
    this.#underWay.set(job, work);
  }

  #decide(status: JobStatus, statuses: ReadonlyMap<string, JobStatus>, now: Date): Decided {
    const freeSince = nightly.has(status.job) ? this.#freeSince : null;
    return { status, ...decideDue(status, statuses, { now, freeSince }) };
  }

  async #recordMissed(app: AppContext, { status: { job }, decision, missed, givenUp }: Decided): Promise<void> {
    await recordMissed(app, job, { missed, givenUp });
    if (missed.length > 0) this.#emit({ kind: 'missed', job, missed });
    if (givenUp) this.#emit({ kind: 'given_up', run: givenUp });
    if (decision.kind !== 'wait') return;
    this.#emitOnce(`${job} ${decision.due.dueSlot} ${decision.for}`, { ...decision, kind: 'waiting', job });
  }

  /** The jobs that need not wait, by start; of the nightly ones only the first, and those that have waited for their full time. */
  #choose(decided: readonly Decided[], now: Date): readonly { status: JobStatus; decision: Begin }[] {
    const startOf = ({ decision }: { decision: Begin }): number => decision.due.dueAt.getTime();
    const ready = decided
      .flatMap(({ status, decision }) =>
        decision.kind === 'begin' && !this.#isPaused(status.job, now) ? [{ status, decision }] : [],
      )
      .toSorted((one, other) => startOf(one) - startOf(other));
    let isTaken = [...this.#underWay.keys()].some((job) => nightly.has(job));
    return ready.filter((one) => {
      if (!nightly.has(one.status.job)) return true;
      const mayBegin = !isTaken || now.getTime() >= startOf(one) + waitAtMostMs;
      if (mayBegin) isTaken = true;
      return mayBegin;
    });
  }

  /** A pause longer than any possible one was begun before the clock was set back. */
  #isPaused(job: string, now: Date): boolean {
    const leftMs = (this.#pausedUntil.get(job) ?? now).getTime() - now.getTime();
    return leftMs > 0 && leftMs <= longestPauseMs;
  }

  async #begin(app: AppContext, { job, times }: JobStatus, { due, isLate }: Begin, signal: AbortSignal): Promise<void> {
    const planned = this.#plan.planned.find((one) => one.job.name === job);
    if (!planned) return;
    const forgetBefore = times.isByDate ? null : toForgetBefore(app.clock.now());
    const request = { job, due, isLate, again: [], forgetBefore, timeoutMs: this.#plan.timeoutMs };
    const answer = await runDueSlot(app, request, signal, (run, held) => {
      this.#emit({ kind: 'begun', run });
      return this.#perform(app, planned.job, run, held);
    });
    const now = app.clock.now();
    if (answer.kind === 'held') {
      this.#pausedUntil.set(job, new Date(now.getTime() + askAgainMs));
      this.#emitOnce(`${job} ${due.dueSlot} ${answer.holder}`, { ...answer, job, due });
    }
    // Another host was faster; the next look reads its result.
    if (answer.kind === 'done') this.#pausedUntil.set(job, new Date(now.getTime() + askAgainMs));
    if (answer.kind !== 'ended') return;
    if (nightly.has(job)) this.#freeSince = now;
    const { run } = answer;
    const { exitCode, because, runIds } = answer.ending;
    if (exitCode !== undefined) return this.#emit({ kind: 'ended', run, exitCode, because, runIds });
    this.#pausedUntil.set(job, new Date(now.getTime() + Math.min(run.attempts * minuteMs, longestPauseMs)));
    this.#emit({ kind: 'interrupted', run, because });
  }

  #findNextLook(decided: readonly Decided[], now: Date): Date {
    const starts = decided.map(({ status, decision }) => {
      const moments = [findNextStart(status, now)?.dueAt ?? []].flat();
      if (decision.kind === 'wait') moments.push(new Date(now.getTime() + askAgainMs));
      if (decision.kind === 'begin') moments.push(this.#pausedUntil.get(status.job) ?? now);
      return { job: status.job, ms: Math.min(...moments.map((moment) => moment.getTime())) };
    });
    const nextMs = Math.min(now.getTime() + longestSleepMs, ...starts.map(({ ms }) => ms));
    this.#nextJobs = starts.filter(({ ms }) => ms <= nextMs).map(({ job }) => job);
    return new Date(nextMs);
  }

  #emitOnce(key: string, event: ScheduleEvent): void {
    if (this.#emitted.has(key)) return;
    this.#emitted.add(key);
    this.#emit(event);
  }
}
