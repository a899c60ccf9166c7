import type { IncidentKind } from '../../store/incidents.js';

const words: Readonly<Record<IncidentKind, string>> = {
  did_not_run: 'did not run',
  stuck: 'is stuck',
  partial: 'ran, but not all of it is done',
  customers_failing: 'customers cannot be screened',
  canary_failed: 'control searches failed',
  screening_overdue: 'screenings are older than the cadence allows',
  job_failed: 'the job failed',
};

/** The subject of what a clock that was ahead has left behind; it is kept among `job_failed`, and no job can be called so. */
export const clockSubject = 'the clock';

/** An incident in a few words, as `retail: did not run`. */
export const describeIncident = ({ kind, subject }: { kind: IncidentKind; subject: string }): string =>
  `${subject}: ${subject === clockSubject && kind === 'job_failed' ? 'was ahead' : words[kind]}`;
