import { describe, expect, it } from 'vitest';
import { ReportError } from '../../../src/errors.js';
import { toReport } from '../../../src/reports/report.js';
import type { RunFacts } from '../../../src/reports/run-facts.js';
import { buildEventfulFacts } from '../../helpers/eventful-run-facts.js';
import {
  buildChange,
  buildCounts,
  buildNotScreened,
  buildParty,
  buildRedFacts,
  buildRunFacts,
  buildSweepFacts,
} from '../../helpers/run-facts.js';

function refusalOf(facts: RunFacts): string {
  try {
    toReport(facts);
  } catch (error) {
    if (error instanceof ReportError && error.code === 'unbalanced') return error.message;
    throw error;
  }
  return 'accepted';
}

describe('a report whose sums do not hold is refused, with both figures', () => {
  const quiet = buildRunFacts();
  const cases: readonly [string, Partial<RunFacts>, string][] = [
    ['rows', { counts: buildCounts({ rows: 501 }) }, 'rows 501 is not customers 500 + rejected 0 + duplicates 0 (500)'],
    [
      'scope',
      { counts: buildCounts({ planned: 480, inScope: 499 }) },
      'in scope 499 is not planned 480 + skipped 20 (500)',
    ],
    [
      'planned',
      { counts: buildCounts({ screened: 469 }) },
      'planned 480 is not screened 469 + reused 10 + failed 0 + remaining 0 (479)',
    ],
    ['skips by reason', { skippedBecause: {} }, 'skipped 20 is not skips by reason 0'],
    ['failures by reason', { failedBecause: { timeout: 1 } }, 'failed 0 is not failures by reason 1'],
    ['rejected rows', { rejects: buildEventfulFacts().rejects }, 'rejected 0 is not rejected rows listed 6'],
    ['changes', { changes: [buildChange()] }, 'changes listed 1 is not changes of the run 0'],
    [
      'first screenings',
      { baselineChanges: [buildChange()] },
      'matches of first screenings listed 1 is not matches of first screenings of the run 0',
    ],
    ['failed customers', { notScreened: [buildNotScreened()] }, 'failed 0 is not customers listed as failed 1'],
    ['fractions', { counts: buildCounts({ rows: 500.5, duplicates: 0.5 }) }, 'rows 500.5 is not'],
    ['negative figures', { counts: buildCounts({ screened: 490, reused: -10 }) }, 'reused -10'],
  ];
  it.each(cases)('%s', (_name, changes, message) => {
    expect(refusalOf({ ...quiet, ...changes })).toContain(message);
  });

  it('names every sum that fails, not only the first', () => {
    const message = refusalOf({ ...quiet, counts: buildCounts({ rows: 1, inScope: 2 }) });
    expect(message).toContain('rows 1 is not');
    expect(message).toContain('in scope 2 is not planned');
    expect(message).toContain('in scope 2 is not clear 443 + ');
  });

  it('a customer in state not_screened must be listed as such', () => {
    const states = {
      clear: 442,
      below_threshold: 41,
      false_positive: 4,
      truncated: 1,
      not_screened: 1,
      open_alert: 10,
      true_match: 1,
    };
    expect(refusalOf({ ...quiet, state: 'incomplete', states })).toContain(
      'customers in state not_screened 1 is not customers listed as not screened 0',
    );
  });

  it('a customer with several unscreened parties counts once', () => {
    const notScreened = [
      buildNotScreened(),
      buildNotScreened({ party: buildParty({ role: 'director', name: 'Someone Else' }), reason: 'timeout' }),
      buildNotScreened({ party: buildParty({ role: 'alias' }), outcome: 'remaining', reason: 'budget' }),
    ];
    const counts = buildCounts({ screened: 469, failed: 1 });
    expect(refusalOf({ ...quiet, state: 'incomplete', counts, failedBecause: { timeout: 1 }, notScreened })).toBe(
      'accepted',
    );
  });

  it('a run with a failed control or a failed customer cannot call itself complete', () => {
    expect(refusalOf({ ...buildRedFacts(), state: 'complete' })).toContain(
      'failed control searches 1 is not allowed in a complete run 0',
    );
    expect(refusalOf({ ...buildEventfulFacts(), state: 'complete' })).toContain(
      'failed 2 is not allowed in a complete run 0',
    );
  });
});

describe('the report', () => {
  it('puts changes in order of severity, then of reference', () => {
    const groups = toReport(buildEventfulFacts()).changes ?? [];
    expect(groups.map((group) => group.severity)).toEqual(['critical', 'high', 'medium', 'low', 'info']);
    expect(groups[0]?.changes.map((change) => change.party.reference)).toEqual(['C-1001', 'C-1044']);
  });

  it('does not depend on the order in which the facts are read', () => {
    const facts = buildEventfulFacts();
    const reversed: RunFacts = {
      ...facts,
      changes: facts.changes.toReversed(),
      dossierChanges: facts.dossierChanges.toReversed(),
      rejects: facts.rejects.toReversed(),
      attemptsByOutcome: Object.fromEntries(Object.entries(facts.attemptsByOutcome).toReversed()),
    };
    expect(toReport(reversed)).toEqual(toReport(facts));
  });

  it.each([
    ['a quiet night', buildRunFacts(), 'complete', 'nothing to review'],
    ['an eventful night with two failures', buildEventfulFacts(), 'partial', '2 not screened'],
    ['a failed control', buildRedFacts(), 'red', 'control search failed'],
    ['an unproven sweep', buildSweepFacts(), 'partial', 'sweep unproven'],
    ['sums that did not hold', buildRunFacts({ state: 'unbalanced' }), 'red', 'sums do not hold'],
    ['a stopped run', buildRunFacts({ state: 'stopped' }), 'partial', 'run not finished'],
  ] as const)('%s gets its verdict', (_name, facts, level, short) => {
    expect(toReport(facts).verdict).toMatchObject({ level, short });
  });

  it('leaves out the parts that a sweep does not have', () => {
    expect(toReport(buildSweepFacts())).toMatchObject({
      coverage: null,
      changes: null,
      notScreened: null,
      rejects: null,
      controls: null,
    });
    expect(toReport(buildRunFacts()).dossiers).toBeNull();
  });
});
