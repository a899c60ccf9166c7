import { ReportError } from '../errors.js';
import type { ReconciliationFacts } from '../reconciliation/discrepancy.js';
import type { RejectedRow } from '../roster/customer.js';
import type { ColumnDoubts } from '../roster/doubts.js';
import type { CustomerState, DossierChangeKind } from '../vocabulary.js';
import { type ChangeGroup, groupBaseline, groupChanges } from './change-groups.js';
import type { DiscrepancyList } from './discrepancy-list.js';
import type {
  AcceptedFacts,
  CadenceFacts,
  CanaryFacts,
  CarriedOverRun,
  DetailFacts,
  DossierChangeFacts,
  DroppedPartyFacts,
  MatchChangeFacts,
  NotScreenedFacts,
  OpenItemsFacts,
  RunCounts,
  SweepFacts,
  WatchFacts,
} from './list-facts.js';
import { listCoverageSums, listSums, type Sum, type Term } from './list-sums.js';
import type { ToReviewFacts } from './review-list.js';
import {
  type HeldFacts,
  type HistoryFacts,
  type RunFacts,
  readWhole,
  type SpanFacts,
  type SpanRunFacts,
  type TruncatedList,
  type TruncatedLists,
} from './run-facts.js';
import { compareText, countNoun, formatDay, formatTime, toVisibleText } from './text.js';
import type { VerdictLevel } from './verdict.js';
import { listWaiting, toLevel, toTrouble, toVerdict, type Verdict } from './verdict.js';
import { stateOrder } from './words.js';

/** What names a run and tells it from others. */
export type RunIdentity = Pick<
  RunFacts,
  | 'runId'
  | 'kind'
  | 'state'
  | 'stateReasons'
  | 'organisation'
  | 'roster'
  | 'mode'
  | 'version'
  | 'startedAt'
  | 'finishedAt'
  | 'comparedWith'
>;

/** A code with how often it occurred. */
export interface Tally<Code extends string = string> {
  code: Code;
  count: number;
}

/** Where every row and every customer went. */
export interface Coverage {
  counts: RunCounts;
  /** The sums as the reader is shown them; all hold. */
  sums: readonly Sum[];
  /** When the roster was imported by which the run went, where it read none itself. */
  formerRosterAt: Date | null;
  /** All states, those that need attention last; null for an import. */
  states: readonly Tally<CustomerState>[] | null;
  failedBecause: readonly Tally[];
  skippedBecause: readonly Tally[];
}

/** The view model that every format renders: balanced, grouped and ordered; a part the run does not have is null. */
export interface Report {
  /** Set where names are initials. */
  isMasked?: true;
  run: RunIdentity;
  /** The runs that the report tells of; null where it is of one run. */
  span: Span | null;
  verdict: Verdict;
  coverage: Coverage | null;
  accepted: AcceptedFacts;
  /** Only severities that occur, most severe first. */
  changes: readonly ChangeGroup[] | null;
  dossiers: { sweeps: readonly SweepFacts[]; changes: readonly DossierChangeFacts[] } | null;
  reconciliations: readonly ReconciliationFacts[];
  notScreened: readonly NotScreenedFacts[] | null;
  rejects: readonly RejectedRow[] | null;
  /** The first rows that were accepted with values in doubt; the columns are among what the import made of the roster. */
  doubted: RunFacts['doubted'];
  /** Whom the roster no longer names although a hit is open or a list was cut. */
  droppedParties: readonly DroppedPartyFacts[];
  /** The matches of first screenings, apart from what is new; grouped like the changes. */
  baseline: readonly ChangeGroup[];
  /** Which of `changes`, `notScreened` and `baseline` hold only the first of more lines; the files tell all of them. */
  cut: TruncatedLists;
  /** Earlier runs whose findings are told here because no report had told them. */
  carriedFrom: readonly CarriedOverRun[];
  openItems: OpenItemsFacts | null;
  toReview: ToReviewFacts | null;
  /** Those that stood when the run closed; null where it compared nothing. */
  discrepancies: DiscrepancyList | null;
  /** What was fetched about new hits. */
  details: DetailFacts;
  canaries: readonly CanaryFacts[] | null;
  /** What watching the service has shown. */
  watch: WatchFacts | null;
  /** What of the run is or was held. */
  held: readonly HeldFacts[];
  calls: { searches: number | null; byOutcome: readonly Tally[]; possiblyBilledTwice: number };
  history: HistoryFacts;
  evidence: Pick<RunFacts, 'settingsDigest' | 'keyFingerprint' | 'rosterSource' | 'cadence'>;
}

