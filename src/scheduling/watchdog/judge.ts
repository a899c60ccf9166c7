import { countNoun } from '../../reports/text.js';
import { describeFailed } from '../../runs/run-summary.js';
import type { FailingFacts, Incident } from '../../store/incidents.js';
import type { NightFacts, Nights, RunningFacts } from '../../store/watch-facts.js';
import { type ExpectedStart, type StartFacts, toUnplanning } from './expectations.js';
import { type Finding, findSame, findUnanswered, isStartMissing } from './findings.js';
import { type JobFacts, judgeJobs } from './judge-jobs.js';

/** Everything that is judged. */
export interface JudgedFacts {
  rosters: readonly RosterFacts[];
  running: readonly RunningFacts[];
  sweep: SweepFacts;
  jobs: readonly JobFacts[];
}

/** What is not as it should be at a moment, against what has been told and is not over (`open`). */
export function judge(
  { rosters, running, sweep, jobs }: JudgedFacts,
  open: readonly Incident[],
  { stuckAfterMs, now }: { stuckAfterMs: number; now: Date },
): readonly Finding[] {
  return [
    ...rosters.flatMap((facts) => judgeRoster(facts, open, now)),
    ...judgeRunning(running, stuckAfterMs, now),
    ...judgeSweep(sweep, open),
    ...judgeJobs(jobs, open, now),
  ];
}

/** An owner renews its lock every second; one that has not for so long has ended without a word, or stands still. */
const longestSilenceMs = 10 * 60_000;

const toMinutes = (ms: number): string => `${Math.floor(ms / 60_000)} minutes`;

/** The runs that are open although nobody works on them, or that have saved nothing for too long. */
export function judgeRunning(running: readonly RunningFacts[], stuckAfterMs: number, now: Date): readonly Finding[] {
  return running.flatMap(({ runId, name, roster, owner, silentMs, activeAt }): Finding[] => {
    const shared = { kind: 'stuck', subject: name, roster, runId, isKnown: false } as const;
    const see = `See what it did: nightscreen runs show ${name}`;
    if (silentMs !== null && silentMs >= longestSilenceMs) {
      const reason = `its process (${owner}) was last heard of ${toMinutes(silentMs)} ago, and nobody has gone on with it`;
      const actions = [see, 'See whether that host is up', 'The next start goes on with it: nightscreen rescreen'];
      return [{ ...shared, reason, mark: 'silent', actions }];
    }
    const idleMs = now.getTime() - activeAt.getTime();
    if (silentMs !== null || idleMs < stuckAfterMs) return [];
    const reason = `its process (${owner}) is alive, but it has saved nothing for ${toMinutes(idleMs)}`;
    const actions = [see, 'See whether the service is out of reach: nightscreen doctor'];
    return [{ ...shared, reason, mark: 'idle', actions }];
  });
}

/** What is known of the sweeps of the dossiers. */
export interface SweepFacts extends Nights {
  /** Null where nobody wrote down when it should be made, or none was due yet. */
  expected: ExpectedStart | null;
  isWaiting: boolean;
  isPlanned: boolean;
  /** Whether the last one is of these days; what somebody swept once long ago is history where none are planned. */
  isRecent: boolean;
}

/** What incidents of sweeps are about. */
const sweepSubject = { subject: 'sweep', roster: null } as const;

const again = 'Sweep again: nightscreen sweep';

/** What is not as it should be with the sweep of the dossiers, against what has been told and is not over (`open`). */
export function judgeSweep(facts: SweepFacts, open: readonly Incident[]): readonly Finding[] {
  if (!facts.isPlanned && !facts.isRecent) return [];
  const findings = [...(facts.isPlanned ? judgeSweepStart(facts, open) : []), ...judgeSweepEnd(facts.ended)];
  return [...findings, ...findUnanswered(facts, sweepSubject, { open, findings })];
}

