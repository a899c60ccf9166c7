import type { Incident } from '../../store/incidents.js';
import { toJobSubject, toRosterSubject, type Watched } from '../../store/watched.js';
import type { Watching } from './compare-incidents.js';

/** Whoever has other settings looks at least this often, or has been switched off. */
const forgottenAfterMs = 24 * 3_600_000;

/** What this watchdog watches at a moment, of which jobs the starts as well, and what anybody did. */
export interface WatchingContext {
  starts: readonly string[];
  subjects: readonly string[];
  watched: readonly Watched[];
  now: Date;
}

/** Says who watches what an incident is about. */
export function findWatching(
  { kind, subject, roster }: Pick<Incident, 'kind' | 'subject' | 'roster'>,
  { starts, subjects, watched, now }: WatchingContext,
): Watching {
  // Every open run is looked at, whoever began it.
  if (kind === 'stuck') return 'here';
  const what = roster === null ? toJobSubject(subject) : toRosterSubject(roster);
  if (roster === null && kind === 'did_not_run' && !starts.includes(subject)) {
    // A timer begins it now, and nobody notes that.
    if (subjects.includes(what)) return 'nowhere';
  } else if (subjects.includes(what)) return 'here';
  const last = watched.find((one) => one.subject === what)?.lastWatchedAt;
  return last !== undefined && last.getTime() > now.getTime() - forgottenAfterMs ? 'elsewhere' : 'nowhere';
}
