import { ReportError } from '../errors.js';
import type { RejectedRow } from '../roster/customer.js';
import type { ColumnDoubts } from '../roster/doubts.js';
import { listCountSums } from '../vocabulary/facts.js';
import { codeWords } from '../vocabulary/words.js';
import { type DossierChangeKind, listableOutcomes, type RunState, stateOrder } from '../vocabulary.js';
import { type ChangeGroup, groupFacts } from './change-groups.js';
import { sumRosterChanges } from './roster-changes.js';
import {
  type ControlFacts,
  countBaseline,
  countChanges,
  type DiscrepancyList,
  type DossierChangeFacts,
  isNew,
  isOfParties,
  type MatchChangeFacts,
  type NotScreenedFacts,
  type RunCounts,
  type RunFacts,
  readWhole,
  type SpanRunFacts,
  type ToReviewFacts,
  type WaitingAlert,
} from './run-facts.js';
import { compareText, formatDay, toVisibleText } from './text.js';
import { type Span, toVerdict } from './verdict.js';

/** A code and its count. */
export interface Tally<Code extends string = string> {
  code: Code;
  count: number;
}

/** The counts of rows and customers, and the sums that prove them complete. */
export type Coverage = ReturnType<typeof toCoverage>;

/**
 * The view model of every format: balanced, grouped and ordered. A part that the run does not have is null; `isMasked` where names are initials,
 * `nameInCommands` where printed commands name the organisation.
 */
export type Report = ReturnType<typeof toReport> & { isMasked?: true; nameInCommands?: string | undefined };

/** Builds the report of a run. Throws ReportError `unbalanced` that names each sum that does not hold, with both figures. */
export function toReport(
  facts: RunFacts,
  toReview: ToReviewFacts | null = null,
  discrepancies: DiscrepancyList | null = null,
) {
  checkSums(listSums(facts));
  const { counts, states } = facts;
  const screens = states !== null;
  const { changes, baseline, cut } = groupFacts(facts);
  const { verdict, span } = toVerdict(facts);
  const { settingsChanges, rosterAcceptances, sweeps } = facts;
  const { settingsDigest, cadence, keyFingerprint, rosterSource, packs } = facts;
  return {
    run: toRun(facts, span !== null && verdict.level !== 'complete'),
    /** The runs of a report over several runs; null for a report of one run. */
    span,
    verdict,
    coverage: counts === null ? null : toCoverage(facts, counts),
    accepted: { settingsChanges, rosterAcceptances },
    /** Only severities that occur, most severe first. */
    changes: screens ? changes : null,
    dossiers: sweeps.length === 0 ? null : { sweeps, changes: orderDossiers(facts.dossierChanges) },
    reconciliations: facts.reconciliations,
    notScreened: screens ? facts.notScreened : null,
    rejects: counts === null ? null : [...facts.rejects].sort(compareRejects),
    doubted: counts === null ? [] : facts.doubted,
    droppedParties: facts.droppedParties,
    /** The matches of first screenings, separate from the changes and grouped like them. */
    baseline,
    cut,
    // The report of a span covers all its runs.
    carriedFrom: span ? [] : facts.carriedFrom,
    openAlerts: facts.openAlerts,
    toReview,
    /** The open discrepancies when the run closed; null where the run reconciled nothing. */
    discrepancies,
    details: facts.details,
    controls: screens ? (facts.span ? mergeControls(facts.span.runs) : facts.controls) : null,
    watch: facts.watch,
    held: facts.held,
    /** By all imports since the compared run; null where there are none. */
    rosterChanges: sumRosterChanges(facts),
    calls: {
      searches: span ? countSearches(span) : screens ? (counts?.searches ?? null) : null,
      byOutcome: toTallies(facts.attemptsByOutcome),
      possiblyBilledTwice: facts.possiblyBilledTwice,
    },
    history: { health: facts.health, settled: facts.settled, trend: facts.trend },
    evidence: { settingsDigest, cadence, keyFingerprint, rosterSource, packs },
  };
}

const countSearches = ({ runs }: Span): number => runs.reduce((sum, { counts }) => sum + (counts?.searches ?? 0), 0);

/** A span with a broken run is not complete, even where its last run is. */
function toRun(facts: RunFacts, isBroken: boolean) {
  const { runId, kind, stateReasons, organisation, roster } = facts;
  const { mode, version, startedAt, finishedAt, comparedWith, timezone } = facts;
  const state: RunState = isBroken && facts.state === 'complete' ? 'incomplete' : facts.state;
  const named = { runId, kind, state, stateReasons, organisation, roster };
  return { ...named, mode, version, startedAt, finishedAt, comparedWith, timezone };
}

