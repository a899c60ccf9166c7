import { toDurationMs } from '../../roster/duration.js';
import type { Workplace } from '../../runs/workplace.js';
import type { Incident } from '../../store/incidents.js';
import { findLastSweeps, type Nights, readRunning } from '../../store/watch-facts.js';
import { toJobSubject, type Watched } from '../../store/watched.js';
import { type Expectations, readExpectations, type WatchSettings } from './expectations.js';
import type { JudgedFacts } from './judge.js';
import { readRosterFacts } from './read-roster-facts.js';
import { toJobFacts } from './to-job-facts.js';

/** What is judged at a moment, and what is watched: by this watchdog (`subjects`), and by any. */
export interface WatchFacts extends JudgedFacts {
  /** The jobs of which it is watched whether they begin. */
  starts: readonly string[];
  subjects: readonly string[];
  watched: readonly Watched[];
  pause: Expectations['pause'];
}

/** A sweep that nobody plans is judged for so long. */
const recentMs = 7 * 24 * 3_600_000;

/** Reads everything that is judged at a moment, of these rosters, and notes that they are watched; `open`: what has been told of and is not over. */
export async function readWatchFacts(
  workplace: Pick<Workplace, 'database' | 'settings'>,
  organisationId: number,
  context: WatchSettings & { rosters: readonly string[]; open: readonly Incident[]; now: Date },
): Promise<WatchFacts> {
  const { database } = workplace;
  const { rosters, open, now, watchdog } = context;
  const expectations = await readExpectations(workplace, organisationId, context);
  const running = await readRunning(database, organisationId);
  const agedMs = toDurationMs(watchdog.failingFor);
  const judged = { expectations, running, open, agedMs, now };
  const rosterFacts = await readRosterFacts(workplace, organisationId, rosters, judged);
  const sweeps = await findLastSweeps(database, organisationId);
  const isRecent = sweeps.begun !== null && now.getTime() - sweeps.begun.takenAt.getTime() < recentMs;
  const isPlanned = expectations.plans.has('sweep');
  const nights = new Map<string, readonly Pick<Nights, 'ended'>[]>([
    ['rescreen', rosterFacts],
    ['sweep', [sweeps]],
  ]);
  const jobs = toJobFacts(expectations, nights, now);
  return {
    rosters: rosterFacts,
    running,
    sweep: { ...sweeps, ...expectations.ofJob('sweep'), isPlanned, isRecent },
    jobs,
    starts: [...(isPlanned ? ['sweep'] : []), ...jobs.flatMap(({ job, start }) => (start === null ? [] : [job]))],
    subjects: [...expectations.subjects, ...(isRecent ? [toJobSubject('sweep')] : [])],
    watched: expectations.watched,
    pause: expectations.pause,
  };
}
