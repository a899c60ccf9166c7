import type { Incident } from '../../store/incidents.js';
import type { NightFacts, Nights } from '../../store/watch-facts.js';
import type { ExpectedStart } from './expected-start.js';
import { type Finding, findSame } from './finding.js';
import { findUnanswered, isStartMissing } from './judge-nights.js';
import { toUnplanning } from './plans.js';

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
