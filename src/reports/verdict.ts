import type { CurrentDiscrepancies } from '../reconciliation/discrepancy.js';
import { codeWords } from '../vocabulary/words.js';
import { type Severity, severities, type verdictLevels } from '../vocabulary.js';
import { describeDrops, describeNotices, describeRestoration, listSnapshotRemarks } from './reasons.js';
import { sumRosterChanges } from './roster-changes.js';
import {
  type CadenceFacts,
  countBaseline,
  countChanges,
  type OpenAlertsFacts,
  type RunFacts,
  type SpanRunFacts,
} from './run-facts.js';
import { countNoun, formatCount, formatDay, formatMinute, keep, replaceInstants, toSentence } from './text.js';
import { countCritical, countDays, describeExpired, describeNews, describeWaiting } from './words.js';

/** The result of a run in words, without personal data. */
export type Verdict = ReturnType<typeof toRunVerdict>;

/** The runs of a span, assessed. */
export type Span = ReturnType<typeof toSpan>;

/** Assesses a run, or a span and each of its runs. */
export function toVerdict(facts: RunFacts): { verdict: Verdict; span: Span | null } {
  const verdict = toRunVerdict(facts);
  if (facts.span === null) return { verdict, span: null };
  const span = toSpan(facts.span, facts.cadence, facts.timezone);
  return { verdict: toSpanVerdict(verdict, span, facts), span };
}

function toRunVerdict(facts: RunFacts) {
  const level = toLevel(facts);
  return {
    level,
    /** For a subject line: `2 new sanction hits, 12 open alerts, 2 critical, 3 overdue, 26 changes`. */
    short: toShort(facts, level),
    /** One sentence: how complete the run is. */
    coverage: toCoverage(facts),
    /** One sentence: how many alerts wait, how many are critical or overdue, and the age of the oldest; null where they were not counted. */
    waiting: toWaiting(facts),
    /** One sentence: what changed since the last report. */
    news: toNews(facts),
    /** Further sentences: why the run is not complete, rejected rows. */
    remarks: toRemarks(facts),
  };
}

/**
 * `partial`: no customer is in scope, a customer in scope is not screened, or a sweep is unproven. `red`: the reader must not rely on the run.
 */
type Level = (typeof verdictLevels)[number];

type Assessed = Pick<RunFacts, 'state' | 'states' | 'counts' | 'controls' | 'watch' | 'sweeps'> &
  Pick<SpanRunFacts, 'held'>;

function toLevel(facts: Assessed): Level {
  if (facts.state === 'unbalanced' || facts.state === 'refused' || !isServiceTrusted(facts) || isHeld(facts))
    return 'red';
  const notScreened = facts.states?.not_screened ?? 0;
  const unproven = facts.sweeps.some((sweep) => !sweep.proven);
  return facts.state === 'complete' && notScreened === 0 && !unproven && !isWithoutCustomers(facts)
    ? 'complete'
    : 'partial';
}

function toShort(facts: RunFacts, level: Level): string {
  const { openAlerts, comparedWith } = facts;
  const news = comparedWith !== null && openAlerts !== null && describeNews(openAlerts);
  if (level === 'complete') return keep(news, describeWork(facts)).join(', ');
  return keep(news, toTrouble(facts, level), ...listWaiting(facts)).join(', ');
}

const listWaiting = ({ openAlerts, settled }: Pick<RunFacts, 'openAlerts' | 'settled'>): readonly string[] =>
  openAlerts === null || openAlerts.waiting === 0 ? [] : keep(describeWaiting(openAlerts), describeExpired(settled));

function toWaiting(facts: RunFacts): string | null {
  const { openAlerts, finishedAt, timezone } = facts;
  if (openAlerts === null) return null;
  if (openAlerts.waiting === 0 && !isServiceTrusted(facts))
    return 'This run cannot be relied on, although no alert is open.';
  return describeWaitingAlerts(openAlerts, finishedAt, timezone);
}