function judgeSweepStart(facts: SweepFacts, open: readonly Incident[]): readonly Finding[] {
  const { begun, expected } = facts;
  if (!isStartMissing(facts, findSame(open, { kind: 'did_not_run', ...sweepSubject }))) return [];
  const last =
    begun === null ? 'there never was one' : `the last one, ${begun.name}, began at ${begun.takenAt.toISOString()}`;
  const because = expected === null ? '' : `${expected.because}; `;
  const reason = `no sweep of the dossiers has begun: ${because}${last}`;
  const what = { kind: 'did_not_run', reason, mark: 'did_not_run', actions: [again, toUnplanning('sweep')] } as const;
  return [{ ...sweepSubject, runId: begun?.runId ?? null, isKnown: false, ...what }];
}

function judgeSweepEnd(ended: NightFacts | null): readonly Finding[] {
  if (ended === null || (ended.state === 'complete' && ended.isProven !== false)) return [];
  const { runId, name, state, reasons } = ended;
  const because = reasons.length > 0 ? reasons.join('; ') : 'it does not say why';
  const reason = `${name} ended ${state}: ${because}; nothing is told as gone by it`;
  const mark = `${state}: ${because.replace(/\d+/g, '#')}`;
  const actions = [`See what happened: nightscreen runs show ${name}`, again];
  return [{ ...sweepSubject, runId, isKnown: false, kind: 'partial', reason, mark, actions }];
}

/** What is known of a roster. */
export interface RosterFacts extends Nights, StartFacts {
  roster: string;
  /** Null before the roster was ever imported. */
  failing: FailingFacts | null;
  /** Customers whose last valid answer is older than their cadence and its grace, without those whose searches fail. */
  overdue: { customers: number; oldestScreenedAt: Date | null };
}

const see = (night: Pick<NightFacts, 'name'>): string => `See what happened: nightscreen runs show ${night.name}`;
const startAgain = 'Start it again once that is mended: nightscreen rescreen';

/**
 * What is not as it should be with a roster, against what has been told and is not over (`open`). What a night says it says at its end: until
 * then the one before it stands.
 */
export function judgeRoster(facts: RosterFacts, open: readonly Incident[], now: Date): readonly Finding[] {
  const { roster, begun, ended } = facts;
  const about = { subject: roster, roster };
  const told = (kind: Finding['kind']): Incident | undefined => findSame(open, { kind, ...about });
  const judged = [
    judgeRosterStart(facts, told('did_not_run')),
    judgeCanaries(facts),
    judgeRosterEnd(ended),
    judgeAge(facts, now),
    judgeFailing(facts, told('customers_failing'), now),
  ];
  const shared = { ...about, runId: (ended ?? begun)?.runId ?? null, isKnown: false };
  const findings = judged.flatMap((one) => (one === null ? [] : [{ ...shared, ...one }]));
  return [...findings, ...findUnanswered(facts, about, { open, findings })];
}

type Judged = Pick<Finding, 'kind' | 'reason' | 'mark' | 'actions'> & Partial<Pick<Finding, 'isKnown' | 'runId'>>;

function judgeRosterStart(facts: RosterFacts, told: Incident | undefined): Judged | null {
  if (!isStartMissing(facts, told)) return null;
  const { begun, expected } = facts;
  const last = begun === null ? 'it never has' : `the last one, ${begun.name}, began at ${begun.takenAt.toISOString()}`;
  return {
    kind: 'did_not_run',
    runId: begun?.runId ?? null,
    reason: `no screening of it has begun: ${expected === null ? '' : `${expected.because}; `}${last}`,
    mark: 'did_not_run',
    actions: [
      'See that the scheduler, cron or timer is running, and on which host',
      'Check settings, key, database and service: nightscreen doctor',
      'Screen now: nightscreen rescreen',
    ],
  };
}

