import { countNoun } from '../../reports/format-count.js';
import { describeFailed } from '../../runs/run-verdict.js';
import type { Incident } from '../../store/incidents.js';
import type { FailingFacts, NightFacts } from '../../store/watch-facts.js';
import type { ExpectedStart } from './expected-start.js';
import { type Finding, findSame } from './finding.js';

/** What is known of a roster. */
export interface RosterFacts {
  roster: string;
  /** Null where no start was due yet. */
  expected: ExpectedStart | null;
  /** The newest night; null before the first. */
  night: NightFacts | null;
  /** Whether another roster's screening goes on: rosters are screened one after the other. */
  isWaitingItsTurn: boolean;
  /** Null before the roster was ever imported. */
  failing: FailingFacts | null;
  /** Customers whose last valid answer is older than their cadence and an hour, without those whose searches fail. */
  overdue: { customers: number; oldestScreenedAt: Date | null };
}

const see = (night: NightFacts): string => `See what happened: nightscreen runs show ${night.name}`;
const startAgain = 'Start it again once that is mended: nightscreen rescreen';

/** What is not as it should be with a roster, against what has been told and is not over (`open`). */
export function judgeRoster(facts: RosterFacts, open: readonly Incident[], now: Date): readonly Finding[] {
  const { roster, night } = facts;
  const shared = { subject: roster, roster, runId: night?.runId ?? null, isKnown: false };
  const findings = [judgeStart(facts), judgeCanaries(night), judgeEnd(night), judgeAge(facts)];
  const failing = judgeFailing(facts, findSame(open, { kind: 'customers_failing', subject: roster }), now);
  return [...findings, failing].flatMap((finding) => (finding === null ? [] : [{ ...shared, ...finding }]));
}

type Judged = Pick<Finding, 'kind' | 'reason' | 'mark' | 'actions'> & { isKnown?: boolean };

function judgeStart({ expected, night, isWaitingItsTurn }: RosterFacts): Judged | null {
  if (expected === null || isWaitingItsTurn || (night !== null && night.takenAt >= expected.since)) return null;
  const last = night === null ? 'it never has' : `the last one, ${night.name}, began at ${night.takenAt.toISOString()}`;
  return {
    kind: 'did_not_run',
    reason: `no screening of it has begun: ${expected.because}; ${last}`,
    mark: 'did_not_run',
    actions: [
      'See that the scheduler, cron or timer is running, and on which host',
      'Check settings, key, database and service: nightscreen doctor',
      'Screen now: nightscreen rescreen',
    ],
  };
}

function judgeCanaries(night: NightFacts | null): Judged | null {
  if (!night?.hasFailedCanary) return null;
  return {
    kind: 'canary_failed',
    reason: `control searches of ${night.name} failed: what the service said cannot be relied on, and whoever it was asked about is not screened`,
    mark: 'canary_failed',
    actions: [see(night), "Ask the service's operators; check that the canary is still listed", startAgain],
  };
}

const partialStates: ReadonlySet<string> = new Set(['incomplete', 'stopped', 'unbalanced', 'refused']);

/** A run that is partial only because of customers who fail, or of control searches, is told of as that. */
function judgeEnd(night: NightFacts | null): Judged | null {
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

function judgeAge({ overdue: { customers, oldestScreenedAt } }: RosterFacts): Judged | null {
  if (customers === 0) return null;
  const since = oldestScreenedAt === null ? '' : `; the oldest is of ${oldestScreenedAt.toISOString()}`;
  return {
    kind: 'screening_overdue',
    reason: `the screening of ${countNoun(customers, 'customer')} is older than the cadence allows${since}`,
    mark: 'screening_overdue',
    actions: ['See who it is: nightscreen coverage --list 20', 'Screen whoever is due: nightscreen rescreen'],
  };
}

/** Who fails every night is told of when that is new and when it has lasted for too long, and else listed as known. */
function judgeFailing({ failing, night }: RosterFacts, told: Incident | undefined, now: Date): Judged | null {
  // What a failed control search took back says nothing about the customers.
  if (night?.hasFailedCanary && told) {
    const { kind, reason, mark } = told;
    return { kind, reason, mark, isKnown: true, actions: [] };
  }
  if (night === null || night.hasFailedCanary || failing === null || failing.customers === 0) return null;
  const { customers, newly, aged, since } = failing;
  const isNew = told === undefined || newly > 0 || aged > 0;
  const parts = [
    `${countNoun(customers, 'customer')} cannot be screened though the service answers others`,
    ...(newly > 0 ? [`${newly} of them newly`] : []),
    ...(aged > 0 ? [`${aged} without a valid answer for longer than watchdog.failingFor allows`] : []),
    ...(since === null ? [] : [`the longest since ${since.toISOString()}`]),
  ];
  return {
    kind: 'customers_failing',
    reason: parts.join('; '),
    mark: isNew ? `${night.runId}/${newly}/${aged}/${now.toISOString().slice(0, 10)}` : told.mark,
    isKnown: !isNew && told.runId !== night.runId,
    actions: [
      `See who it is: nightscreen runs show ${night.name} --list failed`,
      "Give the service's operators the names and the times of the calls",
    ],
  };
}