/** Which ones the reasons of the run say. */
const otherProblems = 'finished with problems';

function toTrouble(facts: Assessed, level: Exclude<Level, 'complete'>): string {
  if (level === 'red') {
    if (countFailedControls(facts) > 0) return 'control search failed';
    if (facts.state === 'refused') return 'run refused';
    if (isHeld(facts)) return 'answers held';
    return facts.state === 'unbalanced' ? 'sums do not hold' : 'far fewer matches than usual';
  }
  const notScreened = facts.states?.not_screened ?? 0;
  if (notScreened > 0) return `${formatCount(notScreened)} not screened`;
  if (isWithoutCustomers(facts)) return 'no customer in scope';
  if (facts.sweeps.some((sweep) => !sweep.proven)) return 'sweep unproven';
  return facts.state === 'incomplete' ? otherProblems : 'run not finished';
}

function describeWork(facts: RunFacts): string {
  const changes = countChanges(facts);
  const baseline = countBaseline(facts);
  const parts = [...listWaiting(facts)];
  if (changes > 0) parts.push(countNoun(changes, 'change'));
  if (baseline > 0) parts.push(countNoun(baseline, 'match of a first screening', 'matches of first screenings'));
  if (facts.dossierChanges.length > 0) parts.push(countNoun(facts.dossierChanges.length, 'dossier change'));
  const isOpen = facts.reconciliations.some(({ standing }) => countOpen(standing) > 0);
  if (isOpen) parts.push(describeDiscrepancies(facts.reconciliations));
  if (parts.length > 0) return parts.join(', ');
  return facts.states === null && facts.counts !== null ? 'roster imported' : 'nothing to review';
}

function toCoverage(facts: RunFacts): string {
  const { counts, states } = facts;
  if (counts !== null && states !== null) {
    const customers = countNoun(counts.inScope, 'customer');
    if (!isServiceTrusted(facts)) return describeDistrust(facts, states.not_screened, customers);
    if (isHeld(facts)) return `The answers of this run are held: none of the ${customers} in scope counts as screened.`;
    if (states.not_screened > 0)
      return `${formatCount(states.not_screened)} of ${customers} in scope ${states.not_screened === 1 ? 'is' : 'are'} not screened.`;
    if (counts.inScope === 0) return 'No customer was in scope: nothing was screened.';
    if (counts.inScope === 1) return 'The one customer in scope has a valid screening.';
    return `All ${customers} in scope have a valid screening.`;
  }
  if (counts !== null)
    return `${countNoun(counts.customers, 'customer')} accepted from ${countNoun(counts.rows, 'row')}.`;
  return facts.kind === 'reconcile' ? describeReconciliations(facts) : describeSweeps(facts);
}

function describeReconciliations({ reconciliations }: RunFacts): string {
  const customers = reconciliations.reduce((sum, { sums }) => sum + sums.customers, 0);
  const dossiers = Math.max(0, ...reconciliations.map(({ sums }) => sums.dossiers));
  return `${countNoun(customers, 'customer')} and ${countNoun(dossiers, 'dossier')} compared: ${describeDiscrepancies(reconciliations)}.`;
}

const countOpen = (current: readonly CurrentDiscrepancies[]): number =>
  current.reduce((sum, { open }) => sum + open, 0);

function describeDiscrepancies(reconciliations: RunFacts['reconciliations']): string {
  const current = reconciliations.flatMap(({ standing }) => standing);
  const total = countOpen(current);
  const critical = countOpen(current.filter(({ severity }) => severity === 'critical'));
  const accepted = current.reduce((sum, one) => sum + one.accepted, 0);
  const isProven = reconciliations.every(({ unprovenBecause }) => unprovenBecause === null);
  if (total + accepted === 0 && isProven) return 'roster, screenings and dossiers agree';
  const counted = keep(
    countNoun(total, 'open discrepancy', 'open discrepancies'),
    total > 0 && `${formatCount(critical)} critical`,
    accepted > 0 && `${formatCount(accepted)} accepted`,
    !isProven && 'without proof',
  );
  return counted.join(', ');
}