/** Builds the report of a run, with what waited for reviewers when it closed; throws ReportError `unbalanced` naming each sum that does not hold with both figures. */
export function toReport(
  facts: RunFacts,
  toReview: ToReviewFacts | null = null,
  discrepancies: DiscrepancyList | null = null,
): Report {
  checkSums(listSums(facts));
  const { counts, states } = facts;
  const screens = states !== null;
  const changes = groupChanges(facts.changes, facts.cut.changes);
  const span = facts.span && toSpan(facts.span, facts.cadence);
  const verdict = span ? toSpanVerdict(toVerdict(facts), span, listWaiting(facts)) : toVerdict(facts);
  const isBroken = span !== null && facts.state === 'complete' && verdict.level !== 'complete';
  return {
    run: { ...toRunIdentity(facts), ...(isBroken ? { state: 'incomplete' } : {}) },
    span,
    verdict,
    coverage: counts === null ? null : toCoverage(facts, counts),
    accepted: { settingsChanges: facts.settingsChanges, rosterAcceptances: facts.rosterAcceptances },
    changes: screens ? changes.groups : null,
    dossiers: facts.sweeps.length === 0 ? null : { sweeps: facts.sweeps, changes: orderDossiers(facts.dossierChanges) },
    reconciliations: facts.reconciliations,
    notScreened: screens ? orderNotScreened(facts.notScreened) : null,
    rejects: counts === null ? null : [...facts.rejects].sort(compareRejects),
    doubted: counts === null ? [] : facts.doubted,
    droppedParties: facts.droppedParties,
    baseline: groupBaseline(facts.baselineChanges, facts.cut.baseline),
    cut: { ...facts.cut, changes: changes.cut },
    // All runs of a span are its own.
    carriedFrom: span ? [] : facts.carriedFrom,
    openItems: facts.openItems,
    toReview,
    discrepancies,
    details: facts.details,
    canaries: screens ? (facts.span ? mergeCanaries(facts.span.runs) : facts.canaries) : null,
    watch: facts.watch,
    held: facts.held,
    calls: {
      searches: span ? countSearches(span) : screens ? (counts?.searches ?? null) : null,
      byOutcome: toTallies(facts.attemptsByOutcome),
      possiblyBilledTwice: facts.possiblyBilledTwice,
    },
    history: { health: facts.health, settled: facts.settled, trend: facts.trend },
    evidence: {
      settingsDigest: facts.settingsDigest,
      cadence: facts.cadence,
      keyFingerprint: facts.keyFingerprint,
      rosterSource: facts.rosterSource,
    },
  };
}

const countSearches = ({ runs }: Span): number => runs.reduce((sum, { counts }) => sum + (counts?.searches ?? 0), 0);

function toRunIdentity(facts: RunFacts): RunIdentity {
  const { runId, kind, state, stateReasons, organisation, roster } = facts;
  const { mode, version, startedAt, finishedAt, comparedWith } = facts;
  return { runId, kind, state, stateReasons, organisation, roster, mode, version, startedAt, finishedAt, comparedWith };
}

