import type { Incident, IncidentKind, IncidentTelling } from '../../store/incidents.js';
import type { NightFacts, Nights } from '../../store/watch-facts.js';
import type { StartFacts } from './expectations.js';

/** Something that is not as it should be, and what to type. */
export interface Finding extends IncidentTelling {
  actions: readonly string[];
  /** Told already, with nothing new about it: it is listed, and is no alarm. */
  isKnown: boolean;
}

/** Which of the incidents that are not over this is, if any. A roster may be called `sweep`, or as a job is. */
export const findSame = (
  incidents: readonly Incident[],
  { kind, subject, roster }: Pick<IncidentTelling, 'kind' | 'subject' | 'roster'>,
): Incident | undefined =>
  incidents.find((incident) => incident.kind === kind && incident.subject === subject && incident.roster === roster);

/** What was told of and neither is over nor has anything new about it. */
export const toStanding = (
  { kind, subject, roster, runId, reason, mark }: Incident,
  actions: readonly string[],
): Finding => ({ kind, subject, roster, runId, reason, mark, actions, isKnown: false });

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

const words: Readonly<Record<IncidentKind, string>> = {
  did_not_run: 'did not run',
  stuck: 'is stuck',
  partial: 'ran, but not all of it is done',
  customers_failing: 'customers cannot be screened',
  canary_failed: 'control searches failed',
  screening_overdue: 'screenings are older than the cadence allows',
  job_failed: 'the job failed',
  job_stuck: 'the job is stuck',
};

const wordsOfClock = 'a clock was ahead';

/** An incident in a few words, as `retail: did not run`; what is kept of a roster among `job_failed` is that a clock was ahead. */
export const describeIncident = ({
  kind,
  subject,
  roster,
}: Pick<IncidentTelling, 'kind' | 'subject' | 'roster'>): string =>
  `${subject}: ${kind === 'job_failed' && roster !== null ? wordsOfClock : words[kind]}`;
