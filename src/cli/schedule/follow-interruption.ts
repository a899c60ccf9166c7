import type { ScheduleEvent } from '../../scheduling/schedule-event.js';

/** Whether a stop has cut off a job, as far as the events of a scheduler tell. */
export interface Interruption {
  note(event: ScheduleEvent): void;
  hasHappened(): boolean;
}

/** Follows whether a job ends because of `signal` before it is done, also where the database goes before that could be noted. */
export function followInterruption(signal: AbortSignal): Interruption {
  let isUnderWay = false;
  let hasHappened = false;
  return {
    note: ({ kind }) => {
      const isCutOff = kind === 'interrupted' || (kind === 'blocked' && isUnderWay);
      if (isCutOff && signal.aborted) hasHappened = true;
      if (kind === 'begun') isUnderWay = true;
      else if (kind === 'ended' || kind === 'interrupted' || kind === 'blocked') isUnderWay = false;
    },
    hasHappened: () => hasHappened,
  };
}
