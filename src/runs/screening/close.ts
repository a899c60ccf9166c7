import { describeHeldBy, listGuards, nameGuards, unreadableGuard } from '../../errors.js';
import type { ControlSearch } from '../../matches/control.js';
import { describeDrops, describeNotices, describeRestoration, listSnapshotRemarks } from '../../reports/reasons.js';
import { countNoun, formatCount } from '../../reports/text.js';
import { describeExpired } from '../../reports/words.js';
import { readRestorationsBefore } from '../../store/backup/restoration.js';
import { type CoverageGap, readCoverageGaps } from '../../store/customers/coverage.js';
import { readLastStateChange, walkStates } from '../../store/customers/webhooks.js';
import { type Queryable, type Transaction, takeWorkMemory } from '../../store/database/database.js';
import { clearSearchedMarks } from '../../store/dossiers/event-marks.js';
import { countReportedUnapplied, countUnapplied, countUnproven } from '../../store/night/apply-answers.js';
import { findUncomparedLists } from '../../store/night/checks.js';
import { countControls } from '../../store/night/controls.js';
import { holdWebhookEvents, saveRunHold } from '../../store/night/held-runs.js';
import { countOverBudget } from '../../store/night/plan.js';
import { readAnswerFindings, saveRunHealth, saveRunWatch } from '../../store/night/run-health.js';
import { computeRunSums, readRunBalance } from '../../store/night/run-sums.js';
import { readSettledAlerts, saveOpenAlerts } from '../../store/review/decisions.js';
import { findStateDisagreements } from '../../store/review/projection.js';
import {
  type RosterHold,
  readAcceptedChanges,
  readRosterHold,
  readSnapshot,
  readUnmappedNames,
} from '../../store/roster/imports.js';
import { closeRun, readRun, refreshRunStatistics, toRunId, updateRun } from '../../store/runs.js';
import type { RunHalted } from '../halt.js';
import { queueReportOf } from '../mail/deliver.js';
import { queueBrokenRun } from '../mail/failures.js';
import { quoteArgument } from '../quote-argument.js';
import { reconcileRoster } from '../reconcile-run.js';
import { compareBalance, type RunSummary, toRunSummary, toRunVerdict } from '../run-summary.js';
import type { RunSession } from '../session.js';
import { noteWebhooks, recordStates } from '../status.js';
import { acceptCommand, applyRun, describeHeldAnswers, describeWaitingAnswers } from './apply-run.js';
import { readBounds } from './hold-run.js';
import { assessFindings } from './monitoring.js';

/**
 * Stage: computes the sums of the run, assesses it, closes it and queues its mail. The summary has no artifacts yet.
 */
export async function finishScreening(
  session: RunSession,
  halted: RunHalted | null,
  { isReported }: { isReported: boolean },
): Promise<RunSummary> {
  const { app, run, runId } = session;
  await refreshRunStatistics(app.database, run.runId);
  await noteWebhooks(session);
  const closed = await session.write((transaction) => concludeRun(transaction, session, { halted, isReported }));
  if (closed.hold) {
    const message = describeHeldAnswers(closed.hold, runId);
    app.emit({ kind: 'warning', runId, code: 'run_held', message });
  }
  const remarks = describeNotices(closed.watch);
  for (const message of remarks) app.emit({ kind: 'warning', runId, code: 'service_watch', message });
  app.emit({ kind: 'run_finished', runId, runKind: run.kind, state: closed.state, reasons: closed.reasons });
  const { inScope: _, ...counts } = closed.sums.counts;
  const summary = toRunSummary({
    runId,
    roster: session.roster,
    kind: run.kind,
    state: closed.state,
    reasons: closed.reasons,
    haltedBy: closed.haltedBy,
    counts,
    snapshot: closed.snapshot,
    acceptedChanges: closed.acceptedChanges,
    openAlerts: closed.openAlerts,
  });
  const ofSnapshot = closed.snapshot ? listSnapshotRemarks(closed.snapshot) : [];
  const expired = describeExpired(await readSettledAlerts(app.database, run.runId));
  const ofAlerts = expired === null ? [] : [`${expired}: their alerts are open again`];
  return { ...summary, remarks: [...remarks, ...ofSnapshot, ...ofAlerts, ...remarkMissingControls(session)] };
}

/**
 * Computes the sums of a run, assesses it and closes it, inside the session's transaction. `isAccepted`: a person
 * applies the answers of a held run.
 */
