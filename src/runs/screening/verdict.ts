import { describeHeldBy, listGuards, nameGuards, unreadableGuard } from '../../errors.js';
import type { ControlSearch } from '../../matches/control.js';
import { describeDrops, describeRestoration } from '../../reports/reasons.js';
import type { RunCounts, WatchFacts } from '../../reports/run-facts.js';
import { countNoun, formatCount, quoteArgument } from '../../reports/text.js';
import { readRestorationsBefore } from '../../store/backup/restoration.js';
import { type CoverageGap, readCoverageGaps } from '../../store/customers/coverage.js';
import type { Queryable } from '../../store/database/database.js';
import { countReportedUnapplied, countUnapplied, countUnproven } from '../../store/night/apply-answers.js';
import { findUncomparedLists } from '../../store/night/checks.js';
import { countOverBudget } from '../../store/night/plan.js';
import { type RunSums, readRunBalance } from '../../store/night/run-sums.js';
import { findStateDisagreements } from '../../store/review/projection.js';
import { type RosterHold, readRosterHold, readUnmappedNames } from '../../store/roster/imports.js';
import { toRunId } from '../../store/runs.js';
import { listCountSums } from '../../vocabulary/facts.js';
import type { HaltCode, RunState } from '../../vocabulary.js';
import type { RunContext } from '../app-context.js';
import type { RunHalted } from '../halt.js';
import type { Reconciled } from '../reconcile-run.js';
import { type AnswerHold, describeHeldAnswers, describeWaitingAnswers } from './hold-run.js';

/** A run that ends: what is known of it besides what the database says. */
export interface RunEnd extends RunContext {
  /** The roster's name. */
  roster: string | null;
  /** Why it stops early; null when it has ended. */
  halt: RunHalted | null;
  /** The halt that does not count, because a failed control search has ended the run. */
  overruled: RunHalted | null;
  failedControls: number;
  /** Whether its proven answers have been applied or held; not after a signal. */
  isApplied: boolean;
  hold: AnswerHold | null;
  sums: RunSums;
  watch: WatchFacts;
  reconciled: Reconciled | null;
}

/** The state of a run, and why it is not `complete`. */
export interface RunVerdict {
  state: RunState;
  reasons: readonly string[];
  /** The code of the early stop; null without one. */
  haltedBy: HaltCode | null;
}

/** Judges a run: first its sums, then an early stop, then other problems. */
export async function judgeRun(transaction: Queryable, end: RunEnd): Promise<RunVerdict> {
  const { halt } = end;
  const imbalances = await findImbalances(transaction, end);
  if (imbalances.length > 0) return { state: 'unbalanced', reasons: imbalances, haltedBy: null };
  if (halt !== null) {
    return { state: 'stopped', reasons: [await describeStop(transaction, end, halt)], haltedBy: halt.code };
  }
  const problems = await listProblems(transaction, end);
  return { state: problems.length === 0 ? 'complete' : 'incomplete', reasons: problems, haltedBy: null };
}

/** The sums that do not hold, and the states that differ from what they come from. */
async function findImbalances(transaction: Queryable, end: RunEnd): Promise<readonly string[]> {
  const { run, sums } = end;
  const { counts, states } = sums;
  const inAllStates = Object.values(states).reduce((sum, count) => sum + count, 0);
  const lines = [
    ...toCountLines(counts),
    { sum: 'in scope = customers in all states', left: counts.inScope, right: inAllStates },
  ];
  const unexplained = (states['not_screened'] ?? 0) - (await countExplained(transaction, end));
  const balance = compareBalance(counts, await readRunBalance(transaction, run.runId));
  return [
    ...lines
      .filter(({ left, right }) => left !== right)
      .map(({ sum, left, right }) => `${sum} does not hold: ${left} is not ${right}`),
    ...(unexplained > 0 ? [`${unexplained} customers are not screened, and no reason is stored`] : []),
    ...balance.disagreements,
    ...(await describeStates(transaction, end)),
    ...(end.reconciled?.imbalances ?? []),
  ];
}

/** A sum with the counts of both sides, in words. */
const toCountLines = (counts: Parameters<typeof listCountSums>[0]) =>
  listCountSums(counts).map(({ whole, parts }) => ({
    sum: `${whole.name} = ${parts.map(({ name }) => name).join(' + ')}`,
    left: whole.count,
    right: parts.reduce((sum, { count }) => sum + count, 0),
  }));

/**
 * The conservation sums as the database counts them, and those that do not hold or differ from the counts to be stored, with both figures.
 */
