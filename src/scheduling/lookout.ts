import { mendSchedules, settleMissed } from '../runs/scheduled/keep-schedules.js';
import { type OccasionEnding, runOccasion, toForgetBefore } from '../runs/scheduled/run-occasion.js';
import type { Workplace } from '../runs/workplace.js';
import type { JobRun } from '../store/job-runs.js';
import { type Decision, type DueDecision, decideDue, findNextStart, type JobStanding } from './decide-due.js';
import type { PlannedJob } from './plan-jobs.js';
import type { ScheduleEvent } from './schedule-event.js';
import { readStandings, type SchedulePlan, toDecidingRules } from './standings.js';

/** Does the work of a job that is due; throws nothing. */
export type PerformJob = (
  workplace: Workplace,
  planned: PlannedJob,
  run: JobRun,
  signal: AbortSignal,
) => Promise<OccasionEnding>;

const minuteMs = 60_000;
const askAgainMs = 15_000;
const longestPauseMs = 15 * minuteMs;
const longestSleepMs = 60 * minuteMs;

type Begin = Extract<Decision, { kind: 'begin' }>;
type Decided = DueDecision & { standing: JobStanding };

/** Looks what is due and begins it, one job after the other; remembers what it has told and what has to pause. */
export class Lookout {
  readonly #plan: SchedulePlan;
  readonly #perform: PerformJob;
  readonly #tell: (event: ScheduleEvent) => void;
  readonly #pausedUntil = new Map<string, Date>();
  readonly #told = new Set<string>();
  #freeSince: Date | null = null;
  #nextJobs: readonly string[] = [];

  constructor(plan: SchedulePlan, perform: PerformJob, tell: (event: ScheduleEvent) => void) {
    this.#plan = plan;
    this.#perform = perform;
    this.#tell = tell;
  }

  /** Whether the next look may begin what takes hours; `mail` does not. */
  get isLasting(): boolean {
    return this.#nextJobs.some((job) => job !== 'mail');
  }

  /** Begins everything that is due until nothing is; gives when to look again. Throws StoreError when the database goes away. */
  async look(workplace: Workplace, signal: AbortSignal): Promise<Date> {
    await mendSchedules(workplace);
    for (;;) {
      const standings = await readStandings(workplace, this.#plan);
      const now = workplace.clock.now();
      const decided = [...standings.values()].map((standing) => this.#decide(standing, standings, now));
      for (const one of decided) await this.#settle(workplace, one);
      const next = signal.aborted ? null : this.#choose(decided, now);
      if (next === null) return this.#findNextLook(decided, now);
      await this.#begin(workplace, next.standing, next.decision, signal);
    }
  }

  #decide(standing: JobStanding, standings: ReadonlyMap<string, JobStanding>, now: Date): Decided {
    const rules = toDecidingRules(this.#plan, { now, freeSince: this.#freeSince });
    return { standing, ...decideDue(standing, standings, rules) };
  }

  async #settle(workplace: Workplace, { standing: { job }, decision, missed, givenUp }: Decided): Promise<void> {
    await settleMissed(workplace, job, { missed, givenUp });
    if (missed.length > 0) this.#tell({ kind: 'missed', job, missed });
    if (givenUp) this.#tell({ kind: 'given_up', run: givenUp });
    if (decision.kind !== 'wait') return;
    this.#tellOnce(`${job} ${decision.due.occasion} ${decision.for}`, { ...decision, kind: 'waiting', job });
  }

  /** Whatever was to begin first, of those that need not wait. */
  #choose(decided: readonly Decided[], now: Date): { standing: JobStanding; decision: Begin } | null {
    const ready = decided.flatMap(({ standing, decision }) =>
      decision.kind === 'begin' && !this.#isPaused(standing.job, now) ? [{ standing, decision }] : [],
    );
    const startOf = ({ standing, decision }: (typeof ready)[number]): number =>
      standing.toStart(decision.due).getTime();
    return ready.toSorted((one, other) => startOf(one) - startOf(other))[0] ?? null;
  }

  /** A pause that is longer than any was begun before the clock was put back. */
  #isPaused(job: string, now: Date): boolean {
    const leftMs = (this.#pausedUntil.get(job) ?? now).getTime() - now.getTime();
    return leftMs > 0 && leftMs <= longestPauseMs;
  }

  async #begin(
    workplace: Workplace,
    { job, times }: JobStanding,
    { due, isLate }: Begin,
    signal: AbortSignal,
  ): Promise<void> {
    const planned = this.#plan.planned.find((one) => one.job.name === job);
    if (!planned) return;
    const forgetBefore = times.isByDate ? null : toForgetBefore(workplace.clock.now());
    const request = { job, due, isLate, again: [], forgetBefore };
    const answer = await runOccasion(workplace, request, signal, (run, held) => {
      this.#tell({ kind: 'begun', run });
      return this.#perform(workplace, planned, run, held);
    });
    const now = workplace.clock.now();
    if (answer.kind === 'held') {
      this.#pausedUntil.set(job, new Date(now.getTime() + askAgainMs));
      this.#tellOnce(`${job} ${due.occasion} ${answer.holder}`, { ...answer, job, due });
    }
    // Another host was quicker; what it did is known by the next look.
    if (answer.kind === 'done') this.#pausedUntil.set(job, new Date(now.getTime() + askAgainMs));
    if (answer.kind !== 'ended') return;
    this.#freeSince = now;
    const { run, ending } = answer;
    const { exitCode, because, runIds } = ending;
    if (exitCode !== undefined) return this.#tell({ kind: 'ended', run, exitCode, because, runIds });
    this.#pausedUntil.set(job, new Date(now.getTime() + Math.min(run.attempts * minuteMs, longestPauseMs)));
    this.#tell({ kind: 'interrupted', run, because });
  }

  #findNextLook(decided: readonly Decided[], now: Date): Date {
    const starts = decided.map(({ standing, decision }) => {
      const moments = [findNextStart(standing, now)?.at ?? []].flat();
      if (decision.kind === 'wait') moments.push(new Date(now.getTime() + askAgainMs));
      if (decision.kind === 'begin') moments.push(this.#pausedUntil.get(standing.job) ?? now);
      return { job: standing.job, ms: Math.min(...moments.map((moment) => moment.getTime())) };
    });
    const nextMs = Math.min(now.getTime() + longestSleepMs, ...starts.map(({ ms }) => ms));
    this.#nextJobs = starts.filter(({ ms }) => ms <= nextMs).map(({ job }) => job);
    return new Date(nextMs);
  }

  #tellOnce(key: string, event: ScheduleEvent): void {
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#tell(event);
  }
}
