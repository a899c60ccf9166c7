import type { ScheduleEvent } from '../../scheduling/schedule-event.js';

/** Whether a stop has cut off a job, as far as the events of a scheduler tell. */
export interface Interruption {
  note(event: ScheduleEvent): void;
  hasHappened(): boolean;
}

/** Follows whether a job ends because of `signal` before it is done, also where the database goes before that could be noted. */
export function followInterruption(signal: AbortSignal): Interruption {
  const underWay = new Set<string>();
  let hasHappened = false;
  return {
    note: (event) => {
      const { kind } = event;
      const isCutOff = kind === 'interrupted' || (kind === 'blocked' && underWay.size > 0);
      if (isCutOff && signal.aborted) hasHappened = true;
      if (kind === 'begun') underWay.add(event.run.job);
      else if (kind === 'ended' || kind === 'interrupted') underWay.delete(event.run.job);
      else if (kind === 'blocked') underWay.clear();
    },
    hasHappened: () => hasHappened,
  };
}
