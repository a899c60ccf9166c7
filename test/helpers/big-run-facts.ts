import { severities } from '../../src/changes/change-event.js';
import type { MatchChangeFacts, RunFacts } from '../../src/reports/run-facts.js';
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
