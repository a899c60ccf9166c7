import type { NightFacts, RunningFacts } from '../../store/watch-facts.js';
import type { StartFacts } from './judge-nights.js';

/** No night that lasts longer makes anybody's screening younger. */
const longestNightMs = 24 * 3_600_000;

/**
 * The moment at which the ages of a roster's screenings are judged: while a night that began in time is under way, its own or the one of
 * another roster that it waits for (`others`), the beginning of that, since it answers who grows too old meanwhile; else now.
 */
export function findAgeMoment(
  { begun, expected, isWaiting }: StartFacts,
  others: readonly NightFacts[],
  { running, now }: { running: readonly RunningFacts[]; now: Date },
): Date {
  const isAlive = (night: NightFacts): boolean =>
    running.some(({ runId, silentMs }) => runId === night.runId && silentMs === null);
  const isInTime = ({ takenAt }: NightFacts): boolean =>
    takenAt <= now &&
    takenAt.getTime() > now.getTime() - longestNightMs &&
    (expected === null || takenAt >= expected.since);
  const answering = [...(begun ? [begun] : []), ...(isWaiting ? others : [])].filter(
    (night) => isAlive(night) && isInTime(night),
  );
  return new Date(Math.min(now.getTime(), ...answering.map(({ takenAt }) => takenAt.getTime())));
}
