import { expect, it } from 'vitest';
import { toOpening } from '../../../src/mail/report-message.js';
import { describeRosterAcceptance, showAccepted } from '../../../src/reports/html-opening.js';
import { describeDrift, describeNotices } from '../../../src/reports/reasons.js';
import { toReport } from '../../../src/reports/report.js';
import { buildRunFacts } from '../../helpers/run-facts.js';

const who = {
  acceptedBy: 'A. Meyer',
  isAttested: true,
  reason: 'agreed <on> 12 March',
  acceptedAt: new Date('2026-11-20T10:00:00Z'),
};

it('a change of settings is the first thing that page and mail say, with who, when and why', async () => {
  const differences = ['changes.scoreStep was 0.02 and is 0.05'];
  const report = toReport(buildRunFacts({ settingsChanges: [{ ...who, differences, proposedBy: null }] }));
  const page = String(await showAccepted(report));
  expect(page).toContain('changes.scoreStep was 0.02 and is 0.05');
  expect(page).toContain('accepted by A. Meyer (attested) on');
  expect(page).toContain('agreed &lt;on&gt; 12 March');
  expect(toOpening(report)[0]).toMatch(
    /^Settings changed since the last report: changes\.scoreStep was 0\.02 and is 0\.05/,
  );
  expect(String(await showAccepted(toReport(buildRunFacts()))).trim()).toBe('');
});

it('an overridden guard is told with who, why and both figures', () => {
  const heldBy = [
    { guard: 'shrink_night', message: '4 of 100 customers of the last snapshot are missing: 4 % (at most 1 %)' },
  ];
  expect(describeRosterAcceptance({ ...who, isAttested: false, heldBy, changes: [] }, 'UTC')).toMatch(
    /accepted by A\. Meyer on .*: agreed <on> 12 March\. Findings: 4 of 100 .* \[guard shrink_night\]/,
  );
});

it('an unusual volume is told as drift either way, a usual one or one of too few runs is not', () => {
  const watch = (verdict: 'low' | 'high' | 'usual' | 'unknown') => ({
    rates: null,
    listCap: null,
    volume: { perThousand: 42, usual: 3, formerRuns: 9, verdict },
  });
  expect(describeNotices(watch('high'))).toEqual([
    "42.0 changes of the service's data per 1,000 searches, usually 3 (median of 9 runs), more than twice as many: its lists, ids or scores may have drifted",
  ]);
  expect(describeDrift(watch('low'))).toContain('may no longer update its lists');
  expect([describeDrift(watch('usual')), describeDrift(watch('unknown')), describeDrift(null)]).toEqual([
    null,
    null,
    null,
  ]);
});
