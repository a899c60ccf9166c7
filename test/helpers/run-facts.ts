import type { DossierSnapshot } from '../../src/dossiers/dossier.js';
import type { Match } from '../../src/matches/match.js';
import type {
  DossierChangeFacts,
  MatchChangeFacts,
  NotScreenedFacts,
  PartyFacts,
  RunCounts,
  RunFacts,
} from '../../src/reports/run-facts.js';

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
    party: buildParty(),
    kind: 'match_added',
    severity: 'critical',
    rule: 'sanction_hit_gained',
    cause: 'service_data',
    matchId: 'm-77',
    fields: [],
    before: null,
    after: buildMatch(),
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
    settingsDigest: '6e1f0c5f3a0e4a6f9a2b7d6d0c1e8f4b5a697887766554433221100ffeeddccb',
    keyFingerprint: '3f9c2a7e51d0',
    comparedWith: { runId: 'run-20261120-0200-11c9', finishedAt: new Date('2026-11-20T02:05:01Z') },
    rosterSource: {
      source: 'rosters/retail-2026-11-21.csv',
      digest: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
      importedAt: new Date('2026-11-21T02:00:04Z'),
      absent: 3,
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
    changes: [],
    sweeps: [],
    dossierChanges: [],
    notScreened: [],
    rejects: [],
    canaries: [
      { type: 'person', name: 'Ivan Testov', expect: 'match', verdict: 'passed', found: null },
      { type: 'person', name: 'Zzyzx Nobody', expect: 'none', verdict: 'passed', found: null },
    ],
    possiblyBilledTwice: 0,
    attemptsByOutcome: { ok: 472, '503': 3 },
    ...changes,
  };
}

/** An eventful night: every severity, many scripts, hostile and very long names, failures, rejects, dossiers. */
export function buildEventfulFacts(): RunFacts {
  const changes = listChanges().map((change) => ({
    ...change,
    matchId: (change.after ?? change.before)?.id ?? change.matchId,
  }));
  const notScreened = [
    buildNotScreened({ party: buildParty({ reference: 'C-2001', name: '张伟 (Zhang Wei)', countries: ['cn'] }) }),
    buildNotScreened({
      party: buildParty({ reference: 'C-2002', name: 'محمد عبد الرحمن الأحمد', countries: ['sy'] }),
      reason: 'timeout',
      lastScreenedAt: new Date('2026-11-20T02:01:40Z'),
    }),
  ];
  return buildRunFacts({
    state: 'incomplete',
    stateReasons: ['2 customers failed after all repeats'],
    mode: 'test',
    counts: buildCounts({
      rows: 511,
      rejected: 6,
      duplicates: 5,
      screened: 466,
      reused: 12,
      failed: 2,
      changes: changes.length,
    }),
    states: {
      clear: 440,
      below_threshold: 41,
      settled_false_positive: 4,
      incompletely_seen: 1,
      not_screened: 2,
      open_hit: 11,
      confirmed: 1,
    },
    failedBecause: { service_unavailable: 1, timeout: 1 },
    baseline: { critical: 2, high: 5, medium: 1, low: 14, info: 0 },
    changes,
    notScreened,
    rejects: listRejects(),
    sweeps: [
      {
        runId: 'run-20261121-0230-91aa',
        startedAt: new Date('2026-11-21T02:30:00Z'),
        finishedAt: new Date('2026-11-21T02:30:44Z'),
        pages: 13,
        dossiers: 1204,
        proven: true,
        unprovenBecause: null,
      },
    ],
    dossierChanges: listDossierChanges(),
    possiblyBilledTwice: 2,
    attemptsByOutcome: { ok: 466, '503': 21, timeout: 3, connection: 1 },
  });
}

