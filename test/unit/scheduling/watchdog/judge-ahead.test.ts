import { expect, it } from 'vitest';
import { describeIncident } from '../../../../src/scheduling/watchdog/describe-incident.js';
import { judgeAhead } from '../../../../src/scheduling/watchdog/judge-ahead.js';

const later = new Date('2026-12-24T02:00:00Z');
const start = { name: '2026-12-24-rescreen-9', startedAt: later };
const screened = { roster: 'retail', customers: 2, latestScreenedAt: later };

it('what was begun and screened at what is yet to come is one alarm, which says whom to screen again', () => {
  expect(judgeAhead({ starts: [], screened: [] })).toEqual([]);
  const [finding, ...others] = judgeAhead({ starts: [start], screened: [screened] });
  if (!finding) throw new Error('nothing was found');
  expect(others).toEqual([]);
  expect(describeIncident(finding)).toBe('the clock: was ahead');
  expect(finding.reason).toContain('2026-12-24-rescreen-9 began at 2026-12-24T02:00:00.000Z, which is yet to come');
  expect(finding.reason).toContain('2 customers of retail screened at what is yet to come, up to 2026-12-24T02:00');
  expect(finding.actions.at(-1)).toContain('nightscreen screen --all --roster retail');
  expect(finding.isKnown).toBe(false);
});

it('is told again when another roster is hit, and not because there is more of the same', () => {
  const markOf = (facts: Parameters<typeof judgeAhead>[0]) => judgeAhead(facts)[0]?.mark;
  const once = markOf({ starts: [start], screened: [screened] });
  expect(markOf({ starts: [{ ...start, name: 'another' }], screened: [{ ...screened, customers: 40 }] })).toBe(once);
  expect(markOf({ starts: [start], screened: [screened, { ...screened, roster: 'core' }] })).not.toBe(once);
});