export async function concludeRun(
  transaction: Transaction,
  session: RunSession,
  { halted, isReported, isAccepted = false }: { halted: RunHalted | null; isReported: boolean; isAccepted?: boolean },
) {
  const { app, run } = session;
  await takeWorkMemory(app.database, transaction, '64MB');
  // A run of marked customers does not assess the whole roster.
  const isOfMarked = run.selection === 'dirty';
  const { failed } = await countControls(transaction, run.runId);
  // A failed control search is final, so the run is not left open to be resumed.
  const halt = failed > 0 ? null : halted;
  // After a signal the process has eight seconds: whoever takes the roster next applies what is proven.
  const isApplied = halt?.code !== 'signal';
  const phase = isAccepted ? 'accepted' : halt === null ? 'ended' : 'stopped';
  const applied = isApplied ? await applyRun(transaction, session, phase) : null;
  const { hold, listCap, openAlerts } = applied ?? { hold: null, listCap: null, openAlerts: null };
  const provisional = await describeProvisional(transaction, session, halt !== null);
  const accountId = (await readRun(transaction, run.runId))?.accountId ?? null;
  if (!isApplied && accountId !== null && run.rosterId !== null) {
    // The report of a stopped run also lists the open alerts.
    await saveOpenAlerts(transaction, run.runId, { rosterId: run.rosterId, accountId }, app.clock.now());
  }
  const reconciled =
    halt === null && accountId !== null && session.roster !== null && !isOfMarked
      ? await reconcileRoster(transaction, { app, run, roster: session.roster }, accountId)
      : null;
  const disagreements = [
    ...(applied === null ? [] : await describeStates(transaction, run, accountId)),
    ...(reconciled?.imbalances ?? []),
  ];
  const { runId, rosterId } = run;
  const isWalked = isApplied && rosterId !== null;
  if (isWalked) await walkStates(transaction, { runId, rosterId }, app.clock.now());
  const held = applied?.findings ?? (await readAnswerFindings(transaction, run.runId));
  // An import may have added parties since a held run was planned, which the walk has found as well.
  const sums = await computeRunSums(transaction, runId, { held, isWalked: isWalked && !isAccepted });
  const isWhole = failed === 0 && halt === null && hold === null;
  const found = await assessFindings(transaction, run, sums, held, isWhole);
  const watch = { rates: found.rates, listCap, volume: found.volume };
  const rosterHold = await readRosterHold(transaction, run.runId);
  const gaps = isOfMarked ? null : await findGaps(transaction, session);
  const unmapped = rosterId === null || isOfMarked ? [] : await readUnmappedNames(transaction, rosterId);
  const uncompared = await findUncomparedLists(transaction, run.runId);
  const restored = rosterId === null ? [] : await readRestorationsBefore(transaction, { runId, rosterId });
  await saveRunWatch(transaction, run.runId, { ...found, listCap });
  const balance = compareBalance(sums.counts, await readRunBalance(transaction, run.runId));
  const { state, reasons } = toRunVerdict({
    sums,
    disagreements: [...balance.disagreements, ...disagreements],
    haltedBecause: halt && [halt.message, ...provisional, ...(hold ? [describeWaitingAnswers(hold)] : [])].join('; '),
    alarms: [
      ...(halted && !halt ? [halted.message] : []),
      ...(halt ? [] : provisional),
      ...(hold && halt === null ? [describeHeldAnswers(hold, session.runId)] : []),
      ...restored.map(describeRestoration),
      ...uncompared.map(describeUncompared),
      ...(rosterHold === null ? [] : describeHold(rosterHold, session.roster)),
      ...(gaps === null ? [] : [gaps]),
      ...unmapped,
      ...describeDrops(watch),
      ...(reconciled?.problem ? [reconciled.problem] : []),
    ],
    controls: {
      configured: app.settings.controls.length,
      missing: findMissingControls(app.settings.controls),
      failed,
    },
    mode: run.mode,
    unapplied: halt === null ? 0 : await countUnapplied(transaction, run.runId),
    urgentOverBudget: (await countOverBudget(transaction, run.runId)).urgent,
  });
  const haltedBy = state === 'stopped' && halt ? halt.code : null;
  await closeRun(transaction, run.runId, {
    state,
    stateReasons: reasons,
    haltedBy,
    stage: halt ? null : 'finished',
    finishedAt: app.clock.now(),
    sums,
  });
  const { service, budget } = app.settings;
  await saveRunHealth(transaction, run.runId, { limitPerSecond: service.rate.perSecond, ...budget });
  if (state === 'unbalanced') await queueBrokenRun(session, transaction, { outcome: 'does not balance', reasons });
  else if (isReported) await queueReportOf(app, transaction, run);
  const snapshot = await readSnapshot(transaction, run.runId);
  const acceptedChanges = await readAcceptedChanges(transaction, run.runId);
  const lastChange = await readLastStateChange(transaction);
  if (isOfMarked) await clearSearchedMarks(transaction, run.runId);
  if (isApplied) await recordStates(transaction, session, halt === null ? 'closed' : 'stopped');
  if (hold && halt === null) await saveRunHold(transaction, run, { kind: 'answers', ...hold, heldAt: app.clock.now() });
  const heldBack =
    !isApplied || isAccepted || state === 'unbalanced'
      ? null
      : await holdWebhooks(transaction, session, lastChange, sums.counts.inScope);
  const closed = {
    parties: applied?.parties ?? 0,
    openAlerts,
    sums,
    state,
    reasons,
    watch,
    haltedBy,
    snapshot,
    acceptedChanges,
    hold: halt === null ? hold : null,
  };
  if (heldBack === null) return closed;
  const warned = { state: state === 'complete' ? 'incomplete' : state, reasons: [...reasons, heldBack] } as const;
  await updateRun(transaction, run.runId, { state: warned.state, stateReasons: warned.reasons });
  return { ...closed, ...warned };
}

