import type { DossierSnapshot } from '../../src/dossiers/dossier.js';
import type { Match } from '../../src/matches/match.js';
import type {
  ControlFacts,
  HistoryFacts,
  MatchChangeFacts,
  NotScreenedFacts,
  PartyFacts,
  RunCounts,
  RunFacts,
  ToReviewFacts,
  TrendPoint,
  WaitingAlert,
} from '../../src/reports/run-facts.js';
import { severities } from '../../src/vocabulary.js';

/** A party for reports. */
export function buildParty(changes: Partial<PartyFacts> = {}): PartyFacts {
  return {
    reference: 'C-1001',
    role: 'customer',
    type: 'person',
    name: 'Amina Haddad',
    birthDate: '1971-03-09',
    countries: ['lb'],
    riskTier: 'medium',
    ...changes,
  };
}

/** A flagged match for reports. */
export function buildMatch(changes: Partial<Match> = {}): Match {
  return {
    rank: 1,
    id: 'm-77',
    name: 'Amina HADDAD',
    schema: 'Person',
    isHit: true,
    score: 0.97,
    topics: ['role.pep', 'sanction'],
    birthDates: ['1971-03-09'],
    countries: ['lb', 'sy'],
    ...changes,
  };
}

/** A hit of which nothing is known but the name, with these facts in place of its own. */
export const makeMatch = (facts: Partial<Match> = {}): Match => {
  const unknown = { topics: [], birthDates: [], countries: [] };
  return buildMatch({ id: 'amla_one', name: 'Ada Ficticia', score: 0.9, ...unknown, ...facts });
};

/** A match change for reports, by default a new critical hit. */
export function buildChange(changes: Partial<MatchChangeFacts> = {}): MatchChangeFacts {
  return {
    changeId: 1,
    runId: 'run-20261121-0200-7f3a',
    party: buildParty(),
    formerParty: null,
    kind: 'match_added',
    severity: 'critical',
    rule: 'sanction_hit_gained',
    adjustments: [],
    isSanctionHit: false,
    corroboration: { birthDate: 'unknown', country: 'unknown' },
    cause: 'service_data',
    matchId: 'm-77',
    fields: [],
    before: null,
    after: buildMatch(),
    alert: null,
    ...changes,
  };
}

/** A dossier for reports. */
export function buildDossier(changes: Partial<DossierSnapshot> = {}): DossierSnapshot {
  return {
    id: 'dossier_h2Kq81LmZt',
    token: 'K7P2M9QXA',
    type: 'kyc',
    status: 'approved',
    name: 'Amina Haddad',
    reference: 'C-1001',
    riskScore: 20,
    isTest: true,
    downloadStatus: 'not_downloaded',
    documentsCount: 2,
    createdAt: '2026-10-02T08:11:00Z',
    updatedAt: '2026-11-20T09:30:00Z',
    completedAt: '2026-10-03T12:00:00Z',
    ...changes,
  };
}

/** A line about a customer that is not screened. */
export function buildNotScreened(changes: Partial<NotScreenedFacts> = {}): NotScreenedFacts {
  return { party: buildParty(), outcome: 'failed', reason: 'service_unavailable', lastScreenedAt: null, ...changes };
}

/** A control search for reports that passed in its one round, or failed in it. */
export function buildControl(changes: Partial<ControlFacts> = {}): ControlFacts {
  const { verdict = 'passed' } = changes;
  return {
    type: 'person',
    name: 'Ivan Testov',
    expect: 'match',
    label: null,
    topics: [],
    found: null,
    rounds: [{ round: 1, occasion: 'start', searches: 0, askedAt: new Date('2026-11-21T02:00:05Z'), verdict }],
    ...changes,
    verdict,
  };
}

/** The sums of a quiet night over 500 customers; they hold. */
export function buildCounts(changes: Partial<RunCounts> = {}): RunCounts {
  return {
    rows: 500,
    customers: 500,
    rejected: 0,
    duplicates: 0,
    inScope: 500,
    planned: 480,
    screened: 470,
    reused: 10,
    failed: 0,
    skipped: 20,
    remaining: 0,
    searches: 470,
    attempts: 475,
    matches: 61,
    hits: 12,
    changes: 0,
    ...changes,
  };
}

