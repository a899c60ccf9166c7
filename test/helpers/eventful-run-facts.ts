import type { DossierChangeFacts, MatchChangeFacts, RunFacts } from '../../src/reports/run-facts.js';
import {
  buildChange,
  buildCounts,
  buildDossier,
  buildMatch,
  buildNotScreened,
  buildParty,
  buildRunFacts,
} from './run-facts.js';

/** An eventful night: every severity, many scripts, hostile and very long names, failures, rejects, dossiers. */
export function buildEventfulFacts(): RunFacts {
  const changes = listChanges().map((change) => ({
    ...change,
    matchId: (change.after ?? change.before)?.id ?? change.matchId,
  }));
  const { rosterSource } = buildRunFacts();
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
      false_positive: 4,
      truncated: 1,
      not_screened: 2,
      open_alert: 11,
      true_match: 1,
    },
    failedBecause: { service_unavailable: 1, timeout: 1 },
    baseline: { critical: 2, high: 0, medium: 1, low: 0, info: 0 },
    baselineChanges: listBaseline(),
    changes,
    notScreened,
    rejects: listRejects(),
    doubted: listDoubted(),
    rosterSource: rosterSource && { ...rosterSource, doubts: listDoubts() },
    sweeps: [
      {
        runId: 'run-20261121-0230-91aa',
        startedAt: new Date('2026-11-21T02:30:00Z'),
        finishedAt: new Date('2026-11-21T02:30:44Z'),
        isStart: false,
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
  const wang = buildMatch({ id: 'm-95', name: '王秀英', score: 0.74, rank: 2, isHit: false, topics: ['poi'] });
  const levi = buildMatch({ id: 'm-97', name: 'David LEVI', isHit: false });
  const yusufParty = { reference: 'C-1044', name: 'Yusuf Ali al-Husseini / يوسف الحسيني', countries: ['iq'] };
  const longParty = { reference: 'C-0007', name: longName, type: 'entity', birthDate: null, riskTier: null } as const;
  const olegParty = { reference: 'C-1310', name: 'Oleg Kuznetsov', birthDate: '1968-05-30', countries: ['ru'] };
  const hostile = { reference: '=HYPERLINK("http://evil.example","C-1")', name: "<script>alert('x')</script>" };
  return [
    buildChange({ changeId: 11 }),
    buildChange({
      changeId: 12,
      kind: 'match_changed',
      party: buildParty({ ...yusufParty, riskTier: 'high' }),
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
      party: buildParty({ ...longParty, countries: ['ao', 'pt'] }),
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
      party: buildParty({ ...hostile, role: 'director' }),
      fields: ['match', 'score', 'topics'],
      before: avraham,
      after: { ...avraham, isHit: true, score: 0.91, topics: ['crime.fin', 'role.rca'] },
    }),
    buildChange({
      changeId: 15,
      kind: 'match_removed',
      severity: 'medium',
      rule: 'delisted',
      party: buildParty({ ...olegParty, riskTier: 'low' }),
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
      before: wang,
      after: { ...wang, score: 0.79, rank: 1 },
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
      before: levi,
      after: { ...levi, id: 'm-98' },
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
  const reject = (
    line: number,
    column: string | null,
    reason: RunFacts['rejects'][number]['reason'],
    valueClass: string | null,
    changed: Readonly<Record<string, string>>,
  ): RunFacts['rejects'][number] => {
    const row = { customer_id: 'C-3001', type: 'person', name: '', birth_date: '1980-02-30', countries: 'DK' };
    const fields = { ...row, ...changed };
    return { line, file: null, column, reason, valueClass, reference: fields.customer_id || null, fields };
  };
  const date = 'digits and punctuation, 10 characters';
  return [
    reject(12, 'name', 'missing_name', 'empty', {}),
    reject(40, 'birth_date', 'invalid_birth_date', date, { customer_id: 'C-3002', name: 'Åse Ødegård' }),
    reject(41, null, 'conflicting_id', null, { customer_id: 'C-3003', name: '=cmd|calc' }),
    reject(44, null, 'conflicting_id', null, { customer_id: 'C-3003', name: '\t@SUM(A1)' }),
    reject(97, 'customer_id', 'missing_id', 'empty', { customer_id: '', name: 'Nobody' }),
    reject(210, 'countries', 'unknown_country', 'letters, 8 characters', {
      customer_id: 'C-3010',
      name: 'J. Doe',
      countries: 'Atlantis',
    }),
  ];
}

/** Matches of two customers screened for the first time. */
function listBaseline(): readonly MatchChangeFacts[] {
  const newcomer = buildParty({ reference: 'C-9001', name: 'Nikolai Ungebauer' });
  return [
    buildChange({ changeId: 901, party: newcomer, severity: 'critical' }),
    buildChange({ changeId: 902, party: newcomer, severity: 'critical', matchId: 'amla_second' }),
    buildChange({ changeId: 903, party: buildParty({ reference: 'C-9002' }), severity: 'medium' }),
  ];
}

function listDoubts(): NonNullable<RunFacts['rosterSource']>['doubts'] {
  const values = [
    { value: '31.02.1980', why: 'no_such_day', rows: 2 } as const,
    { value: '=1+1 Ødegård', why: 'invalid_birth_date', rows: 1 } as const,
  ];
  return [{ column: 'birth_date', field: 'birthDate', read: 490, doubts: 3, unknown: 0, values }];
}

function listDoubted(): RunFacts['doubted'] {
  const fields = {
    customer_id: 'C-3020',
    type: 'person',
    name: 'Åse Ødegård',
    birth_date: '31.02.1980',
    countries: '',
  };
  const doubts = [{ column: 'birth_date', why: 'no_such_day' as const }];
  return [{ line: 60, file: null, reference: 'C-3020', isParty: false, doubts, fields }];
}
