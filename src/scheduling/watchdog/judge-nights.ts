import type { Incident, IncidentKind } from '../../store/incidents.js';
import type { NightFacts, Nights } from '../../store/watch-facts.js';
import type { ExpectedStart } from './expected-start.js';
import { type Finding, toStanding } from './finding.js';

/** A nightly job and when it should have begun; `isWaiting`: it may yet, for another one is under way that comes before it. */
export interface StartFacts extends Pick<Nights, 'begun'> {
  /** Null where no start was due yet. */
  expected: ExpectedStart | null;
  isWaiting: boolean;
}

/** Whether a start that was due is missing. What was told as missing stays so until something has begun, whatever else begins. */
export function isStartMissing({ begun, expected, isWaiting }: StartFacts, told: Incident | undefined): boolean {
  if (expected !== null && begun !== null && begun.takenAt >= expected.since) return false;
  if (expected !== null && !isWaiting) return true;
  return told !== undefined && !hasBegunSince(begun, told);
}

const hasBegunSince = (begun: NightFacts | null, { runId, openedAt }: Incident): boolean =>
  begun !== null && (begun.runId > (runId ?? 0) || begun.takenAt > openedAt);

/** What is told of the end of a run. */
const endKinds: ReadonlySet<IncidentKind> = new Set(['partial', 'canary_failed']);

/**
 * What was told of an end and stands, because no end as late as that has come since: a run that is gone on with has left the state that was
 * told of, and one that is given up for a newer one counts no more.
 */
export function findUnanswered(
  { ended }: Pick<Nights, 'ended'>,
  { subject, roster }: Pick<Incident, 'subject' | 'roster'>,
  { open, findings }: { open: readonly Incident[]; findings: readonly Pick<Finding, 'kind'>[] },
): readonly Finding[] {
  const isUnanswered = ({ kind, runId }: Incident): boolean =>
    endKinds.has(kind) && (ended?.runId ?? 0) < (runId ?? 0) && !findings.some((one) => one.kind === kind);
  return open
    .filter((incident) => incident.subject === subject && incident.roster === roster && isUnanswered(incident))
    .map((incident) => toStanding(incident, ['See whether it is being gone on with: nightscreen runs list']));
}
