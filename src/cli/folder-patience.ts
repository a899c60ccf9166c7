import type { FolderPatience } from '../store/database/folder-lock.js';
import type { Invocation } from './invocation.js';

/** A person waits. */
const shortMs = 10_000;
/** Longer than mail can be held up by a server that does not answer: a night must not be refused for that. */
const longMs = 120_000;

/**
 * How the embedded database's folder is taken: work that `isLasting` may hold it for hours, so that nobody waits for it, and is itself
 * worth a wait of two minutes; anything else gives it back within seconds and waits ten.
 */
export function toFolderPatience(
  { notify, signal }: Pick<Invocation, 'notify' | 'signal'>,
  isLasting: boolean,
): FolderPatience {
  const patienceMs = isLasting ? longMs : shortMs;
  const tellWait = (holder: string, longestMs = patienceMs): void =>
    notify({
      level: 'info',
      code: 'database_taken',
      message: `waits for ${holder}, which has the database; at most ${longestMs / 1_000} s`,
    });
  return { isBrief: !isLasting, patienceMs, tellWait, signal };
}