export function compareBalance(counts: RunCounts, balance: Awaited<ReturnType<typeof readRunBalance>>) {
  const lines = [
    ...toCountLines(balance),
    { sum: 'in scope = customers in the plan', left: balance.inScope, right: balance.inPlan },
    {
      sum: 'answered searches = answered searches in the ledger',
      left: balance.answeredSearches,
      right: balance.recordedSearches,
    },
  ];
  const disagreements = [
    ...lines
      .filter(({ left, right }) => left !== right)
      .map(({ sum, left, right }) => `${sum} does not hold in the database: ${left} is not ${right}`),
    ...new Set(
      listCountSums(balance)
        .flatMap(({ whole, parts }) => [whole, ...parts])
        .filter(({ code, count }) => counts[code] !== count)
        .map(({ name, code, count }) => `${name} is ${counts[code]} by the sums and ${count} by the database`),
    ),
  ];
  return { lines, disagreements };
}

/** The reasons why a customer is not searched for, although its last screening does not count: the plan has stored them. */
const skippedReasons = ['not_selected', 'over_budget', 'row_rejected', 'conflicting_duplicate', 'roster_held'] as const;

/** The number of customers who are not screened for a stored reason. */
async function countExplained(transaction: Queryable, { run, halt, sums }: RunEnd): Promise<number> {
  const { counts, skippedBecause, unreadableParties } = sums;
  const skipped = skippedReasons.reduce((sum, reason) => sum + (skippedBecause[reason] ?? 0), 0);
  const unapplied = halt === null ? 0 : await countUnapplied(transaction, run.runId);
  return counts.failed + counts.remaining + skipped + unreadableParties + unapplied;
}

/** States that differ from what answers, alerts and dispositions give (DESIGN: The one rule). */
async function describeStates(transaction: Queryable, { run, isApplied }: RunEnd): Promise<readonly string[]> {
  const { rosterId, accountId } = run;
  if (!isApplied || rosterId === null || accountId === null) return [];
  const { alerts, hits } = await findStateDisagreements(transaction, { rosterId, accountId });
  return [
    ...(alerts > 0 ? [`${countNoun(alerts, 'alert')} whose state differs from its dispositions`] : []),
    ...(hits > 0 ? [`${countNoun(hits, 'party', 'parties')} with a hit and no alert`] : []),
  ];
}

/** Why a run stops, which answers wait, and how many customers remain. */
async function describeStop(transaction: Queryable, { app, run, hold, sums }: RunEnd, halt: RunHalted) {
  const { inScope, remaining } = sums.counts;
  const hasControls = app.settings.controls.length > 0;
  const unproven = hasControls ? (await countUnproven(transaction, run.runId)).customers : 0;
  const reasons = [
    halt.message,
    ...(unproven > 0
      ? [`the answers for ${countNoun(unproven, 'customer')} count only once further control searches have passed`]
      : []),
    ...(hold ? [describeWaitingAnswers(hold)] : []),
    inScope === 0 ? 'nothing was planned yet' : describeRemaining(remaining),
  ];
  return `${reasons.join('; ')} and the run can be resumed`;
}

/** Everything because of which a run that has ended is not complete. */
async function listProblems(transaction: Queryable, end: RunEnd): Promise<readonly string[]> {
  const { app, run, overruled, failedControls, hold, watch, reconciled } = end;
  const { controls } = app.settings;
  const configured = countNoun(controls.length, 'control search', 'control searches');
  return [
    ...(failedControls > 0 ? [`${failedControls} of ${configured} failed`] : []),
    ...(overruled ? [overruled.message] : []),
    ...(await describeReported(transaction, end)),
    ...(hold ? [describeHeldAnswers(hold, toRunId(run))] : []),
    ...(await listRosterProblems(transaction, end)),
    ...describeDrops(watch),
    ...(reconciled?.problem ? [reconciled.problem] : []),
    ...(run.mode === 'live' ? describeMissingControls(controls) : []),
    ...(await describeUnscreened(transaction, end)),
  ];
}

/** Changes that early warnings have reported, although their answers are not applied. */
async function describeReported(transaction: Queryable, { app, run }: RunEnd): Promise<readonly string[]> {
  if (app.settings.controls.length === 0) return [];
  const reported = await countReportedUnapplied(transaction, run.runId);
  if (reported === 0) return [];
  return [`${countNoun(reported, 'change')} that this run reported before the report did not hold`];
}

/** What is wrong with the roster, and what earlier runs left undone for it. */
async function listRosterProblems(transaction: Queryable, { app, run, roster }: RunEnd): Promise<readonly string[]> {
  const { runId, rosterId } = run;
  if (rosterId === null) return [];
  const name = quoteArgument(roster ?? '');
  const restored = await readRestorationsBefore(transaction, { runId, rosterId });
  const uncompared = await findUncomparedLists(transaction, runId);
  const hold = await readRosterHold(transaction, runId);
  const found = [
    ...restored.map(describeRestoration),
    ...uncompared.map(describeUncompared),
    ...(hold === null ? [] : describeRosterHold(hold, name)),
  ];
  // A run of marked customers does not assess the whole roster.
  if (run.selection === 'dirty') return found;
  const gaps = describeGaps(await readCoverageGaps(transaction, rosterId, app.clock.now()), name);
  return [...found, ...(gaps === null ? [] : [gaps]), ...(await readUnmappedNames(transaction, rosterId))];
}

