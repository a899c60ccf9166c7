import type { Incident } from '../../store/incidents.js';
import type { NightFacts, Nights, RunningFacts } from '../../store/watch-facts.js';
import type { ExpectedStart } from './expected-start.js';
import { type Finding, findSame } from './finding.js';
import { type JobFacts, judgeJobs } from './judge-jobs.js';
import { findUnanswered, isStartMissing } from './judge-nights.js';
import { judgeRoster, type RosterFacts } from './judge-roster.js';
import { toUnplanning } from './plans.js';

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
  const findings = [...(facts.isPlanned ? judgeStart(facts, open) : []), ...judgeEnd(facts.ended)];
  return [...findings, ...findUnanswered(facts, sweepSubject, { open, findings })];
}

function judgeStart(facts: SweepFacts, open: readonly Incident[]): readonly Finding[] {
  const { begun, expected } = facts;
  if (!isStartMissing(facts, findSame(open, { kind: 'did_not_run', ...sweepSubject }))) return [];
  const last =
    begun === null ? 'there never was one' : `the last one, ${begun.name}, began at ${begun.takenAt.toISOString()}`;
  const because = expected === null ? '' : `${expected.because}; `;
  const reason = `no sweep of the dossiers has begun: ${because}${last}`;
  const what = { kind: 'did_not_run', reason, mark: 'did_not_run', actions: [again, toUnplanning('sweep')] } as const;
  return [{ ...sweepSubject, runId: begun?.runId ?? null, isKnown: false, ...what }];
}

function judgeEnd(ended: NightFacts | null): readonly Finding[] {
  if (ended === null || (ended.state === 'complete' && ended.isProven !== false)) return [];
  const { runId, name, state, reasons } = ended;
  const because = reasons.length > 0 ? reasons.join('; ') : 'it does not say why';
  const reason = `${name} ended ${state}: ${because}; nothing is told as gone by it`;
  const mark = `${state}: ${because.replace(/\d+/g, '#')}`;
  const actions = [`See what happened: nightscreen runs show ${name}`, again];
  return [{ ...sweepSubject, runId, isKnown: false, kind: 'partial', reason, mark, actions }];
}
