import { countNoun } from '../../reports/format-count.js';
import type { AheadFacts } from '../../store/ahead-facts.js';
import { clockSubject } from './describe-incident.js';
import type { Finding } from './finding.js';

/** That something was begun or screened at what is yet to come: a clock was ahead, and who was screened by it is not due until then. */
export function judgeAhead({ starts, screened }: AheadFacts): readonly Finding[] {
  if (starts.length === 0 && screened.length === 0) return [];
  const parts = [
    ...starts.map(({ name, startedAt }) => `${name} began at ${startedAt.toISOString()}, which is yet to come`),
    ...screened.map(({ roster, customers, latestScreenedAt }) => {
      const who = `${countNoun(customers, 'customer')} of ${roster}`;
      return `${who} screened at what is yet to come, up to ${latestScreenedAt.toISOString()}, and not due before that`;
    }),
  ];
  return [
    {
      kind: 'job_failed',
      subject: clockSubject,
      roster: null,
      runId: null,
      reason: parts.join('; '),
      mark: ['ahead', ...screened.map(({ roster }) => roster)].join('/'),
      isKnown: false,
      actions: [
        'Set the clock of the host that runs the nights (NTP), and see that it stays so: nightscreen doctor',
        ...screened.map(
          ({ roster }) => `Then screen everybody, due or not: nightscreen screen --all --roster ${roster}`,
        ),
      ],
    },
  ];
}