/** The facts of a quiet, complete night in which nothing changed; whatever is given replaces a part of it. */
export function buildRunFacts(changes: Partial<RunFacts> = {}): RunFacts {
  return {
    runId: 'run-20261121-0200-7f3a',
    kind: 'rescreen',
    state: 'complete',
    stateReasons: [],
    organisation: 'default',
    roster: 'retail',
    mode: 'live',
    version: '0.1.0',
    startedAt: new Date('2026-11-21T02:00:03.120Z'),
    finishedAt: new Date('2026-11-21T02:04:15.480Z'),
    timezone: 'UTC',
    cadence: { hours: { high: 24, medium: 24, low: 24 }, reason: null },
    settingsChanges: [],
    rosterAcceptances: [],
    held: [],
    settingsDigest: '6e1f0c5f3a0e4a6f9a2b7d6d0c1e8f4b5a697887766554433221100ffeeddccb',
    keyFingerprint: '3f9c2a7e51d0',
    packs: {
      areWritten: true,
      before: { sequence: 41, sha256: '9b74c9897bac770ffc029102a200c5de5e1a3fdb1f1b3c1a5d6d2b6d1f5e8a07' },
    },
    comparedWith: { runId: 'run-20261120-0200-11c9', finishedAt: new Date('2026-11-20T02:05:01Z') },
    rosterSource: {
      source: 'rosters/retail-2026-11-21.csv',
      digest: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
      importedAt: new Date('2026-11-21T02:00:04Z'),
      isDelta: false,
      joined: 0,
      changed: 2,
      absent: 3,
      leavers: 0,
      returned: 0,
      conflicts: 0,
      partyRows: 0,
      partyRejected: 0,
      otherRoles: 0,
      unreadableIds: 0,
      keptRecords: 0,
      droppedParties: 0,
      overriddenGuards: [],
      reread: [],
      doubts: [],
    },
    rosterChanges: [],
    counts: buildCounts(),
    states: {
      clear: 443,
      below_threshold: 41,
      false_positive: 4,
      truncated: 1,
      not_screened: 0,
      open_alert: 10,
      true_match: 1,
    },
    failedBecause: {},
    skippedBecause: { not_due: 20 },
    baseline: { critical: 0, high: 0, medium: 0, low: 0, info: 0 },
    carriedFrom: [],
    changes: [],
    baselineChanges: [],
    sweeps: [],
    reconciliations: [],
    dossierChanges: [],
    notScreened: [],
    cut: { notScreened: null, baseline: null, changes: null },
    rejects: [],
    doubted: [],
    droppedParties: [],
    controls: [buildControl(), buildControl({ name: 'Zzyzx Nobody', expect: 'none' })],
    openAlerts: null,
    details: { counts: null, records: [] },
    watch: null,
    health: null,
    settled: null,
    trend: [],
    possiblyBilledTwice: 0,
    attemptsByOutcome: { ok: 472, '503': 3 },
    span: null,
    ...changes,
  };
}

/** A night whose control search found nothing: the run is red. */
export function buildRedFacts(): RunFacts {
  return buildRunFacts({
    state: 'incomplete',
    stateReasons: ['a control search for a listed party gave no hit'],
    controls: [
      buildControl({ verdict: 'failed', found: 'no hit among 0 results for a listed party' }),
      buildControl({ name: 'Zzyzx Nobody', expect: 'none' }),
    ],
  });
}

/** A sweep on its own, unproven. */
export function buildSweepFacts(): RunFacts {
  return buildRunFacts({
    kind: 'sweep',
    state: 'incomplete',
    stateReasons: ['the sweep is unproven'],
    roster: null,
    counts: null,
    states: null,
    comparedWith: null,
    rosterSource: null,
    skippedBecause: {},
    controls: [],
    sweeps: [
      {
        runId: 'run-20261121-0200-7f3a',
        startedAt: new Date('2026-11-21T02:00:03Z'),
        finishedAt: new Date('2026-11-21T02:04:15Z'),
        isStart: false,
        pages: 13,
        dossiers: 1204,
        proven: false,
        unprovenBecause: 'the total moved from 1,204 to 1,206 while walking',
      },
    ],
    attemptsByOutcome: { ok: 13 },
  });
}

const openedAt = new Date('2026-11-21T02:10:00Z');

/** An alert that waits, for tests of what shows it. */
export const buildWaitingAlert = (changed: Partial<WaitingAlert> = {}): WaitingAlert => ({
  mark: 'N12345678-ABCDEFGHJK-0',
  sheetId: 7,
  news: null,
  mode: 'live',
  severity: 'high',
  rule: 'pep_hit_gained',
  priority: 500,
  party: buildParty({}),
  listed: buildMatch({}),
  corroboration: { birthDate: 'unknown', country: 'agree' },
  openedAt,
  dueAt: null,
  state: 'open',
  assignedTo: null,
  proposal: null,
  reopenedBecause: [],
  absence: null,
  absentSince: null,
  lastDecision: null,
  replaced: null,
  legacy: null,
  ...changed,
});

