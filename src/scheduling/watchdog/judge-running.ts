import type { RunningFacts } from '../../store/watch-facts.js';
import type { Finding } from './finding.js';

/** An owner renews its lock every second; one that has not for so long has ended without a word, or stands still. */
const longestSilenceMs = 10 * 60_000;

const toMinutes = (ms: number): string => `${Math.floor(ms / 60_000)} minutes`;

/** The runs that are open although nobody works on them, or that have saved nothing for too long. */
export function judgeRunning(running: readonly RunningFacts[], stuckAfterMs: number, now: Date): readonly Finding[] {
  return running.flatMap(({ runId, name, roster, owner, silentMs, activeAt }): Finding[] => {
    const shared = { kind: 'stuck', subject: name, roster, runId, isKnown: false } as const;
    const see = `See what it did: nightscreen runs show ${name}`;
    if (silentMs !== null && silentMs >= longestSilenceMs) {
      const reason = `its process (${owner}) was last heard of ${toMinutes(silentMs)} ago, and nobody has gone on with it`;
      const actions = [see, 'See whether that host is up', 'The next start goes on with it: nightscreen rescreen'];
      return [{ ...shared, reason, mark: 'silent', actions }];
    }
    const idleMs = now.getTime() - activeAt.getTime();
    if (silentMs !== null || idleMs < stuckAfterMs) return [];
    const reason = `its process (${owner}) is alive, but it has saved nothing for ${toMinutes(idleMs)}`;
    const actions = [see, 'See whether the service is out of reach: nightscreen doctor'];
    return [{ ...shared, reason, mark: 'idle', actions }];
  });
}
