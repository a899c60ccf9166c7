import type { DossierSnapshot } from '../dossiers/dossier.js';
import type { Match } from '../matches/match.js';
import type { ReconciliationFacts } from '../reconciliation/discrepancy.js';
import type { Flood } from './change-groups.js';
import { toHeldJson } from './html-coverage.js';
import { toAcceptedJson, toChangeItemJson, toDetailsJson, toHistoryJson, toSpanJson } from './json-parts.js';
import type {
  CanaryFacts,
  DossierChangeFacts,
  MatchChangeFacts,
  NotScreenedFacts,
  OpenItemsFacts,
  PartyFacts,
  RateFacts,
  WatchFacts,
} from './list-facts.js';
import type { Report } from './report.js';
import { readBaseline, readChanges } from './report.js';
import type { ReportJson } from './report-json.js';
import { readWhole } from './run-facts.js';

/** The report as `report.json` holds it: instants in ISO 8601 UTC, texts untouched, keys always in the same order; long lists as far as they are held. */
export function toReportJson(report: Report): ReportJson {
  const { changes, baseline, notScreened } = report;
  return toDocument(report, {
    changes: changes?.flatMap((group) => group.changes.map(toMatchChangeJson)) ?? null,
    baselineChanges: baseline.flatMap((group) => group.changes.map(toMatchChangeJson)),
    notScreened: notScreened?.map(toNotScreenedJson) ?? null,
  });
}

/** The same for a file: long lists are whole and come in batches. */
export function toJsonDocument(report: Report): Readonly<Record<string, unknown>> {
  const { changes, notScreened, cut } = report;
  return toDocument(report, {
    changes: changes && mapBatches(readChanges(report), toMatchChangeJson),
    baselineChanges: mapBatches(readBaseline(report), toMatchChangeJson),
    notScreened: notScreened && mapBatches(readWhole('not screened', notScreened, cut.notScreened), toNotScreenedJson),
  });
}

async function* mapBatches<Line>(
  batches: Iterable<readonly Line[]> | AsyncIterable<readonly Line[]>,
  toJson: (line: Line) => object,
) {
  for await (const batch of batches) yield batch.map(toJson);
}

function toDocument<Changes, Baseline, NotScreened>(
  report: Report,
  lists: { changes: Changes; baselineChanges: Baseline; notScreened: NotScreened },
) {
  const { run, verdict, coverage, calls, evidence } = report;
  const { rosterSource } = evidence;
  return {
    schema: 'nightscreen/report/2' as const,
    ...(report.isMasked && { masked: report.isMasked }),
    run: toRun(run),
    span: report.span && toSpanJson(report.span),
    verdict: { ...verdict, remarks: [...verdict.remarks] },
    ...toAcceptedJson(report.accepted),
    held: toHeldJson(report.held),
    coverage: coverage === null ? null : toCoverage(coverage),
    baseline: report.baseline.map((group) => ({ code: group.severity, count: group.count })),
    carriedFrom: report.carriedFrom.map(({ runId, changes, baseline }) => ({ runId, changes, baseline })),
    calls: { ...calls, byOutcome: [...calls.byOutcome] },
    ...toHistoryJson(report.history),
    evidence: {
      settingsDigest: evidence.settingsDigest,
      cadence: toCadence(evidence.cadence),
      keyFingerprint: evidence.keyFingerprint,
      rosterSource:
        rosterSource === null
          ? null
          : {
              ...rosterSource,
              importedAt: rosterSource.importedAt.toISOString(),
              overriddenGuards: [...rosterSource.overriddenGuards],
              doubts: rosterSource.doubts.map((column) => ({ ...column, values: [...column.values] })),
            },
    },
    openItems: toOpenItems(report.openItems),
    details: toDetailsJson(report.details),
    canaries: report.canaries?.map(toCanary) ?? null,
    watch: toWatch(report.watch),
    sweeps:
      report.dossiers?.sweeps.map((sweep) => ({
        runId: sweep.runId,
        startedAt: sweep.startedAt.toISOString(),
        finishedAt: sweep.finishedAt.toISOString(),
        isStart: sweep.isStart,
        pages: sweep.pages,
        dossiers: sweep.dossiers,
        proven: sweep.proven,
        unprovenBecause: sweep.unprovenBecause,
      })) ?? null,
    groups: (report.changes ?? []).flatMap(({ floods }) => floods.map(toFlood)),
    changes: lists.changes,
    baselineChanges: lists.baselineChanges,
    dossierChanges: report.dossiers?.changes.map(toDossierChange) ?? null,
    reconciliations: report.reconciliations.map(toReconciliation),
    notScreened: lists.notScreened,
    droppedParties: report.droppedParties.map(({ party, state, droppedAt }) => ({
      party: toPartyJson(party),
      state,
      droppedAt: droppedAt.toISOString(),
    })),
    rejects:
      report.rejects?.map(({ line, file, column, reason, valueClass, reference, fields }) => ({
        line,
        file,
        column,
        reason,
        valueClass,
        reference,
        fields: Object.entries(fields),
      })) ?? null,
    doubted: report.doubted.map(({ line, file, reference, doubts, fields }) => ({
      ...{ line, file, reference },
      doubts: [...doubts],
      fields: Object.entries(fields),
    })),
  };
}