/** These sentences must not read like an all-clear. */
function describeDistrust(facts: RunFacts, notScreened: number, customers: string): string {
  if (countFailedControls(facts) === 0) {
    return `The service found far less than usual: its answers for ${customers} in scope cannot be relied on.`;
  }
  const counted = notScreened === 0 ? '' : `; ${formatCount(notScreened)} of ${customers} in scope are not screened`;
  const { screened = 0, reused = 0 } = facts.counts ?? {};
  const which = screened + reused === 0 ? 'of this run' : 'after the last control searches that passed';
  return `Control searches failed: the answers ${which} cannot be relied on${counted}.`;
}

function describeSweeps(facts: RunFacts): string {
  const dossiers = facts.sweeps.reduce((most, sweep) => Math.max(most, sweep.dossiers), 0);
  const proven = facts.sweeps.length > 0 && facts.sweeps.every((sweep) => sweep.proven);
  return `${countNoun(dossiers, 'dossier')} seen; the list is ${proven ? 'proven complete' : 'not proven complete'}.`;
}

function toNews(facts: RunFacts): string {
  const since = facts.comparedWith === null ? '' : ` since ${formatDay(facts.comparedWith.finishedAt, facts.timezone)}`;
  const parts = [...listNews(facts)];
  const expired = describeExpired(facts.settled);
  if (expired !== null) parts.push(`${expired}: their alerts are open again.`);
  if (facts.kind === 'import') parts.push('This run only imported the roster: it screened no customer.');
  const inBulk = sumRosterChanges(facts)?.inBulk ?? [];
  if (inBulk.length > 0) parts.push(`The roster changed in bulk: ${inBulk.join(' ')} Check its source.`);
  if (facts.states !== null) {
    const bySeverity = severities
      .map((severity) => ({ severity, count: countSeverity(facts, severity) }))
      .filter((group) => group.count > 0)
      .map((group) => `${formatCount(group.count)} ${codeWords.severity[group.severity].toLowerCase()}`);
    const changes = countNoun(countChanges(facts), 'change');
    const quiet =
      isComparing(facts) && isServiceTrusted(facts)
        ? `${facts.states.not_screened > 0 ? 'Among those screened no' : 'No'} match changed${since}.`
        : isComparing(facts)
          ? 'No change was found, but this run cannot be relied on.'
          : 'No customer was screened in this run: nothing was compared.';
    if (bySeverity.length > 0) parts.push(`${changes}${since}: ${bySeverity.join(', ')}.`);
    else if (!isHeld(facts)) parts.push(quiet);
  }
  const baseline = countBaseline(facts);
  if (baseline > 0) {
    parts.push(`${countNoun(baseline, 'match of a first screening', 'matches of first screenings')}.`);
  }
  const news = facts.reconciliations.reduce((sum, { newsCount }) => sum + newsCount, 0);
  if (facts.kind !== 'reconcile' && facts.reconciliations.length > 0)
    parts.push(`Against the dossiers: ${describeDiscrepancies(facts.reconciliations)}.`);
  else if (facts.kind === 'reconcile')
    parts.push(
      news === 0
        ? 'No discrepancy has changed since the last comparison.'
        : `${countNoun(news, 'change since the last comparison', 'changes since the last comparison')}.`,
    );
  if (facts.sweeps.length > 0) {
    const dossiers = facts.dossierChanges.length;
    parts.push(dossiers === 0 ? 'No dossier changed.' : `${countNoun(dossiers, 'dossier change')}.`);
  }
  return parts.join(' ');
}