/** A control search that fails is told before its run ends. */
function judgeCanaries({ begun, ended }: RosterFacts): Judged | null {
  const night = [begun, ended].find((one) => one?.hasFailedCanary);
  if (!night) return null;
  return {
    kind: 'canary_failed',
    runId: night.runId,
    reason: `control searches of ${night.name} failed: what the service said cannot be relied on, and whoever it was asked about is not screened`,
    mark: 'canary_failed',
    actions: [see(night), "Ask the service's operators; check that the canary is still listed", startAgain],
  };
}

const partialStates: ReadonlySet<string> = new Set(['incomplete', 'stopped', 'unbalanced', 'refused']);

/** A run that is partial only because of customers who fail, or of control searches, is told of as that. */
function judgeRosterEnd(night: NightFacts | null): Judged | null {
  if (night === null || !partialStates.has(night.state)) return null;
  const { state, reasons, failed, hasFailedCanary, name } = night;
  const others = reasons.filter((reason) => failed === 0 || reason !== describeFailed(failed));
  if (state === 'incomplete' && (hasFailedCanary || (others.length === 0 && reasons.length > 0))) return null;
  const because = others.length === 0 ? 'it does not say why' : others.join('; ');
  return {
    kind: 'partial',
    reason: `${name} ended ${state}: ${because}`,
    // Figures and names of runs are no news.
    mark: `${state}: ${because.replace(/\d+/g, '#')}`,
    actions: [see(night), ...(state === 'stopped' ? [`Go on with it: nightscreen runs resume ${name}`] : [startAgain])],
  };
}

function judgeAge({ overdue: { customers, oldestScreenedAt } }: RosterFacts, now: Date): Judged | null {
  if (customers === 0) return null;
  // By a clock that was ahead: of such a screening nobody knows how old it is.
  const isAhead = oldestScreenedAt !== null && oldestScreenedAt > now;
  const since = oldestScreenedAt === null || isAhead ? '' : `; the oldest is of ${oldestScreenedAt.toISOString()}`;
  return {
    kind: 'screening_overdue',
    reason: `the screening of ${countNoun(customers, 'customer')} is ${isAhead ? 'dated at what is yet to come' : 'older than the cadence allows'}${since}`,
    mark: 'screening_overdue',
    actions: ['See who it is: nightscreen coverage --list 20', 'Screen whoever is due: nightscreen rescreen'],
  };
}

/** Who fails every night is told of when that is new and when it has lasted for too long, and else listed as known. */
function judgeFailing({ failing, ended }: RosterFacts, told: Incident | undefined, now: Date): Judged | null {
  // What a failed control search took back says nothing about the customers.
  if (ended?.hasFailedCanary && told) {
    const { kind, runId, reason, mark } = told;
    return { kind, runId, reason, mark, isKnown: true, actions: [] };
  }
  if (ended === null || ended.hasFailedCanary || !failing?.run || failing.customers === 0) return null;
  const { customers, newly, aged, since, run } = failing;
  const lookedAt = Math.max(run.runId, ended.runId);
  const isNew = told === undefined || newly > 0 || aged > 0;
  const parts = [
    `${countNoun(customers, 'customer')} cannot be screened though the service answers others`,
    ...(newly > 0 ? [`${newly} of them newly`] : []),
    ...(aged > 0 ? [`${aged} without a valid answer for longer than watchdog.failingFor allows`] : []),
    ...(since === null ? [] : [`the longest since ${since.toISOString()}`]),
  ];
  return {
    kind: 'customers_failing',
    runId: lookedAt,
    reason: parts.join('; '),
    mark: isNew ? `${lookedAt}/${newly}/${aged}/${now.toISOString().slice(0, 10)}` : told.mark,
    // Until another run has looked, what has just been told stands.
    isKnown: !isNew && told.runId !== lookedAt,
    actions: [
      `See who it is: nightscreen runs show ${run.name} --list failed`,
      "Give the service's operators the names and the times of the calls",
    ],
  };
}
