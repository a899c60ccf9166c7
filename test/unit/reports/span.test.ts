import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderNotScreenedCsv } from '../../../src/reports/lists.js';
import { maskReport } from '../../../src/reports/mask-report.js';
import { toReport } from '../../../src/reports/report.js';
import type { RunFacts, SpanRunFacts } from '../../../src/reports/run-facts.js';
import { renderJson } from '../../../src/reports/to-report-json.js';
import { joinChunks } from '../../helpers/report-files.js';
import {
  buildControl,
  buildCounts,
  buildNotScreened,
  buildParty,
  buildRedFacts,
  buildRunFacts,
} from '../../helpers/run-facts.js';

const hourMs = 3_600_000;
const begin = Date.UTC(2026, 2, 1, 2);

/** A run of a span, `hours` after the first. */
function buildSpanRun(hours: number, changes: Partial<SpanRunFacts> = {}): SpanRunFacts {
  const { counts, states, watch } = buildRunFacts();
  const startedAt = new Date(begin + hours * hourMs);
  return {
    runId: `run-${hours}`,
    kind: 'rescreen',
    state: 'complete',
    reasons: [],
    held: [],
    wantsAll: true,
    startedAt,
    finishedAt: new Date(startedAt.getTime() + hourMs),
    counts,
    states,
    controls: [buildControl()],
    watch,
    changes: 0,
    baseline: 0,
    ...changes,
  };
}

const at = (hours: number): Date => new Date(begin + hours * hourMs);
const report = (
  runs: readonly SpanRunFacts[],
  hours: number,
  { restores = [], ...facts }: Partial<RunFacts> & Partial<Pick<NonNullable<RunFacts['span']>, 'restores'>> = {},
) => toReport(buildRunFacts({ ...facts, span: { from: at(0), until: at(hours), asOf: null, runs, restores } }));

describe('the report of a span', () => {
  it('of nights that are all complete is complete, whatever the clock does between them', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 20 }), (shifts) => {
        const runs = shifts.map((shift, index) => buildSpanRun(index * 24 + 3 + shift));
        expect(report(runs, shifts.length * 24)).toMatchObject({
          run: { state: 'complete' },
          verdict: { level: 'complete' },
          span: { gaps: [] },
        });
      }),
    );
  });

  it('is never complete when any of its runs is not, or a night is missing', () => {
    const answersHeld = { kind: 'answers', accepted: [] } as const;
    const accepted = [{ isProposal: false, acceptedBy: 'ada', isAttested: false, reason: 'true', acceptedAt: at(30) }];
    const reasons = ['the roster is held (shrink).', 'and more'];
    const troubles: readonly (Partial<SpanRunFacts> & { said: string })[] = [
      { state: 'stopped', said: 'run not finished' },
      { state: 'running', finishedAt: null, counts: null, states: null, said: 'run not finished' },
      { state: 'abandoned', counts: null, states: null, said: 'run not finished' },
      { state: 'unbalanced', said: 'sums do not hold' },
      { state: 'refused', counts: null, states: null, said: 'run refused' },
      {
        state: 'incomplete',
        controls: [buildControl({ verdict: 'failed', found: 'nothing' })],
        said: 'control search failed',
      },
      { state: 'incomplete', held: [answersHeld], reasons, said: 'answers held' },
      { state: 'incomplete', held: [{ ...answersHeld, accepted }], reasons, said: 'the roster is held (shrink)' },
      {
        state: 'incomplete',
        reasons: ['82 of 100 customers are newly open'],
        said: '82 of 100 customers are newly open',
      },
      { state: 'incomplete', said: 'finished with problems' },
    ];
    for (const { said, ...trouble } of troubles) {
      const { run, verdict } = report([buildSpanRun(0), buildSpanRun(24, trouble), buildSpanRun(26)], 48);
      expect(verdict).toMatchObject({ level: 'partial', short: '1 of 3 runs not complete' });
      expect(verdict.remarks[0]).toBe(`Run run-24 of 2026-03-02: ${said}.`);
      expect(verdict.coverage).toContain('1 of 3 runs not complete. After 3 runs: ');
      expect(run.state).toBe('incomplete');
    }
    const missing = report([buildSpanRun(0), buildSpanRun(72), buildSpanRun(96)], 192);
    expect(missing.span?.gaps.map(({ missed }) => missed)).toEqual([2, 3]);
    expect(missing.verdict).toMatchObject({ level: 'partial', short: '5 screenings missing' });
  });

  it('is never complete when the database was restored', () => {
    const restores = [{ restoredAt: at(30), backupAt: at(20), lostRuns: [] }];
    const { run, verdict, span } = report([buildSpanRun(0), buildSpanRun(24)], 48, { restores });
    expect(verdict).toMatchObject({ level: 'partial', short: 'database restored' });
    expect(verdict.remarks[0]).toBe(
      'The database was restored on 2026-03-02 08:00 from a backup of 2026-03-01 22:00. ' +
        'All runs, dispositions and acceptances in between are missing. Ask the reviewers to repeat what they decided in between.',
    );
    expect(run.state).toBe('incomplete');
    expect(span?.restores).toEqual(restores);
  });

  it('tells of a first and of a last night that are missing, at whatever hour nights begin', () => {
    for (const hour of [1, 2, 11, 13, 20, 23]) {
      const nights = [0, 1, 2, 3].map((night) => buildSpanRun(night * 24 + hour));
      expect(report(nights, 96).span?.gaps).toEqual([]);
      expect(report(nights.slice(1), 96).span?.gaps.map(({ missed }) => missed)).toEqual([1]);
      expect(report(nights.slice(0, 3), 96).span?.gaps.map(({ missed }) => missed)).toEqual([1]);
      expect(report(nights.slice(0, 2), 96).span?.gaps.map(({ missed }) => missed)).toEqual([2]);
    }
  });

  it('takes no screening of some customers alone for a night', () => {
    const counts = buildCounts({ planned: 1, screened: 1, reused: 0, skipped: 499 });
    for (const kind of ['onboard', 'screen'] as const) {
      const ofSome = buildSpanRun(26, { kind, wantsAll: false, counts });
      expect(report([buildSpanRun(2), ofSome, buildSpanRun(50)], 72).verdict.short).toBe('1 screening missing');
    }
    const ofAll = buildSpanRun(26, {
      kind: 'onboard',
      wantsAll: false,
      counts: buildCounts({ planned: 500, screened: 490, skipped: 0 }),
    });
    expect(report([buildSpanRun(2), ofAll, buildSpanRun(50)], 72).span?.gaps).toEqual([]);
  });

  it('that reaches to the present tells which nights are missing since its last one, and takes a late one for none', () => {
    const reachTo = (hours: number, runs = [buildSpanRun(0), buildSpanRun(24)]) =>
      toReport(buildRunFacts({ span: { from: at(0), until: at(25), asOf: at(hours), runs, restores: [] } }));
    for (const hours of [26, 48, 60]) {
      expect(reachTo(hours)).toMatchObject({ run: { state: 'complete' }, span: { gaps: [], until: at(25) } });
    }
    const missed = reachTo(24 * 7 + 1);
    expect(missed.span).toMatchObject({ gaps: [{ from: at(24), until: at(169), missed: 5 }], until: at(169) });
    expect(missed).toMatchObject({
      run: { state: 'incomplete' },
      verdict: { level: 'partial', short: '5 screenings missing' },
    });
    expect(missed.verdict.remarks[0]).toContain('No customer was screened between 2026-03-02');
    const ofNew = buildSpanRun(48, {
      wantsAll: false,
      counts: buildCounts({ planned: 1, screened: 1, reused: 0, skipped: 499 }),
    });
    expect(reachTo(73, [buildSpanRun(0), ofNew]).verdict.short).toBe('2 screenings missing');
  });

  it('is red when its last run is, and shows the control searches of all', () => {
    const red = buildRedFacts();
    const runs = [buildSpanRun(0), buildSpanRun(24, { state: red.state, controls: red.controls })];
    const { verdict, controls } = report(runs, 48, red);
    expect(verdict).toMatchObject({ level: 'red', short: 'control search failed' });
    expect(controls?.map(({ verdict: each, rounds }) => [each, rounds.length])).toEqual([
      ['failed', 2],
      ['passed', 1],
    ]);
  });

  it('is refused when the sums of any of its runs do not hold, or its changes are not those that were found', () => {
    const wrong = buildSpanRun(0, { counts: buildCounts({ planned: 481 }) });
    expect(() => report([wrong, buildSpanRun(24)], 48)).toThrow('in scope of run-0 500 is not planned 481');
    expect(() => report([buildSpanRun(0, { changes: 1 })], 24)).toThrow('changes of run-0 0 is not changes found 1');
  });

  it('of customers screened weekly misses no nights', () => {
    const cadence = { hours: { high: 168, medium: 168, low: 720 }, reason: 'agreed' };
    expect(report([buildSpanRun(0), buildSpanRun(168)], 240, { cadence }).span?.gaps).toEqual([]);
  });
});

