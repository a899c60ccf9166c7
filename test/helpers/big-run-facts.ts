import type { MatchChangeFacts } from '../../src/reports/list-facts.js';
import type { ToReviewFacts } from '../../src/reports/review-list.js';
import type { RunFacts } from '../../src/reports/run-facts.js';
import { severities } from '../../src/vocabulary.js';
import { buildToReview, buildWaitingItem } from './build-to-review.js';
import { buildHistory } from './history-facts.js';
import { buildChange, buildCounts, buildMatch, buildNotScreened, buildParty, buildRunFacts } from './run-facts.js';

const surnames = ['Haddad', 'Кузнецов', '王秀英', 'الحسيني', 'Okonkwo-Ødegård'];

/** A night over 1,000,000 customers with 2,000,000 matches and 20,000 changes or more, of which so many are new hits for sanctions, and 3,000 failures. */
export function buildBigFacts(sanctionHits: number): RunFacts {
  const customers = 1_000_000;
  const failed = 3_000;
  const changes = Array.from({ length: Math.max(20_000, sanctionHits) }, (_, index) =>
    buildNth(index, index < sanctionHits),
  );
  const counts = { rows: customers, customers, inScope: customers, planned: customers, skipped: 0, reused: 0 };
  const calls = { searches: customers, attempts: customers, matches: 2_000_000, hits: 31_000 };
  return buildRunFacts({
    ...buildHistory(),
    state: 'incomplete',
    stateReasons: ['3,000 customers failed after all repeats'],
    counts: buildCounts({ ...counts, ...calls, screened: customers - failed, failed, changes: changes.length }),
    states: {
      clear: customers - failed - 31_000,
      below_threshold: 0,
      settled_false_positive: 0,
      incompletely_seen: 0,
      not_screened: failed,
      open_hit: 31_000,
      confirmed: 0,
    },
    failedBecause: { timeout: failed },
    skippedBecause: {},
    notScreened: Array.from({ length: failed }, (_, index) =>
      buildNotScreened({ reason: 'timeout', party: buildParty({ reference: `N-${index}` }) }),
    ),
    changes,
  });
}

/** A night with so many changes, of every severity in turn, none of which is told with others, and the alerts that the first of them have opened. */
export function buildManyChanges(count: number, alerts: number): { facts: RunFacts; toReview: ToReviewFacts } {
  const kinds = ['match_added', 'match_changed', 'match_removed'] as const;
  const changes = Array.from({ length: count }, (_, index): MatchChangeFacts => {
    const kind = kinds[index % kinds.length] ?? 'match_added';
    const severity = severities[index % severities.length] ?? 'low';
    const change = buildNth(index, true);
    const before = change.after && { ...change.after, topics: ['role.pep'], score: 0.8 };
    return {
      ...{ ...change, kind, severity },
      before: kind === 'match_added' ? null : before,
      after: kind === 'match_removed' ? null : change.after,
      fields: kind === 'match_changed' ? ['score', 'topics'] : [],
    };
  });
  const waiting = changes.filter(({ after, severity }) => after !== null && severity !== 'info').slice(0, alerts);
  const items = waiting.map(({ party, after, severity }, index) =>
    buildWaitingItem({ mark: `N${index}XYZ-ABCDEFGHJK-0`, party, severity, listed: after ?? buildMatch() }),
  );
  const tally = { waiting: items.length, overdue: 0 };
  const facts = buildRunFacts({
    ...{ ...buildHistory(), changes, counts: buildCounts({ changes: count }) },
    openItems: {
      ...{ ...tally, customers: items.length, absent: 0, unassigned: items.length, proposed: 0 },
      ...{ oldestAt: new Date('2026-11-20T02:00:00Z'), bySeverity: [{ severity: 'critical', ...tally }], byOwner: [] },
      byAge: { upToOneDay: items.length, upToOneWeek: 0, upToThirtyDays: 0, older: 0 },
    },
  });
  return { facts, toReview: buildToReview(items) };
}

function buildNth(index: number, isSanctionHit: boolean): MatchChangeFacts {
  const name = `${surnames[index % surnames.length] ?? ''} ${index}`;
  const after = buildMatch({
    id: `amla_${index}xXyYzZ0123456789`,
    name,
    isHit: true,
    topics: ['sanction', 'role.pep'],
  });
  return buildChange({
    changeId: index,
    severity: isSanctionHit ? 'critical' : (severities[index % severities.length] ?? 'low'),
    isSanctionHit,
    matchId: after.id,
    party: buildParty({ reference: `C-${1_000_000 + index}`, name }),
    after,
    item: {
      state: 'open',
      openedAt: new Date('2026-11-21T02:04:00Z'),
      dueAt: new Date('2026-11-22T02:04:00Z'),
      owner: null,
      reopenedBecause: [],
      said: [],
      replaced: null,
    },
  });
}