/** States that differ from what answers, alerts and dispositions give (DESIGN: The one rule). */
async function describeStates(
  transaction: Queryable,
  { rosterId }: RunSession['run'],
  accountId: number | null,
): Promise<readonly string[]> {
  if (rosterId === null || accountId === null) return [];
  const { alerts, hits } = await findStateDisagreements(transaction, { rosterId, accountId });
  return [
    ...(alerts > 0 ? [`${countNoun(alerts, 'alert')} whose state differs from its dispositions`] : []),
    ...(hits > 0 ? [`${countNoun(hits, 'party', 'parties')} with a hit and no alert`] : []),
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

/** Coverage gaps of the roster that no person has accepted. */
async function findGaps(transaction: Queryable, { run, roster, app }: RunSession): Promise<string | null> {
  if (run.rosterId === null) return null;
  const gaps = await readCoverageGaps(transaction, run.rosterId, app.clock.now());
  return describeGaps(gaps, quoteArgument(roster ?? ''));
}

function describeHold({ heldBy, newIds, command }: RosterHold, roster: string | null): readonly string[] {
  const left =
    newIds === 0
      ? ''
      : ` ${countNoun(newIds, 'new customer')} of the held one ${newIds === 1 ? 'is' : 'are'} not screened.`;
  return [
    `the roster is held (${listGuards(heldBy)}). The last accepted roster was screened.${left}`,
    ...describeHeldBy(heldBy),
    nameGuards(heldBy).includes(unreadableGuard)
      ? `correct the source, then: nightscreen rescreen --roster ${quoteArgument(roster ?? '')}`
      : `if the source is wrong, correct it. If it is right, accept it: ${command}`,
  ];
}

const describeUncompared = ({ file, ...earlier }: Parameters<typeof toRunId>[0] & { file: string }): string =>
  `${toRunId(earlier)} did not compare the customers with ${file}, and not all of them were searched since. Run nightscreen screen --because-of with that file`;

/** Remarks besides the sums: answers that wait for control searches, and early warnings that did not hold. */
async function describeProvisional(
  transaction: Queryable,
  { app, run }: RunSession,
  isStopped: boolean,
): Promise<readonly string[]> {
  if (app.settings.controls.length === 0) return [];
  // What a stopped run has reported waits.
  const reported = isStopped ? 0 : await countReportedUnapplied(transaction, run.runId);
  const waiting = isStopped ? (await countUnproven(transaction, run.runId)).customers : 0;
  return [
    ...(reported > 0 ? [`${countNoun(reported, 'change')} that this run reported before the report did not hold`] : []),
    ...(waiting > 0
      ? [`the answers for ${countNoun(waiting, 'customer')} count only once further control searches have passed`]
      : []),
  ];
}

/**
 * Holds back the webhooks of the state changes after `lastChange` when too many customers are newly open. Returns the
 * reason, or null.
 */
async function holdWebhooks(
  transaction: Queryable,
  { run, runId, app }: RunSession,
  lastChange: number,
  inScope: number,
): Promise<string | null> {
  const { rosterId } = run;
  if (rosterId === null) return null;
  const { newlyOpenShare, newlyOpenLeast } = readBounds(app.settings);
  const atLeast = Math.max(newlyOpenLeast, Math.floor(inScope * newlyOpenShare) + 1);
  const newlyOpen = await holdWebhookEvents(transaction, { runId: run.runId, rosterId }, lastChange, atLeast);
  if (newlyOpen === null) return null;
  const { customers, messages } = newlyOpen;
  const reason = `${formatCount(customers)} of ${countNoun(inScope, 'customer')} are newly open in one run`;
  await saveRunHold(transaction, run, { kind: 'webhooks', reasons: [reason], customers, heldAt: app.clock.now() });
  const held =
    messages === 0 ? '' : `: ${countNoun(messages, 'change')} for webhooks wait until ${acceptCommand(runId)}`;
  return `${reason} (the bound is ${Number((newlyOpenShare * 100).toFixed(1))} %)${held}`;
}

/** With a live key the missing control searches are a reason, and the run is not complete. */
const remarkMissingControls = ({ app, run }: RunSession): readonly string[] =>
  run.mode === 'live' || app.settings.controls.length > 0
    ? []
    : [
        'control searches: none configured, so a service that finds nobody reads as clear; write `controls:` (docs/first-week.md)',
      ];

/** What the control searches cannot show: that a listed party is found, or that an unlisted name gives no match. */
function findMissingControls(controls: readonly Pick<ControlSearch, 'expect'>[]): readonly ControlSearch['expect'][] {
  const wanted: readonly ControlSearch['expect'][] = ['match', 'none'];
  return wanted.filter((expect) => controls.every((control) => control.expect !== expect));
}