/** The new alerts, in a sentence; none in a first run, where all are new. */
function listNews(facts: RunFacts): readonly string[] {
  const { openAlerts, comparedWith, span } = facts;
  if (openAlerts === null || comparedWith === null) return [];
  const news = describeNews(openAlerts);
  if (isHeld(facts)) {
    if (news === null) return ['The held answers show no new alert.'];
    return [`By the held answers: ${news}. They are provisional, but need a disposition.`];
  }
  return news === null ? [] : [`By ${span === null ? 'this' : 'the last'} run: ${news}.`];
}

function toRemarks(facts: RunFacts): readonly string[] {
  const reasons = facts.stateReasons.map((reason) => reason.replace(/^- /, ''));
  const remarks = [...reasons, ...describeNotices(facts.watch)].map((remark) =>
    toSentence(showMinutes(remark, facts.timezone)),
  );
  const rejected = facts.counts?.rejected ?? 0;
  if (rejected > 0) {
    remarks.push(
      `${countNoun(rejected, 'roster row')} ${rejected === 1 ? 'was' : 'were'} rejected: known customers are screened with their last accepted record, new ones are not screened.`,
    );
  }
  const isOwnImport = (facts.counts?.rows ?? 0) > 0;
  // The report lists the parties dropped by earlier imports too.
  return [...remarks, ...listSnapshotRemarks(isOwnImport ? facts.rosterSource : null, facts.droppedParties.length)];
}

const countSeverity = ({ changes, cut }: RunFacts, severity: Severity): number =>
  cut.changes?.bySeverity[severity].count ?? changes.filter((change) => change.severity === severity).length;
const isWithoutCustomers = (facts: Assessed): boolean => facts.states !== null && facts.counts?.inScope === 0;
const isComparing = ({ counts, span }: RunFacts): boolean =>
  counts === null ||
  [counts, ...(span?.runs ?? []).map((run) => run.counts)].some(
    (each) => each !== null && each.screened + each.reused > 0,
  );
const isServiceTrusted = (facts: Assessed): boolean =>
  countFailedControls(facts) === 0 && describeDrops(facts.watch).length === 0;
/** Whether the answers of the run wait for acceptance. */
export const isHeld = ({ held }: Pick<Assessed, 'held'>): boolean =>
  held.some(({ kind, accepted }) => kind === 'answers' && accepted.length === 0);
const countFailedControls = (facts: Assessed): number =>
  facts.controls.filter((control) => control.verdict === 'failed').length;

/** The verdict of a span: that of its last run, but never complete when one of its runs is not complete or a screening is missing. */
function toSpanVerdict(last: Verdict, { runs, gaps, restores }: Span, facts: RunFacts): Verdict {
  const { timezone } = facts;
  const troubled = runs.filter(({ level }) => level !== 'complete');
  const missed = gaps.reduce((sum, gap) => sum + gap.missed, 0);
  const coverage = `After ${countNoun(runs.length, 'run')}: ${last.coverage}`;
  if (troubled.length + missed + restores.length === 0) return { ...last, coverage };
  const short = keep(
    troubled.length > 0 && `${troubled.length} of ${countNoun(runs.length, 'run')} not complete`,
    missed > 0 && `${countNoun(missed, 'screening')} missing`,
    restores.length > 0 && 'database restored',
  );
  return {
    level: last.level === 'red' ? 'red' : 'partial',
    short: last.level === 'complete' ? [...short, ...listWaiting(facts)].join(', ') : last.short,
    coverage: `${toSentence(short.join(', '))} ${coverage}`,
    waiting: last.waiting,
    news: last.news,
    remarks: [
      ...troubled.map(
        ({ runId, startedAt, trouble }) => `Run ${runId} of ${formatDay(startedAt, timezone)}: ${trouble}.`,
      ),
      ...restores.map((one) => toSentence(showMinutes(describeRestoration(one), timezone))),
      ...gaps.map(
        ({ from, until, missed: count }) =>
          `No customer was screened between ${formatMinute(from, timezone)} and ${formatMinute(until, timezone)}: ${countNoun(count, 'screening')} missing.`,
      ),
      ...last.remarks,
    ],
  };
}

