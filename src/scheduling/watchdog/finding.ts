import type { Incident, IncidentTelling } from '../../store/incidents.js';

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