function toCoverage(facts: RunFacts, counts: RunCounts) {
  const { states } = facts;
  const [rows, inScope, planned] = listCountSums(counts);
  const { rosterSource, span, startedAt } = facts;
  // A run may have imported an empty roster that a person accepted.
  const hasRead = counts.rows > 0 || (span === null && rosterSource !== null && rosterSource.importedAt >= startedAt);
  const shown = [hasRead ? rows : undefined, ...(states === null ? [] : [inScope, planned])];
  return {
    counts,
    /** The sums that the reader sees; all hold. */
    sums: shown.filter((sum) => sum !== undefined),
    /** The time of the earlier import that the run used; null where the run imported the roster itself. */
    formerRosterAt: hasRead ? null : (rosterSource?.importedAt ?? null),
    /** All states in `stateOrder`; null for an import. */
    states: states === null ? null : stateOrder.map((code) => ({ code, count: states[code] })),
    failedBecause: toTallies(facts.failedBecause),
    skippedBecause: toTallies(facts.skippedBecause),
  };
}

function orderDossiers(changes: readonly DossierChangeFacts[]): readonly DossierChangeFacts[] {
  const place = (change: DossierChangeFacts): number => dossierChangeOrder.indexOf(change.kind);
  return [...changes].sort(
    (a, b) => place(a) - place(b) || compareText(a.dossierId, b.dossierId) || a.changeId - b.changeId,
  );
}

/** The changes that need a reviewer come first. */
const dossierChangeOrder: readonly DossierChangeKind[] = [
  'dossier_status_changed',
  'dossier_gone',
  'dossier_returned',
  'dossier_appeared',
  'dossier_changed',
  'dossier_touched',
];

const toTallies = (byCode: Readonly<Record<string, number>>): readonly Tally[] =>
  Object.entries(byCode)
    .map(([code, count]) => ({ code, count }))
    .filter((tally) => tally.count > 0)
    .sort((a, b) => b.count - a.count || compareText(a.code, b.code));

/** Orders by file, then by line: rows without a file name first, rows of related parties last. */
function compareRejects(left: RejectedRow, right: RejectedRow): number {
  const [one, other] = [left.file ?? '', right.file ?? ''];
  return one === other ? left.line - right.line : one < other ? -1 : 1;
}

function checkSums(sums: readonly Sum[]): void {
  const wrong = sums.filter((sum) => !holds(sum)).map(describe);
  if (wrong.length > 0) throw new ReportError('unbalanced', `sums do not hold: ${wrong.join('; ')}`);
}

function holds(sum: Sum): boolean {
  const counts = [sum.whole, ...sum.parts].map((term) => term.count);
  if (!counts.every((count) => Number.isSafeInteger(count) && count >= 0)) return false;
  return sum.whole.count === totalOf(sum);
}

function describe(sum: Sum): string {
  const parts = sum.parts.map(describeTerm).join(' + ');
  const result = sum.parts.length > 1 ? ` (${totalOf(sum)})` : '';
  return `${describeTerm(sum.whole)} is not ${parts}${result}`;
}

const totalOf = (sum: Sum): number => sum.parts.reduce((total, term) => total + term.count, 0);
const describeTerm = (term: Sum['whole']): string => `${term.name} ${term.count}`;

/** Merges the control searches of several runs: each has all its rounds and its worst verdict; failed ones come first. */
function mergeControls(runs: readonly Pick<RunFacts, 'controls'>[]): readonly ControlFacts[] {
  const byName = new Map<string, ControlFacts>();
  for (const control of runs.flatMap(({ controls }) => controls)) {
    const key = JSON.stringify([control.type, control.name, control.expect, control.topics]);
    const former = byName.get(key);
    const worst = former?.verdict === 'failed' ? former : control;
    byName.set(key, { ...worst, rounds: [...(former?.rounds ?? []), ...control.rounds] });
  }
  const all = [...byName.values()];
  return [...all.filter(({ verdict }) => verdict === 'failed'), ...all.filter(({ verdict }) => verdict !== 'failed')];
}

/** The title: the kind of run, the roster, the days, and whether names are masked. */
export function toTitle(report: Report): string {
  const { kind, roster, finishedAt, timezone } = report.run;
  const what = report.span ? 'Screenings' : codeWords.runKind[kind];
  const begin = report.span ? `${formatDay(report.span.from, timezone)} to ` : '';
  const masked = report.isMasked ? ' - MASKED' : '';
  return `${what}${roster === null ? '' : ` of ${toVisibleText(roster)}`}, ${begin}${formatDay(finishedAt, timezone)}${masked}`;
}

/** The columns with values in doubt in the run's own import. */
export const listOwnDoubts = ({
  coverage,
  evidence,
}: Pick<Report, 'coverage' | 'evidence'>): readonly ColumnDoubts[] =>
  coverage !== null && coverage.formerRosterAt === null ? (evidence.rosterSource?.doubts ?? []) : [];

/** The new alerts, the most urgent first; none in a first run, where all are new. */
export const listNewAlerts = ({ run, toReview }: Report): readonly WaitingAlert[] =>
  run.comparedWith === null ? [] : (toReview?.alerts ?? []).filter(isNew);