function toReconciliation(facts: ReconciliationFacts): ReportJson['reconciliations'][number] {
  return {
    ...facts,
    reconciledAt: facts.reconciledAt.toISOString(),
    sweptAt: facts.sweptAt.toISOString(),
    sums: { ...facts.sums },
    standing: facts.standing.map((one) => ({ ...one, oldestAt: one.oldestAt.toISOString() })),
    invitations: facts.invitations && {
      byStatus: { ...facts.invitations.byStatus },
      excluded: { ...facts.invitations.excluded },
    },
    news: facts.news.map((one) => ({ ...one, facts: { ...one.facts }, openedAt: one.openedAt.toISOString() })),
  };
}

function toCadence(cadence: Report['evidence']['cadence']): ReportJson['evidence']['cadence'] {
  if (cadence === null) return null;
  const { high, medium, low } = cadence.hours;
  return { hours: { high, medium, low }, reason: cadence.reason };
}

function toRun(run: Report['run']): ReportJson['run'] {
  return {
    id: run.runId,
    kind: run.kind,
    state: run.state,
    stateReasons: [...run.stateReasons],
    organisation: run.organisation,
    roster: run.roster,
    mode: run.mode,
    version: run.version,
    startedAt: run.startedAt.toISOString(),
    finishedAt: run.finishedAt.toISOString(),
    comparedWith:
      run.comparedWith === null
        ? null
        : { runId: run.comparedWith.runId, finishedAt: run.comparedWith.finishedAt.toISOString() },
  };
}

function toCoverage(coverage: NonNullable<Report['coverage']>): ReportJson['coverage'] {
  const { counts } = coverage;
  return {
    counts: {
      rows: counts.rows,
      customers: counts.customers,
      rejected: counts.rejected,
      duplicates: counts.duplicates,
      inScope: counts.inScope,
      planned: counts.planned,
      screened: counts.screened,
      reused: counts.reused,
      failed: counts.failed,
      skipped: counts.skipped,
      remaining: counts.remaining,
      searches: counts.searches,
      attempts: counts.attempts,
      matches: counts.matches,
      hits: counts.hits,
      changes: counts.changes,
    },
    sums: coverage.sums.map(({ whole, parts }) => ({ whole, parts: [...parts] })),
    states: coverage.states === null ? null : [...coverage.states],
    failedBecause: [...coverage.failedBecause],
    skippedBecause: [...coverage.skippedBecause],
  };
}

function toCanary(canary: CanaryFacts): NonNullable<ReportJson['canaries']>[number] {
  const { type, name, expect, verdict, found, label, topics, rounds } = canary;
  return {
    type,
    name,
    expect,
    verdict,
    found,
    label,
    topics: [...topics],
    rounds: rounds.map(({ round, occasion, searches, askedAt, verdict }) => ({
      round,
      occasion,
      searches,
      askedAt: askedAt.toISOString(),
      verdict,
    })),
  };
}