/** What waited when a run closed, of these alerts. */
export const buildToReview = (alerts: readonly WaitingAlert[], waiting = alerts.length): ToReviewFacts => ({
  sheetId: 7,
  waiting,
  alerts,
});

/** A run of the past in figures. */
export function buildTrendPoint(changes: Partial<TrendPoint> = {}): TrendPoint {
  return {
    runId: '2026-11-21-rescreen-7',
    finishedAt: new Date('2026-11-21T02:04:15Z'),
    seconds: 252,
    searches: 470,
    notScreened: 0,
    hits: 12,
    changes: 9,
    changesBySeverity: { critical: 1, high: 2, medium: 2, low: 3, info: 1 },
    waiting: 14,
    ...changes,
  };
}

/** How an ordinary night went, after 29 others. */
export function buildHistory(): HistoryFacts {
  const dayMs = 86_400_000;
  const last = new Date('2026-11-21T02:04:15Z').getTime();
  return {
    health: {
      perSecond: 9.4,
      limitPerSecond: 10,
      repeated: 3,
      breaks: { count: 2, seconds: 900, longestSeconds: 800 },
      billable: 475,
      cost: { amount: 47.5, currency: 'EUR' },
    },
    settled: { falsePositive: 40, trueMatch: 1, inconclusive: 2, carried: 38, reopened: 1, expired: 1, gone: 3 },
    trend: Array.from({ length: 30 }, (_, index) => {
      const finishedAt = new Date(last - (29 - index) * dayMs);
      const changes = (index * 7) % 23;
      const serious = Math.floor(changes / 5);
      return buildTrendPoint({
        runId: `${finishedAt.toISOString().slice(0, 10)}-rescreen-${index + 1}`,
        finishedAt,
        seconds: 240 + ((index * 37) % 60),
        searches: 450 + ((index * 13) % 50),
        notScreened: index === 11 ? 310 : index % 9 === 8 ? 4 : 0,
        hits: 10 + (index % 5),
        changes,
        changesBySeverity: { critical: 0, high: serious, medium: changes - serious, low: 0, info: 0 },
        waiting: 8 + ((index * 5) % 17),
      });
    }),
  };
}

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
      false_positive: 0,
      truncated: 0,
      not_screened: failed,
      open_alert: 31_000,
      true_match: 0,
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
export function buildManyChanges(count: number, mostAlerts: number): { facts: RunFacts; toReview: ToReviewFacts } {
  const kinds = ['match_added', 'match_changed', 'match_removed'] as const;
  const changes = Array.from({ length: count }, (_, index): MatchChangeFacts => {
    const kind = kinds[index % kinds.length] ?? 'match_added';
    const severity = severities[index % severities.length] ?? 'low';
    const change = buildNth(index, true);
    const before = change.after && { ...change.after, topics: ['role.pep'], score: 0.8 };
    return {
      ...change,
      kind,
      severity,
      before: kind === 'match_added' ? null : before,
      after: kind === 'match_removed' ? null : change.after,
      fields: kind === 'match_changed' ? ['score', 'topics'] : [],
    };
  });
  const waiting = changes.filter(({ after, severity }) => after !== null && severity !== 'info').slice(0, mostAlerts);
  const alerts = waiting.map(({ party, after, severity }, index) =>
    buildWaitingAlert({
      mark: `N${String(index).padStart(5, '0')}XYZ-ABCDEFGHJK-0`,
      party,
      severity,
      listed: after ?? buildMatch(),
    }),
  );
  const tally = { waiting: alerts.length, overdue: 0 };
  const facts = buildRunFacts({
    ...buildHistory(),
    changes,
    counts: buildCounts({ changes: count }),
    openAlerts: {
      ...tally,
      customers: alerts.length,
      absent: 0,
      unassigned: alerts.length,
      proposed: 0,
      news: { alerts: 0, sanctionHits: 0, expired: 0 },
      oldestAt: new Date('2026-11-20T02:00:00Z'),
      bySeverity: [{ severity: 'critical', ...tally }],
      byAssignee: [],
      byAge: { upToOneDay: alerts.length, upToOneWeek: 0, upToThirtyDays: 0, older: 0 },
    },
  });
  return { facts, toReview: buildToReview(alerts) };
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
    alert: {
      state: 'open',
      openedAt: new Date('2026-11-21T02:04:00Z'),
      dueAt: new Date('2026-11-22T02:04:00Z'),
      assignedTo: null,
      reopenedBecause: [],
      said: [],
      replaced: null,
    },
  });
}