/** All changes in batches, in the report's order. Throws ReportError `unbalanced` when their number differs from the count. */
export const readChanges = ({ changes, cut }: Report): AsyncIterable<readonly MatchChangeFacts[]> =>
  readWhole('changes', (changes ?? []).flatMap(listGroup), cut.changes);

/** All matches of first screenings in the same way. */
export const readBaseline = ({ baseline, cut }: Report): AsyncIterable<readonly MatchChangeFacts[]> =>
  readWhole('matches of first screenings', baseline.flatMap(listGroup), cut.baseline);

const listGroup = ({ changes }: ChangeGroup): readonly MatchChangeFacts[] => changes;

/** A figure and the parts that add up to it. */
export interface Sum {
  whole: { name: string; count: number };
  parts: readonly Sum['whole'][];
}

/** Every sum that must hold before a run may be reported. */
function listSums(facts: RunFacts): readonly Sum[] {
  const { counts, states } = facts;
  if (counts === null) return [];
  const listed = facts.cut.notScreened?.customers ?? countListed(facts.notScreened);
  const sums: Sum[] = [
    ...listCountSums(counts),
    equal(term('failed', counts.failed), term('failures by reason', totalBy(facts.failedBecause))),
    equal(term('skipped', counts.skipped), term('skips by reason', totalBy(facts.skippedBecause))),
    equal(term('failed', counts.failed), term('customers listed as failed', listed.failed)),
    equal(term('remaining', counts.remaining), term('customers listed as remaining', listed.remaining)),
    equal(
      term('rejected', counts.rejected),
      term('rejected rows listed', facts.rejects.filter((row) => !isOfParties(row)).length),
    ),
    equal(
      term('rejected rows of related parties', counts.rows > 0 ? (facts.rosterSource?.partyRejected ?? 0) : 0),
      term('listed', facts.rejects.filter(isOfParties).length),
    ),
    equal(
      term('changes listed', countChanges(facts)),
      term('changes of the run', counts.changes),
      ...facts.carriedFrom.map((run) => term(`changes of ${run.runId}`, run.changes)),
    ),
    equal(
      term('matches of first screenings listed', countBaseline(facts)),
      term('matches of first screenings of the run', totalBy(facts.baseline)),
      ...facts.carriedFrom.map((run) => term(`matches of first screenings of ${run.runId}`, run.baseline)),
    ),
  ];
  if (states !== null) {
    const byState = Object.entries(states).map(([state, count]) => term(state, count));
    sums.push(equal(term('in scope', counts.inScope), ...byState));
    // More may be listed: a customer with an open alert stays in that state.
    const listedCustomers = Math.min(states.not_screened, listed.failed + listed.remaining + listed.skipped);
    sums.push(
      equal(
        term('customers in state not_screened', states.not_screened),
        term('customers listed as not screened', listedCustomers),
      ),
    );
  }
  sums.push(...(facts.span?.runs ?? []).flatMap(listRunSums));
  return facts.state === 'complete' ? [...sums, ...listContradictions(facts, counts)] : sums;
}

/** The sums of one run of a span. A run in state `unbalanced` is reported as such and not checked. */
function listRunSums({ runId, state, counts, states, changes }: SpanRunFacts): readonly Sum[] {
  if (counts === null || state === 'unbalanced') return [];
  const sums = [
    ...listCountSums(counts),
    equal(term('changes', counts.changes), term('changes found', changes)),
    ...(states === null ? [] : [equal(term('in scope', counts.inScope), term('customers by state', totalBy(states)))]),
  ];
  return sums.map((sum) => ({ ...sum, whole: { ...sum.whole, name: `${sum.whole.name} of ${runId}` } }));
}

function listContradictions(facts: RunFacts, counts: RunCounts): readonly Sum[] {
  const failedControls = facts.controls.filter((control) => control.verdict === 'failed').length;
  const allowed = term('allowed in a complete run', 0);
  return [
    equal(term('failed', counts.failed), allowed),
    equal(term('remaining', counts.remaining), allowed),
    equal(term('failed control searches', failedControls), allowed),
  ];
}

/** Counts customers, not parties: a customer with several parties counts once, under its worst outcome. */
function countListed(notScreened: readonly NotScreenedFacts[]): Record<NotScreenedFacts['outcome'], number> {
  const counted = { failed: 0, remaining: 0, skipped: 0 };
  const seen = new Set<string>();
  for (const outcome of listableOutcomes) {
    for (const line of notScreened) {
      if (line.outcome !== outcome || seen.has(line.party.reference)) continue;
      seen.add(line.party.reference);
      counted[outcome] += 1;
    }
  }
  return counted;
}

const term = (name: string, count: number): Sum['whole'] => ({ name, count });

const equal = (whole: Sum['whole'], ...parts: Sum['parts']): Sum => ({ whole, parts });

const totalBy = (byReason: Readonly<Record<string, number>>): number =>
  Object.values(byReason).reduce((sum, count) => sum + count, 0);