function toOpenItems(items: OpenItemsFacts | null): ReportJson['openItems'] {
  if (items === null) return null;
  const { oldestAt, bySeverity, byOwner, byAge, ...counts } = items;
  return {
    ...counts,
    oldestAt: oldestAt?.toISOString() ?? null,
    bySeverity: [...bySeverity],
    byOwner: byOwner.map(({ name, standsInFor, waiting, overdue }) => ({ name, standsInFor, waiting, overdue })),
    byAge: { ...byAge },
  };
}

function toWatch(watch: WatchFacts | null): ReportJson['watch'] {
  if (watch === null) return null;
  const toRate = ({ perThousand, usual, formerRuns, verdict }: RateFacts) => ({
    perThousand,
    usual,
    formerRuns,
    verdict,
  });
  const { rates, listCap, volume } = watch;
  return {
    rates: rates === null ? null : { matches: toRate(rates.matches), hits: toRate(rates.hits) },
    listCap:
      listCap === null ? null : { length: listCap.length, standing: listCap.standing, customers: listCap.customers },
    volume: volume && toRate(volume),
  };
}

function toFlood({ name, by, severity, customers, changes }: Flood): ReportJson['groups'][number] {
  return { name, by, severity, customers, changes };
}

function toDossierChange(change: DossierChangeFacts): NonNullable<ReportJson['dossierChanges']>[number] {
  const { changeId, kind, dossierId, customerKnown } = change;
  return {
    changeId,
    kind,
    dossierId,
    customerKnown,
    fields: [...change.fields],
    before: toDossier(change.before),
    after: toDossier(change.after),
  };
}

function toDossier(dossier: DossierSnapshot | null): NonNullable<ReportJson['dossierChanges']>[number]['before'] {
  if (dossier === null) return null;
  const { id, token, type, status, name, reference, riskScore, isTest } = dossier;
  const { downloadStatus, documentsCount, createdAt, updatedAt, completedAt } = dossier;
  return {
    id,
    token,
    type,
    status,
    name,
    reference,
    riskScore,
    isTest,
    downloadStatus,
    documentsCount,
    createdAt,
    updatedAt,
    completedAt,
  };
}

/** A change of a match as `report.json` holds it; `group` names the group of changes that it is one of. */
function toMatchChangeJson(change: MatchChangeFacts): ReportJson['baselineChanges'][number] {
  const { changeId, runId, severity, kind, cause, rule, corroboration, matchId } = change;
  return {
    changeId,
    runId,
    severity,
    group: change.flood ?? null,
    kind,
    cause,
    rule,
    adjustments: [...change.adjustments],
    corroboration: corroboration && { birthDate: corroboration.birthDate, country: corroboration.country },
    party: toPartyJson(change.party),
    formerParty: change.formerParty && toPartyJson(change.formerParty),
    matchId,
    fields: [...change.fields],
    before: toMatch(change.before),
    after: toMatch(change.after),
    item: toChangeItemJson(change.item),
  };
}

/** Who is not screened as `report.json` holds it. */
function toNotScreenedJson(line: NotScreenedFacts): NonNullable<ReportJson['notScreened']>[number] {
  return {
    // Of an id without a readable record no type is known either.
    party: { ...toPartyJson(line.party), type: line.party.name === '' ? null : line.party.type },
    outcome: line.outcome,
    reason: line.reason,
    lastScreenedAt: line.lastScreenedAt?.toISOString() ?? null,
  };
}

/** A party as `report.json` holds it. */
function toPartyJson(party: PartyFacts): ReportJson['droppedParties'][number]['party'] {
  const { reference, role, type, name, birthDate, countries, riskTier } = party;
  return { reference, role, type, name, birthDate, countries: [...countries], riskTier };
}

function toMatch(match: Match | null): ReportJson['baselineChanges'][number]['before'] {
  if (match === null) return null;
  const { rank, id, name, schema, isHit, score, topics, birthDates, countries } = match;
  return {
    rank,
    id,
    name,
    schema,
    isHit,
    score,
    topics: [...topics],
    birthDates: [...birthDates],
    countries: [...countries],
  };
}