const describeUncompared = ({ file, ...earlier }: Parameters<typeof toRunId>[0] & { file: string }): string =>
  `${toRunId(earlier)} did not compare the customers with ${file}, and not all of them were searched since. Run nightscreen screen --because-of with that file`;

function describeRosterHold({ heldBy, newIds, command }: RosterHold, roster: string): readonly string[] {
  const left =
    newIds === 0
      ? ''
      : ` ${countNoun(newIds, 'new customer')} of the held one ${newIds === 1 ? 'is' : 'are'} not screened.`;
  return [
    `the roster is held (${listGuards(heldBy)}). The last accepted roster was screened.${left}`,
    ...describeHeldBy(heldBy),
    nameGuards(heldBy).includes(unreadableGuard)
      ? `correct the source, then: nightscreen rescreen --roster ${roster}`
      : `if the source is wrong, correct it. If it is right, accept it: ${command}`,
  ];
}

const gapWords: Readonly<Record<CoverageGap['reason'], readonly [string, string]>> = {
  row_rejected: [
    'customer whose row was rejected, without an accepted record',
    'customers whose rows were rejected, without an accepted record',
  ],
  conflicting_duplicate: [
    'customer whose rows contradict each other, without an accepted record',
    'customers whose rows contradict each other, without an accepted record',
  ],
  roster_held: ['new customer of a roster that is held', 'new customers of a roster that is held'],
  related_party_unreadable: [
    'customer with a related party that cannot be read',
    'customers with a related party that cannot be read',
  ],
  doubtful_name: [
    'customer with a doubtful name (one that is right belongs under columns.realNames)',
    'customers with doubtful names (those that are right belong under columns.realNames)',
  ],
  unreadable_id: ['row without a readable customer id', 'rows without a readable customer id'],
};

/** Describes the customers who cannot be screened and are not accepted, and how to accept them; null without any. */
function describeGaps(gaps: readonly CoverageGap[], roster: string): string | null {
  const open = gaps.flatMap(({ reason, count, accepted }) => {
    const left = count - accepted;
    return left === 0 ? [] : [`${left} ${gapWords[reason][left === 1 ? 0 : 1]}`];
  });
  if (open.length === 0) return null;
  return `not screened because of the roster: ${open.join('; ')}. Correct the roster, or accept it until a day: nightscreen roster except --roster ${roster} --all --until DATE --by NAME --reason TEXT`;
}

/** What a service that no longer works as it should would leave unnoticed, for want of control searches. */
const missingControlWords: Readonly<Record<ControlSearch['expect'], string>> = {
  match: 'no control search expects a match: with a live key, a service that finds no one goes unnoticed',
  none: 'no control search expects nothing: with a live key, a service that finds everyone goes unnoticed',
};

/** With a live key each missing kind of control search is a reason, and the run is not complete. */
function describeMissingControls(controls: readonly ControlSearch[]): readonly string[] {
  if (controls.length === 0) return ['no control searches are configured for a live key'];
  const wanted: readonly ControlSearch['expect'][] = ['match', 'none'];
  const missing = wanted.filter((expect) => controls.every((control) => control.expect !== expect));
  return missing.map((expect) => missingControlWords[expect]);
}

/** Customers without a valid screening, by reason. */
async function describeUnscreened(transaction: Queryable, { run, sums }: RunEnd): Promise<readonly string[]> {
  const { counts, failedBecause, skippedBecause } = sums;
  // The hold has its own reason, with its customers.
  const failed = counts.failed - (failedBecause['held'] ?? 0);
  const notSelected = skippedBecause['not_selected'] ?? 0;
  const overBudget = skippedBecause['over_budget'] ?? 0;
  const { urgent } = overBudget === 0 ? { urgent: 0 } : await countOverBudget(transaction, run.runId);
  return [
    ...(failed > 0 ? [describeFailed(failed)] : []),
    ...(notSelected > 0
      ? [`${countNoun(notSelected, 'customer')} without a valid screening, not searched in this run`]
      : []),
    ...(overBudget > 0 ? [describeOverBudget(overBudget, urgent)] : []),
    ...(counts.remaining > 0 ? [`${describeRemaining(counts.remaining)} unscreened`] : []),
  ];
}

/** The reason for so many failed customers; as the only reason it means that the rest of the run is complete. */
export const describeFailed = (customers: number): string =>
  `${countNoun(customers, 'customer')} could not be screened`;

const describeRemaining = (count: number): string =>
  `${countNoun(count, 'customer')} ${count === 1 ? 'remains' : 'remain'}`;

/** All these customers were due; their screening may expire before the next run. */
function describeOverBudget(customers: number, urgent: number): string {
  const left = `the budget left out ${countNoun(customers, 'customer')}`;
  if (urgent === 0) return `${left} who ${customers === 1 ? 'was' : 'were'} due again`;
  return `${left}, ${urgent === customers ? '' : `${formatCount(urgent)} of them `}requested, overdue or never screened as they are now`;
}
