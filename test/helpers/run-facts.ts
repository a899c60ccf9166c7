import type { DossierSnapshot } from '../../src/dossiers/dossier.js';
import type { Match } from '../../src/matches/match.js';
import type {
  CanaryFacts,
  MatchChangeFacts,
  NotScreenedFacts,
  PartyFacts,
  RunCounts,
} from '../../src/reports/list-facts.js';
import type { RunFacts } from '../../src/reports/run-facts.js';

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
    item: null,
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
export function buildCanary(changes: Partial<CanaryFacts> = {}): CanaryFacts {
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
    cadence: { hours: { high: 24, medium: 24, low: 24 }, reason: null },
    settingsChanges: [],
    rosterAcceptances: [],
    held: [],
    settingsDigest: '6e1f0c5f3a0e4a6f9a2b7d6d0c1e8f4b5a697887766554433221100ffeeddccb',
    keyFingerprint: '3f9c2a7e51d0',
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
      doubts: [],
    },
    counts: buildCounts(),
    states: {
      clear: 443,
      below_threshold: 41,
      settled_false_positive: 4,
      incompletely_seen: 1,
      not_screened: 0,
      open_hit: 10,
      confirmed: 1,
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
    canaries: [buildCanary(), buildCanary({ name: 'Zzyzx Nobody', expect: 'none' })],
    openItems: null,
    details: { counts: null, lookups: [] },
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
    canaries: [
      buildCanary({ verdict: 'failed', found: 'no hit among 0 results for a listed party' }),
      buildCanary({ name: 'Zzyzx Nobody', expect: 'none' }),
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
    canaries: [],
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