function listChanges(): readonly MatchChangeFacts[] {
  const longName = `Sociedade Anónima de Importação e Exportação ${'Transatlântica Internacional '.repeat(6)}Lda.`;
  const yusuf = buildMatch({
    id: 'm-81',
    name: 'يوسف بن علي الحسيني',
    topics: ['role.pep'],
    score: 0.88,
    birthDates: [],
  });
  const avraham = buildMatch({ id: 'm-82', name: 'אברהם בן־דוד', topics: ['role.rca'], isHit: false, score: 0.69 });
  const oleg = buildMatch({ id: 'm-83', name: 'Олег Сергеевич Кузнецов', topics: ['sanction'], birthDates: ['1968'] });
  return [
    buildChange({ changeId: 11 }),
    buildChange({
      changeId: 12,
      kind: 'match_changed',
      party: buildParty({
        reference: 'C-1044',
        name: 'Yusuf Ali al-Husseini / يوسف الحسيني',
        countries: ['iq'],
        riskTier: 'high',
      }),
      fields: ['birth_date', 'country', 'score', 'topics'],
      before: yusuf,
      after: {
        ...yusuf,
        topics: ['role.pep', 'sanction'],
        score: 0.94,
        birthDates: ['1959-07-01', '1960'],
        countries: ['iq', 'ir'],
      },
    }),
    buildChange({
      changeId: 13,
      severity: 'high',
      rule: 'sanction_below_threshold',
      party: buildParty({
        reference: 'C-0007',
        name: longName,
        type: 'entity',
        birthDate: null,
        countries: ['ao', 'pt'],
        riskTier: null,
      }),
      after: buildMatch({
        id: 'm-90',
        name: longName.toUpperCase(),
        schema: 'Company',
        isHit: false,
        score: 0.71,
        topics: ['sanction.linked', 'corp.disqual'],
        birthDates: [],
        countries: [],
      }),
    }),
    buildChange({
      changeId: 14,
      kind: 'hit_gained',
      severity: 'high',
      rule: 'crime_hit_gained',
      party: buildParty({
        reference: '=HYPERLINK("http://evil.example","C-1")',
        name: "<script>alert('x')</script>",
        role: 'director',
      }),
      fields: ['match', 'score', 'topics'],
      before: avraham,
      after: { ...avraham, isHit: true, score: 0.91, topics: ['crime.fin', 'role.rca'] },
    }),
    buildChange({
      changeId: 15,
      kind: 'match_removed',
      severity: 'medium',
      rule: 'delisted',
      party: buildParty({
        reference: 'C-1310',
        name: 'Oleg Kuznetsov',
        birthDate: '1968-05-30',
        countries: ['ru'],
        riskTier: 'low',
      }),
      before: oleg,
      after: null,
    }),
    buildChange({
      changeId: 16,
      kind: 'match_changed',
      severity: 'low',
      rule: 'other_change',
      party: buildParty({ reference: 'C-1500', name: '王秀英', countries: ['cn'] }),
      fields: ['score'],
      before: buildMatch({ id: 'm-95', name: '王秀英', score: 0.74, rank: 2, isHit: false, topics: ['poi'] }),
      after: buildMatch({ id: 'm-95', name: '王秀英', score: 0.79, rank: 1, isHit: false, topics: ['poi'] }),
    }),
    buildChange({
      changeId: 17,
      kind: 'match_not_returned',
      severity: 'low',
      rule: 'other_change',
      party: buildParty({ reference: 'C-1501', name: 'Maria Silva', countries: ['br'] }),
      before: buildMatch({ id: 'm-96', name: 'Maria da SILVA', score: 0.61, rank: 50, isHit: false, topics: [] }),
      after: null,
    }),
    buildChange({
      changeId: 18,
      kind: 'match_rekeyed',
      severity: 'info',
      rule: 'rekeyed',
      party: buildParty({ reference: 'C-1502', name: 'דוד לוי', countries: ['il'] }),
      before: buildMatch({ id: 'm-97', name: 'David LEVI', isHit: false }),
      after: buildMatch({ id: 'm-98', name: 'David LEVI', isHit: false }),
    }),
  ];
}

function listDossierChanges(): readonly DossierChangeFacts[] {
  const approved = buildDossier();
  return [
    {
      changeId: 31,
      kind: 'dossier_appeared',
      dossierId: 'dossier_Zq9',
      customerKnown: false,
      fields: [],
      before: null,
      after: buildDossier({ id: 'dossier_Zq9', status: 'draft', name: 'Łukasz Żółć', reference: 'X-9' }),
    },
    {
      changeId: 32,
      kind: 'dossier_status_changed',
      dossierId: approved.id,
      customerKnown: true,
      fields: ['risk_score', 'status'],
      before: approved,
      after: { ...approved, status: 'needs_attention', riskScore: 65 },
    },
  ];
}

function listRejects(): RunFacts['rejects'] {
  const fields = { customer_id: 'C-3001', type: 'person', name: '', birth_date: '1980-02-30', countries: 'DK' };
  return [
    { line: 12, column: 'name', reason: 'missing_name', reference: 'C-3001', fields },
    {
      line: 40,
      column: 'birth_date',
      reason: 'invalid_birth_date',
      reference: 'C-3002',
      fields: { ...fields, customer_id: 'C-3002', name: 'Åse Ødegård' },
    },
    {
      line: 41,
      column: null,
      reason: 'conflicting_id',
      reference: 'C-3003',
      fields: { ...fields, customer_id: 'C-3003', name: '=cmd|calc' },
    },
    {
      line: 44,
      column: null,
      reason: 'conflicting_id',
      reference: 'C-3003',
      fields: { ...fields, customer_id: 'C-3003', name: '\t@SUM(A1)' },
    },
    {
      line: 97,
      column: 'customer_id',
      reason: 'missing_id',
      reference: null,
      fields: { ...fields, customer_id: '', name: 'Nobody' },
    },
    {
      line: 210,
      column: 'countries',
      reason: 'unknown_country',
      reference: 'C-3010',
      fields: { ...fields, customer_id: 'C-3010', name: 'J. Doe', countries: 'Atlantis' },
    },
  ];
}

/** A night whose control search found nothing: the run is red. */
export function buildRedFacts(): RunFacts {
  return buildRunFacts({
    state: 'incomplete',
    stateReasons: ['a control search for a listed party gave no hit'],
    canaries: [
      {
        type: 'person',
        name: 'Ivan Testov',
        expect: 'match',
        verdict: 'failed',
        found: 'no hit among 0 results for a listed party',
      },
      { type: 'person', name: 'Zzyzx Nobody', expect: 'none', verdict: 'passed', found: null },
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
        pages: 13,
        dossiers: 1204,
        proven: false,
        unprovenBecause: 'the total moved from 1,204 to 1,206 while walking',
      },
    ],
    attemptsByOutcome: { ok: 13 },
  });
}
