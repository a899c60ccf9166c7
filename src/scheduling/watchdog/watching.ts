import type { Incident } from '../../store/incidents.js';
import { toJobSubject, toRosterSubject, type Watched } from '../../store/watched.js';
import type { Watching } from './compare-incidents.js';

/** Whoever has other settings looks at least this often, or has been switched off. */
const forgottenAfterMs = 24 * 3_600_000;

/** Says who watches what an incident is about; `subjects`: what this watchdog watches, `watched`: what anybody did. */
export function findWatching(
  { kind, subject, roster }: Pick<Incident, 'kind' | 'subject' | 'roster'>,
  { subjects, watched, now }: { subjects: readonly string[]; watched: readonly Watched[]; now: Date },
): Watching {
  // Every open run is looked at, whoever began it.
  if (kind === 'stuck') return 'here';
  const what = roster === null ? toJobSubject(subject) : toRosterSubject(roster);
  if (subjects.includes(what)) return 'here';
  const last = watched.find((one) => one.subject === what)?.lastWatchedAt;
  return last !== undefined && last.getTime() > now.getTime() - forgottenAfterMs ? 'elsewhere' : 'nowhere';
}
