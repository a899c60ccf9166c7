import { LeaseLostError } from '../../errors.js';
import type { RunSession } from '../session/run-session.js';
import { tellCriticalChanges } from './early-warnings.js';

/** How often a run is looked at that has found nothing critical so far, or not for five minutes. */
const lookEveryMs = 15_000;
/** How long the end of a run waits for mail, and how long a run that somebody stops. */
const patienceMs = 60_000;
const stopPatienceMs = 2_000;

/** A watch over what a run commits. */
export interface CriticalWatch {
  /** Tells what has not been told yet, unless somebody asked the run to stop; never throws. */
  close(): Promise<void>;
}

/**
 * Tells of critical changes while a run goes on: the first within a quarter of a minute of its commit, later ones at most five minutes
 * after it. Whatever goes wrong with that is a warning and nothing to the run.
 */
export function watchCriticalChanges(session: RunSession): CriticalWatch {
  const { clock } = session.workplace;
  const closing = new AbortController();
  const tell = async (atOnce: boolean): Promise<Date | null> => {
    try {
      return await tellCriticalChanges(session, atOnce);
    } catch (error) {
      if (!(error instanceof LeaseLostError)) tellFailure(session, error);
      return null;
    }
  };
  const watch = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const nextAt = await tell(false);
      const waitMs = nextAt === null ? lookEveryMs : Math.max(0, nextAt.getTime() - clock.now().getTime());
      await clock.sleep(waitMs, closing.signal).catch(() => undefined);
    }
    // The process may end here, and the report may be mailed hours later.
    if (!session.signal.aborted) await tell(true);
  };
  const watching = watch();
  return {
    close: async () => {
      closing.abort();
      const isStopped = session.signal.aborted;
      const given = new AbortController();
      const patience = clock.sleep(isStopped ? stopPatienceMs : patienceMs, given.signal).catch(() => undefined);
      await Promise.race([watching, patience]);
      given.abort();
    },
  };
}

function tellFailure({ workplace, runId }: RunSession, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `critical changes could not be told before the report: ${reason}`;
  workplace.tell({ kind: 'warning', runId, code: 'early_warning_failed', message });
}
