import { describe, expect, it } from 'vitest';
import { toSubject } from '../../../src/mail/report-message.js';
import { describeRounds, describeWatch } from '../../../src/reports/reasons.js';
import { toReport } from '../../../src/reports/report.js';
import type { RateFacts, RunFacts } from '../../../src/reports/run-facts.js';
import { buildControl, buildCounts, buildRunFacts } from '../../helpers/run-facts.js';

const usual: RateFacts = { perThousand: 20.4, usual: 21, formerRuns: 14, verdict: 'usual' };
const withRates = (matches: Partial<RateFacts>, facts: Partial<RunFacts> = {}): RunFacts =>
  buildRunFacts({
    watch: { rates: { matches: { ...usual, ...matches }, hits: usual }, listCap: null, volume: null },
    ...facts,
  });
const allClear = /have a valid screening|No match changed|nothing to review/;

describe('a run in which the service cannot be trusted', () => {
  it('gives no all clear when controls failed, also where nobody was due', () => {
    const facts = buildRunFacts({
      state: 'incomplete',
      stateReasons: ['1 of 2 control searches failed'],
      counts: buildCounts({ planned: 0, screened: 0, reused: 0, skipped: 500, searches: 0 }),
      skippedBecause: { not_due: 500 },
      controls: [buildControl({ verdict: 'failed', found: 'no hit' }), buildControl({ name: 'Other' })],
    });
    const report = toReport(facts);
    expect(toSubject(report)).toBe('[RED] control search failed - retail, 2026-11-21');
    expect(JSON.stringify(report.verdict)).not.toMatch(allClear);
    expect(report.verdict.coverage).toBe('Control searches failed: the answers of this run cannot be relied on.');
  });

  it('gives none when it found less than half as much as usual', () => {
    const report = toReport(withRates({ perThousand: 8.25, verdict: 'low' }, { state: 'incomplete' }));
    expect(toSubject(report)).toBe('[RED] far fewer matches than usual - retail, 2026-11-21');
    expect(JSON.stringify(report.verdict)).not.toMatch(allClear);
  });
});

describe('a run in which the service was watched', () => {
  it('tells a rise and a cut as remarks and stays complete', () => {
    const facts = withRates({ perThousand: 50, verdict: 'high' });
    const listCap = { length: 20, standing: 'found', customers: 1 } as const;
    const report = toReport({ ...facts, watch: { rates: facts.watch?.rates ?? null, listCap, volume: null } });
    expect(report.verdict.level).toBe('complete');
    expect(report.verdict.remarks).toEqual([
      '50.0 matches per 1,000 customers screened, usually 21.0 (median of 14 runs), more than twice as many.',
      'Lists of 20 results seem to be truncated silently: 1 customer has one and, without a hit, counts as truncated.',
    ]);
  });

  it('says both figures and what is not judged', () => {
    const rates = {
      matches: usual,
      hits: { perThousand: 0.1234, usual: null, formerRuns: 0, verdict: 'unknown' },
    } as const;
    expect(describeWatch({ rates, listCap: { length: 20, standing: 'gone', customers: 2 }, volume: null })).toEqual([
      '20.4 matches per 1,000 customers screened, usually 21.0 (median of 14 runs): as usual',
      '0.123 hits per 1,000 customers screened; there is no former run to compare with',
      'lists of 20 results count as complete again, because longer lists were seen or shorter ones seem truncated: 2 customers have one',
    ]);
  });

  it('counts the rounds of a control, those that failed by their number', () => {
    const [round] = buildControl().rounds;
    if (!round) throw new Error('no round');
    expect(describeRounds({ rounds: [round, { ...round, round: 2 }] })).toBe('2 passed');
    const failed = { ...round, round: 2, searches: 10_000, verdict: 'failed' } as const;
    expect(describeRounds({ rounds: [round, failed, { ...round, round: 3 }] })).toBe(
      'round 2 failed (after 10,000 searches)',
    );
  });
});
