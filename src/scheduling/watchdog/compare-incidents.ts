import type { Incident } from '../../store/incidents.js';
import { type Finding, findSame } from './finding.js';

/** What there is to tell: what is new, what is new about something known, and what is over. */
export interface News {
  begun: readonly Finding[];
  again: readonly { incident: Incident; finding: Finding }[];
  over: readonly Incident[];
}

/** Compares what is found now with the incidents that are not over. */
export function compareIncidents(open: readonly Incident[], findings: readonly Finding[]): News {
  const pairs = findings.flatMap((finding) => {
    const incident = findSame(open, finding);
    return incident ? [{ incident, finding }] : [];
  });
  return {
    begun: findings.filter((finding) => findSame(open, finding) === undefined),
    again: pairs.filter(({ incident, finding }) => !finding.isKnown && incident.mark !== finding.mark),
    over: open.filter((incident) => !pairs.some((pair) => pair.incident === incident)),
  };
}
