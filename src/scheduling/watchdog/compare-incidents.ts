import type { Incident } from '../../store/incidents.js';
import { type Finding, findSame } from './finding.js';

/** Who watches what an incident is about: this watchdog, another one that has other settings, or nobody any more. */
export type Watching = 'here' | 'elsewhere' | 'nowhere';

/** What there is to tell: what is new, what is new about something known, and what is over; and what is closed without a word. */
export interface News {
  begun: readonly Finding[];
  again: readonly { incident: Incident; finding: Finding }[];
  over: readonly Incident[];
  /** That it is over, nobody knows. */
  dropped: readonly Incident[];
}

/** Compares what is found now with the incidents that are not over. */
export function compareIncidents(
  open: readonly Incident[],
  findings: readonly Finding[],
  findWatching: (incident: Incident) => Watching,
): News {
  const pairs = findings.flatMap((finding) => {
    const incident = findSame(open, finding);
    return incident ? [{ incident, finding }] : [];
  });
  const rest = open.filter((incident) => !pairs.some((pair) => pair.incident === incident));
  return {
    begun: findings.filter((finding) => findSame(open, finding) === undefined),
    again: pairs.filter(({ incident, finding }) => !finding.isKnown && incident.mark !== finding.mark),
    over: rest.filter((incident) => findWatching(incident) === 'here'),
    dropped: rest.filter((incident) => findWatching(incident) === 'nowhere'),
  };
}
