import type { IncidentKind, IncidentTelling } from '../../store/incidents.js';

const words: Readonly<Record<IncidentKind, string>> = {
  did_not_run: 'did not run',
  stuck: 'is stuck',
  partial: 'ran, but not all of it is done',
  customers_failing: 'customers cannot be screened',
  canary_failed: 'control searches failed',
  screening_overdue: 'screenings are older than the cadence allows',
  job_failed: 'the job failed',
  job_stuck: 'the job is stuck',
};

const wordsOfClock = 'a clock was ahead';

/** An incident in a few words, as `retail: did not run`; what is kept of a roster among `job_failed` is that a clock was ahead. */
export const describeIncident = ({
  kind,
  subject,
  roster,
}: Pick<IncidentTelling, 'kind' | 'subject' | 'roster'>): string =>
  `${subject}: ${kind === 'job_failed' && roster !== null ? wordsOfClock : words[kind]}`;