const showMinutes = (words: string, timezone: string): string =>
  replaceInstants(words, (instant) => formatMinute(instant, timezone));

const hourMs = 3_600_000;

/** Assesses each run of a span and finds its missing screenings. */
export function toSpan(facts: NonNullable<RunFacts['span']>, cadence: CadenceFacts | null, timezone: string) {
  const { from } = facts;
  const runs = facts.runs.map((run) => toSpanRun(run, timezone));
  const gaps = findGaps(facts, cadence);
  // A span reaches to the present only where screenings are missing up to then: otherwise the report stays the same tomorrow.
  const lastGap = gaps.at(-1);
  const until = lastGap !== undefined && lastGap.until > facts.until ? lastGap.until : facts.until;
  return { from, until, runs, gaps, restores: facts.restores };
}

/** With `trouble`, why the run is not complete; `notScreened` is null for a run that screens no customers. */
function toSpanRun(run: SpanRunFacts, timezone: string) {
  const { controls, watch, states, wantsAll, held, reasons, ...reported } = run;
  const assessed = { ...run, sweeps: [] };
  const level = toLevel(assessed);
  const kind = level === 'complete' ? null : toTrouble(assessed, level);
  const [reason] = reasons;
  const trouble =
    kind === otherProblems && reason !== undefined ? showMinutes(reason, timezone).replace(/\.$/, '') : kind;
  return { ...reported, level, trouble, notScreened: states?.not_screened ?? null };
}

/**
 * Periods with missing screenings, and how many are missing by the screening frequency. It counts hours, not days: the day of a night depends
 * on the time zone, and its hour on summer time.
 */
function findGaps({ from, until, asOf, runs }: NonNullable<RunFacts['span']>, cadence: CadenceFacts | null) {
  const usualMs = Math.max(24, Math.min(...Object.values(cadence?.hours ?? { daily: 24 }))) * hourMs;
  const times = [from, ...runs.filter(isWholeScreening).map(({ startedAt }) => startedAt), asOf ?? until];
  return times.flatMap((time, index) => {
    const next = times[index + 1];
    if (next === undefined) return [];
    const spans = (next.getTime() - time.getTime()) / usualMs;
    // Between two screenings, and up to the present, a late screening is not a missing one. At an edge of the span the next screening is unknown.
    const isInner = index > 0 && (asOf !== null || index < times.length - 2);
    const missed = isInner ? (spans > 1.5 ? Math.round(spans) - 1 : 0) : Math.ceil(spans) - 1;
    return missed > 0 ? [{ from: time, until: next, missed }] : [];
  });
}

/** A run over selected customers, such as new ones, does not count as a screening of the roster. */
const isWholeScreening = ({ wantsAll, counts, states }: SpanRunFacts): boolean =>
  counts !== null && states !== null && (wantsAll || counts.skipped === 0);

/** As in `12 open alerts of 5 customers: 2 critical, 3 overdue, ...`. */
function describeWaitingAlerts(openAlerts: OpenAlertsFacts, now: Date, timezone: string): string {
  const { waiting, customers, overdue, proposed, absent, oldestAt } = openAlerts;
  if (waiting === 0) return 'No alert is open.';
  const critical = countCritical(openAlerts);
  const parts = keep(
    critical > 0 && `${formatCount(critical)} critical`,
    overdue === 0 ? 'none overdue' : `${formatCount(overdue)} overdue`,
    oldestAt && `the oldest since ${formatDay(oldestAt, timezone)} (${countDays(oldestAt, now)})`,
    proposed > 0 && countNoun(proposed, 'pending approval'),
    absent > 0 && `${formatCount(absent)} with an absent match`,
  );
  return `${countNoun(waiting, 'open alert')} of ${countNoun(customers, 'customer')}: ${parts.join(', ')}.`;
}
