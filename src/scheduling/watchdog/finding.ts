import type { Incident, IncidentTelling } from '../../store/incidents.js';

/** Something that is not as it should be, and what to type. */
export interface Finding extends IncidentTelling {
  actions: readonly string[];
  /** Told already, with nothing new about it: it is listed, and is no alarm. */
  isKnown: boolean;
}

/** Which of the incidents that are not over this is, if any. */
export const findSame = (
  incidents: readonly Incident[],
  { kind, subject }: Pick<IncidentTelling, 'kind' | 'subject'>,
): Incident | undefined => incidents.find((incident) => incident.kind === kind && incident.subject === subject);