function toCoverage(facts: RunFacts, counts: RunCounts): Coverage {
  const { states } = facts;
  const [rows, inScope, planned] = listCoverageSums(counts);
  const { rosterSource, span, startedAt } = facts;
  // A roster of no rows was read as well, where somebody has let it pass.
  const hasRead = counts.rows > 0 || (span === null && rosterSource !== null && rosterSource.importedAt >= startedAt);
  const shown = [hasRead ? rows : undefined, ...(states === null ? [] : [inScope, planned])];
  return {
    counts,
    sums: shown.filter((sum) => sum !== undefined),
    formerRosterAt: hasRead ? null : (rosterSource?.importedAt ?? null),
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

function orderNotScreened(lines: readonly NotScreenedFacts[]): readonly NotScreenedFacts[] {
  const outcomes: readonly NotScreenedFacts['outcome'][] = ['failed', 'remaining', 'skipped'];
  const place = (line: NotScreenedFacts): number => outcomes.indexOf(line.outcome);
  return [...lines].sort(
    (a, b) =>
      place(a) - place(b) ||
      compareText(a.reason, b.reason) ||
      compareText(a.party.reference, b.party.reference) ||
      compareText(a.party.name, b.party.name),
  );
}

/** What a reviewer acts on comes first; a moved time stamp comes last. */
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

/** By file, then by line: the rows of the roster's only file first, related parties last. */
function compareRejects(left: RejectedRow, right: RejectedRow): number {
  const [one, other] = [left.file ?? '', right.file ?? ''];
  return one === other ? left.line - right.line : one < other ? -1 : 1;
}

/** Returns when every sum holds; throws ReportError `unbalanced` that names each one that does not, with both figures. */
function checkSums(sums: readonly Sum[]): void {
  const wrong = sums.filter((sum) => !holds(sum)).map(describe);
  if (wrong.length > 0) throw new ReportError('unbalanced', `sums do not hold: ${wrong.join('; ')}`);
}

function holds(sum: Sum): boolean {
  const counts = [sum.whole, ...sum.parts].map((term) => term.count);
  if (!counts.every((count) => Number.isSafeInteger(count) && count >= 0)) return false;
  return sum.relation === 'equal' ? sum.whole.count === totalOf(sum) : sum.whole.count <= totalOf(sum);
}

function describe(sum: Sum): string {
  const sign = sum.relation === 'equal' ? 'is not' : 'is more than';
  const parts = sum.parts.map(describeTerm).join(' + ');
  const result = sum.parts.length > 1 ? ` (${totalOf(sum)})` : '';
  return `${describeTerm(sum.whole)} ${sign} ${parts}${result}`;
}

const totalOf = (sum: Sum): number => sum.parts.reduce((total, term) => total + term.count, 0);
const describeTerm = (term: Term): string => `${term.name} ${term.count}`;

/** What a span comes to: as its last run left it, with what `waits` then, and never complete while any of its runs was not, or one is missing. */
function toSpanVerdict(last: Verdict, { runs, gaps }: Span, waits: readonly string[]): Verdict {
  const troubled = runs.filter(({ level }) => level !== 'complete');
  const missed = gaps.reduce((sum, gap) => sum + gap.missed, 0);
  const coverage = `After ${countNoun(runs.length, 'run')}: ${last.coverage}`;
  if (troubled.length === 0 && missed === 0) return { ...last, coverage };
  const short = [
    ...(troubled.length > 0 ? [`${troubled.length} of ${countNoun(runs.length, 'run')} not complete`] : []),
    ...(missed > 0 ? [`${countNoun(missed, 'screening')} missing`] : []),
  ];
  return {
    level: last.level === 'red' ? 'red' : 'partial',
    short: last.level === 'complete' ? [...short, ...waits].join(', ') : last.short,
    coverage: `${toSentence(short.join(', '))} ${coverage}`,
    waiting: last.waiting,
    news: last.news,
    remarks: [
      ...troubled.map(({ runId, startedAt, trouble }) => `Run ${runId} of ${formatDay(startedAt)}: ${trouble}.`),
      ...gaps.map(
        ({ from, until, missed: count }) =>
          `Nobody was screened between ${formatTime(from)} and ${formatTime(until)}: ${countNoun(count, 'screening')} missing.`,
      ),
      ...last.remarks,
    ],
  };
}

const toSentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;

const hourMs = 3_600_000;

/** Judges each run of a span, and finds when nobody was screened although the cadence asked for it. */
function toSpan(facts: SpanFacts, cadence: CadenceFacts | null): Span {
  const { from } = facts;
  const gaps = findGaps(facts, cadence);
  // It reaches to the present only where something is missing up to then: else it is the same tomorrow.
  const lastGap = gaps.at(-1);
  const until = lastGap !== undefined && lastGap.until > facts.until ? lastGap.until : facts.until;
  return { from, until, runs: facts.runs.map(toSpanRun), gaps };
}

function toSpanRun(run: SpanRunFacts): SpanRun {
  const { canaries, watch, states, wantsAll, ...rest } = run;
  const assessed = { ...run, sweeps: [], held: [] };
  const level = toLevel(assessed);
  const trouble = level === 'complete' ? null : toTrouble(assessed, level);
  return { ...rest, level, trouble, notScreened: states?.not_screened ?? null };
}

/** Hours and not days: a night belongs to other days in other time zones, and moves with summer time. */
function findGaps({ from, until, asOf, runs }: SpanFacts, cadence: CadenceFacts | null): readonly SpanGap[] {
  const usualMs = Math.max(24, Math.min(...Object.values(cadence?.hours ?? { daily: 24 }))) * hourMs;
  const times = [from, ...runs.filter(isWholeScreening).map(({ startedAt }) => startedAt), asOf ?? until];
  return times.flatMap((time, index): SpanGap[] => {
    const next = times[index + 1];
    if (next === undefined) return [];
    const spans = (next.getTime() - time.getTime()) / usualMs;
    // Between two screenings, and up to the present, a late one is none that is missing; to an edge of the span nobody knows of one beyond it.
    const isInner = index > 0 && (asOf !== null || index < times.length - 2);
    const missed = isInner ? (spans > 1.5 ? Math.round(spans) - 1 : 0) : Math.ceil(spans) - 1;
    return missed > 0 ? [{ from: time, until: next, missed }] : [];
  });
}

/** One that asks about some alone, as about new customers, leaves the others without their screening. */
const isWholeScreening = ({ wantsAll, counts, states }: SpanRunFacts): boolean =>
  counts !== null && states !== null && (wantsAll || counts.skipped === 0);

/** The control searches of several runs in order, each with all its rounds; its verdict is the worst of them, and failed ones come first. */
function mergeCanaries(runs: readonly Pick<RunFacts, 'canaries'>[]): readonly CanaryFacts[] {
  const byName = new Map<string, CanaryFacts>();
  for (const canary of runs.flatMap(({ canaries }) => canaries)) {
    const key = JSON.stringify([canary.type, canary.name, canary.expect, canary.topics]);
    const former = byName.get(key);
    const worst = former?.verdict === 'failed' ? former : canary;
    byName.set(key, { ...worst, rounds: [...(former?.rounds ?? []), ...canary.rounds] });
  }
  const all = [...byName.values()];
  return [...all.filter(({ verdict }) => verdict === 'failed'), ...all.filter(({ verdict }) => verdict !== 'failed')];
}

/** A time in which nobody was screened although the cadence asked for it. */
export interface SpanGap {
  from: Date;
  until: Date;
  /** How many screenings would have been due in it. */
  missed: number;
}

/** A run of a span and what it came to. */
export interface SpanRun extends Omit<SpanRunFacts, 'canaries' | 'watch' | 'states' | 'wantsAll'> {
  level: VerdictLevel;
  /** Why it is not complete, in a few words; null where it is. */
  trouble: string | null;
  /** Null where it screened nobody. */
  notScreened: number | null;
}

/** What a report of a span tells of its runs. */
export interface Span {
  from: Date;
  until: Date;
  runs: readonly SpanRun[];
  gaps: readonly SpanGap[];
}

const titles: Readonly<Record<Report['run']['kind'], string>> = {
  import: 'Roster import',
  screen: 'Screening',
  rescreen: 'Rescreening',
  onboard: 'Onboarding',
  sweep: 'Dossier sweep',
  check: 'Single check',
  assure: 'Measurement of recall',
  reconcile: 'Reconciliation',
};

/** The report's title: what was done, to which roster, on which day or days (UTC), and whether names are masked. */
export function toTitle(report: Report): string {
  const { kind, roster, finishedAt } = report.run;
  const what = report.span ? 'Screenings' : titles[kind];
  const begin = report.span ? `${formatDay(report.span.from)} to ` : '';
  const masked = report.isMasked ? ' - MASKED' : '';
  return `${what}${roster === null ? '' : ` of ${toVisibleText(roster)}`}, ${begin}${formatDay(finishedAt)}${masked}`;
}

/** The columns of which the run's own import has values in doubt. */
export const listOwnDoubts = ({
  coverage,
  evidence,
}: Pick<Report, 'coverage' | 'evidence'>): readonly ColumnDoubts[] =>
  coverage !== null && coverage.formerRosterAt === null ? (evidence.rosterSource?.doubts ?? []) : [];

/** All changes in batches, in the report's order; throws ReportError `unbalanced` when these are not as many as were counted. */
export const readChanges = ({ changes, cut }: Report): AsyncIterable<readonly MatchChangeFacts[]> =>
  readGroups('changes', changes ?? [], cut.changes);

/** All matches of first screenings in the same way. */
export const readBaseline = ({ baseline, cut }: Report): AsyncIterable<readonly MatchChangeFacts[]> =>
  readGroups('first-time matches', baseline, cut.baseline);

const batchLines = 1_000;

async function* readGroups(name: string, groups: readonly ChangeGroup[], cut: TruncatedList<MatchChangeFacts> | null) {
  const held = groups.flatMap(({ changes }) => changes);
  for await (const batch of readWhole(name, held, cut)) {
    // Few at a time: all that are held as text would take as much memory again.
    for (let start = 0; start < batch.length; start += batchLines) yield batch.slice(start, start + batchLines);
  }
}
