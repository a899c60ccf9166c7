import { countNoun } from '../../reports/format-count.js';
import type { AheadFacts } from '../../store/ahead-facts.js';
import type { Finding } from './finding.js';

/**
 * The rosters that were begun or screened at what is yet to come: a clock was ahead, and of who was screened by it nobody knows when. It is
 * kept among `job_failed`, with a roster, which no job has.
 */
export function judgeAhead(rosters: readonly AheadFacts[]): readonly Finding[] {
  return rosters.map(({ roster, run, startedAt, customers, latestScreenedAt }) => {
    const began = startedAt === null ? [] : [`${run} began at ${startedAt.toISOString()}, which is yet to come`];
    const who = `${countNoun(customers, 'customer')} screened at what is yet to come`;
    const screened = latestScreenedAt === null ? [] : [`${who}, up to ${latestScreenedAt.toISOString()}`];
    return {
      kind: 'job_failed',
      subject: roster,
      roster,
      runId: null,
      reason: [...began, ...screened].join('; '),
      mark: customers > 0 ? 'screened ahead' : 'begun ahead',
      isKnown: false,
      actions: [
        'Set the clock of the host that runs the nights (NTP), and see that it stays so: nightscreen doctor',
        `The next night asks anew about whom it dated more than an hour ahead; about everybody, now: nightscreen screen --all --roster ${roster}`,
      ],
    };
  });
}