describe('a list too long to hold', () => {
  const lines = Array.from({ length: 2_500 }, (_, index) =>
    buildNotScreened({ party: buildParty({ reference: `C-${index}` }), outcome: 'remaining', reason: 'remaining' }),
  );
  const counts = buildCounts({ screened: 0, reused: 0, planned: 2_500, skipped: 0, remaining: 2_500, inScope: 2_500 });
  const facts = (written: number): RunFacts => ({
    ...buildRunFacts({ state: 'stopped', counts, skippedBecause: {}, notScreened: lines.slice(0, 200) }),
    states: { ...noStates, not_screened: 2_500 },
    cut: {
      baseline: null,
      changes: null,
      notScreened: {
        lines: 2_500,
        customers: { failed: 0, remaining: 2_500, skipped: 0 },
        read: async function* () {
          for (let start = 0; start < written; start += 1_000)
            yield lines.slice(start, Math.min(start + 1_000, written));
        },
      },
    },
  });
  const noStates = {
    clear: 0,
    below_threshold: 0,
    false_positive: 0,
    truncated: 0,
    not_screened: 0,
    open_alert: 0,
    true_match: 0,
  };

  it('is whole in the files', async () => {
    const whole = toReport(facts(2_500));
    expect((await joinChunks(renderNotScreenedCsv(whole))).trimEnd().split('\r\n')).toHaveLength(2_501);
    const document: unknown = JSON.parse(await joinChunks(renderJson(whole)));
    expect(document).toMatchObject({ notScreened: { length: 2_500 } });
  });

  it('is masked as it is written where the report is', async () => {
    const masked = maskReport(toReport(facts(2_500)));
    expect(await joinChunks(renderNotScreenedCsv(masked))).not.toContain('Haddad');
    expect(await joinChunks(renderJson(masked))).not.toContain('Haddad');
  });

  it('is refused when what is written is not what was counted', async () => {
    const short = toReport(facts(2_400));
    const message = 'not screened: 2400 lines were written and 2500 counted';
    await expect(joinChunks(renderNotScreenedCsv(short))).rejects.toThrow(message);
    await expect(joinChunks(renderJson(short))).rejects.toThrow(message);
  });
});
