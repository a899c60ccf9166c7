import { describeDrops, describeNotices, listSnapshotRemarks } from '../../reports/reasons.js';
import { countNoun } from '../../reports/text.js';
import { readCanaryOutcomes } from '../../store/canaries.js';
import { findUncomparedLists, type UncomparedList } from '../../store/checks.js';
import { readCoverageGaps } from '../../store/coverage.js';
import type { Queryable, Transaction } from '../../store/database/database.js';
import { clearSearchedMarks } from '../../store/event-marks.js';
import { countOverBudget } from '../../store/plan.js';
import { saveOpenItems } from '../../store/review/decisions.js';
import { findStateDisagreements } from '../../store/review/unprojected.js';
import { type RosterHold, readAcceptedChanges, readRosterHold, readSnapshot } from '../../store/roster-imports.js';
import { saveRunHealth, saveRunWatch } from '../../store/run-health.js';
import { computeRunSums, readAnswerFindings, readChangeVolume, readRunBalance } from '../../store/run-sums.js';
import { addRunReasons, closeRun, readRun, refreshRunStatistics, toRunId } from '../../store/runs.js';
import { countReportedAndTakenBack, countUnconfirmed } from '../../store/unconfirmed-answers.js';
import { readLastStateChange } from '../../store/webhooks.js';
import { describeGaps } from '../coverage.js';
import type { RunHalted } from '../halt.js';
import { queueReportOf } from '../mail/deliver.js';
import { queueBrokenRun } from '../mail/failures.js';
import { quoteArgument } from '../quote-argument.js';
import { reconcileRoster } from '../reconcile-run.js';
import { makeItems } from '../review/items.js';
import {
  describeStateDisagreements,
  findDisagreements,
  type RunSummary,
  toRunSummary,
  toRunVerdict,
} from '../run-summary.js';
import type { RunSession } from '../session.js';
import { recordStates } from '../status.js';
import { findMissingCanaries, unscreenUnconfirmed } from './canaries.js';
import { describeHeldAnswers, holdUnreliable, holdWebhooks, noteHold } from './hold-run.js';
import { assessFindings, assessLists } from './monitoring.js';

/** Stage: adds the run up, judges it, closes it and queues the mail of it; the summary has no artifacts yet. */
export async function finishScreening(
  session: RunSession,
  halted: RunHalted | null,
  { isReported }: { isReported: boolean },
): Promise<RunSummary> {
  const { app, run, runId } = session;
  await refreshRunStatistics(app.database);
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
    openItems: closed.openItems,
  });
  return { ...summary, remarks: [...remarks, ...(closed.snapshot ? listSnapshotRemarks(closed.snapshot) : [])] };
}

/**
 * Adds a run up, judges it and closes it, inside the session's transaction; `isAccepted` when a person takes its answers although it was
 * held.
 */
export async function concludeRun(
  transaction: Transaction,
  session: RunSession,
  { halted, isReported, isAccepted = false }: { halted: RunHalted | null; isReported: boolean; isAccepted?: boolean },
) {
  const { app, run } = session;
  // It answers for the customers that were marked; what concerns the whole roster is judged by the others.
  const isOfMarked = run.selection === 'dirty';
  const outcomes = await readCanaryOutcomes(transaction, run.runId);
  const failed = new Set(outcomes.flatMap(({ verdict, ordinal }) => (verdict === 'failed' ? ordinal : []))).size;
  // What a canary has shown cannot be mended by going on, so such a run is never left open.
  const halt = failed > 0 ? null : halted;
  if (failed > 0) await unscreenUnconfirmed(transaction, run.runId, app.clock.now());
  const provisional = await describeProvisional(transaction, session, halt !== null);
  const accountId = (await readRun(transaction, run.runId))?.accountId ?? null;
  // Before anything else is judged by its answers; of a run that goes on later all of them are compared when it ends.
  const hold =
    halt === null && accountId !== null && !isAccepted ? await holdUnreliable(transaction, session, accountId) : null;
  const held = await readAnswerFindings(transaction, run.runId);
  const listCap =
    accountId === null || hold ? null : await assessLists(transaction, session, accountId, held.answersByLength);
  // Of a run that goes on later nothing is made yet: further control searches may take its answers back.
  const how = hold ? 'held' : isAccepted ? 'accepted' : 'counts';
  const openItems = halt === null && accountId !== null ? await makeItems(transaction, session, accountId, how) : null;
  if (halt !== null && accountId !== null && run.rosterId !== null) {
    // Its report tells what waits all the same: that a run stopped makes no alert less urgent.
    await saveOpenItems(transaction, run.runId, { rosterId: run.rosterId, accountId }, app.clock.now());
  }
  const reconciled =
    halt === null && accountId !== null && session.roster !== null && !isOfMarked
      ? await reconcileRoster(transaction, { app, run, roster: session.roster }, accountId)
      : null;
  const disagreements = [
    ...(openItems === null ? [] : await describeStates(transaction, run, accountId)),
    ...(reconciled?.imbalances ?? []),
  ];
  const sums = await computeRunSums(transaction, run.runId, held);
  const isWhole = failed === 0 && halt === null && hold === null;
  const found = await assessFindings(
    transaction,
    run,
    sums,
    held,
    await readChangeVolume(transaction, run.runId),
    isWhole,
  );
  const watch = { rates: found.rates, listCap, volume: found.volume };
  const rosterHold = await readRosterHold(transaction, run.runId);
  const gaps = isOfMarked ? null : await findGaps(transaction, session);
  const uncompared = await findUncomparedLists(transaction, run.runId);
  await saveRunWatch(transaction, run.runId, { ...found, listCap });
  const { state, reasons } = toRunVerdict({
    sums,
    disagreements: [...findDisagreements(sums.counts, await readRunBalance(transaction, run.runId)), ...disagreements],
    haltedBecause: halt && [halt.message, ...provisional].join('; '),
    alarms: [
      ...(halted && !halt ? [halted.message] : []),
      ...(halt ? [] : provisional),
      ...(hold ? [describeHeldAnswers(hold, session.runId)] : []),
      ...uncompared.map(describeUncompared),
      ...(rosterHold === null ? [] : [describeHold(rosterHold)]),
      ...(gaps === null ? [] : [gaps]),
      ...describeDrops(watch),
      ...(reconciled?.problem ? [reconciled.problem] : []),
    ],
    canaries: {
      configured: app.settings.canaries.length,
      missing: findMissingCanaries(app.settings.canaries),
      failed,
    },
    mode: run.mode,
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
  if (state === 'unbalanced') await queueBrokenRun(session, transaction, { outcome: 'does not add up', reasons });
  else if (isReported) await queueReportOf(app, transaction, run);
  const snapshot = await readSnapshot(transaction, run.runId);
  const acceptedChanges = await readAcceptedChanges(transaction, run.runId);
  const lastChange = await readLastStateChange(transaction);
  if (isOfMarked) await clearSearchedMarks(transaction, run.runId);
  // The states of a run that is resumed later are provisional.
  if (halt === null) await recordStates(transaction, session, 'closed');
  if (hold) await noteHold(transaction, session, hold);
  const heldBack =
    halt !== null || isAccepted || state === 'unbalanced'
      ? null
      : await holdWebhooks(transaction, session, lastChange, sums.counts.inScope);
  const closed = { openItems, sums, state, reasons, watch, haltedBy, snapshot, acceptedChanges, hold };
  if (heldBack === null) return closed;
  const warned = { state: state === 'complete' ? 'incomplete' : state, reasons: [...reasons, heldBack] } as const;
  await addRunReasons(transaction, run.runId, warned);
  return { ...closed, ...warned };
}

async function describeStates(
  transaction: Queryable,
  { rosterId }: RunSession['run'],
  accountId: number | null,
): Promise<readonly string[]> {
  if (rosterId === null || accountId === null) return [];
  return describeStateDisagreements(await findStateDisagreements(transaction, { rosterId, accountId }));
}

/** Who cannot be screened as the roster stands, where nobody has accepted that. */
async function findGaps(transaction: Queryable, { run, roster, app }: RunSession): Promise<string | null> {
  if (run.rosterId === null) return null;
  const gaps = await readCoverageGaps(transaction, run.rosterId, app.clock.now());
  return describeGaps(gaps, quoteArgument(roster ?? ''));
}

/** What held the roster and what was done instead, and how to take it. */
function describeHold({ heldBy, newIds, command }: RosterHold): string {
  const found = heldBy.map(({ guard, message }) => `${message} [guard ${guard}]`).join('; ');
  const left =
    newIds === 0 ? '' : `, and ${countNoun(newIds, 'new customer')} of it ${newIds === 1 ? 'is' : 'are'} not screened`;
  return `the roster is held: ${found}. The last accepted roster was screened${left}. Mend the source, or take it as it is: ${command}`;
}

const describeUncompared = ({ file, ...earlier }: UncomparedList): string =>
  `the customers were never compared with ${file}, as ${toRunId(earlier)} was to do, and not all were asked about since: screen --because-of that file`;

/** What a reader of this run must know beside its sums: answers that wait for control searches, warnings that did not hold. */
async function describeProvisional(
  transaction: Queryable,
  { app, run }: RunSession,
  isStopped: boolean,
): Promise<readonly string[]> {
  if (app.settings.canaries.length === 0) return [];
  const reported = await countReportedAndTakenBack(transaction, run.runId);
  const waiting = isStopped ? await countUnconfirmed(transaction, run.runId) : 0;
  return [
    ...(reported > 0 ? [`${countNoun(reported, 'change')} that this run has told of before did not hold`] : []),
    ...(waiting > 0
      ? [`the answers for ${countNoun(waiting, 'customer')} count only once further control searches have passed`]
      : []),
  ];
}
