import { describeNotices, listSnapshotRemarks } from '../../reports/reasons.js';
import { describeExpired } from '../../reports/words.js';
import { type Transaction, takeWorkMemory } from '../../store/database/database.js';
import { clearSearchedMarks } from '../../store/dossiers/event-marks.js';
import { countFailedControls } from '../../store/night/controls.js';
import { saveRunHold } from '../../store/night/held-runs.js';
import { readAnswerFindings, saveRunHealth } from '../../store/night/run-health.js';
import { computeRunSums } from '../../store/night/run-sums.js';
import { saveOpenAlerts } from '../../store/review/decisions.js';
import { readAcceptedChanges, readSnapshot } from '../../store/roster/imports.js';
import { closeRun, readRun, refreshRunStatistics, updateRun } from '../../store/runs.js';
import type { RunContext } from '../app-context.js';
import type { RunHalted } from '../halt.js';
import { queueReportOf } from '../mail/deliver.js';
import { queueBrokenRun } from '../mail/failures.js';
import { type Reconciled, reconcileRoster } from '../reconcile-run.js';
import { type RunSummary, toRunSummary } from '../run-summary.js';
import type { RunSession } from '../session.js';
import { noteWebhooks } from '../status.js';
import { applyRun, nothingApplied } from './apply-run.js';
import { describeHeldAnswers, holdWebhooks } from './hold-run.js';
import { watchService } from './monitoring.js';
import { judgeRun, type RunEnd, type RunVerdict } from './verdict.js';

/** Stage: closes the run in one transaction, and says what became of it. The summary has no artifacts yet. */
export async function finishScreening(
  session: RunSession,
  halted: RunHalted | null,
  { isReported }: { isReported: boolean },
): Promise<RunSummary> {
  const { app, run, runId } = session;
  await refreshRunStatistics(app.database, run.runId);
  await noteWebhooks(session);
  const closed = await session.write((transaction) => concludeRun(transaction, session, { halted, isReported }));
  const { state, reasons, haltedBy, openAlerts, sums, watch } = closed;
  warnOfEnd(session, closed);
  app.emit({ kind: 'run_finished', runId, runKind: run.kind, state, reasons });
  const { inScope: _, ...counts } = sums.counts;
  const about = { runId, roster: session.roster, kind: run.kind, state, reasons, haltedBy, counts, openAlerts };
  const snapshot = await readSnapshot(app.database, run.runId);
  const acceptedChanges = await readAcceptedChanges(app.database, run.runId);
  const expired = describeExpired((await readRun(app.database, run.runId))?.settledAlerts ?? null);
  const remarks = [
    ...describeNotices(watch),
    ...(snapshot ? listSnapshotRemarks(snapshot) : []),
    ...(expired === null ? [] : [`${expired}: their alerts are open again`]),
    ...remarkMissingControls(session),
  ];
  return { ...toRunSummary({ ...about, snapshot, acceptedChanges }), remarks };
}

function warnOfEnd(
  { app, runId }: RunSession,
  { hold, haltedBy, watch }: Pick<Awaited<ReturnType<typeof concludeRun>>, 'hold' | 'haltedBy' | 'watch'>,
): void {
  if (hold !== null && haltedBy === null) {
    app.emit({ kind: 'warning', runId, code: 'run_held', message: describeHeldAnswers(hold, runId) });
  }
  for (const message of describeNotices(watch)) app.emit({ kind: 'warning', runId, code: 'service_watch', message });
}

/** With a live key the missing control searches are a reason, and the run is not complete. */
const remarkMissingControls = ({ app, run }: RunSession): readonly string[] =>
  run.mode === 'live' || app.settings.controls.length > 0
    ? []
    : [
        'control searches: none configured, so a service that finds nobody reads as clear; write `controls:` (docs/first-week.md)',
      ];

/**
 * Applies what a run has proven, adds it up, judges it, closes it and queues its mail, inside the session's transaction. `isAccepted`: a
 * person applies the answers of a held run.
 */
export async function concludeRun(
  transaction: Transaction,
  session: RunSession,
  { halted, isReported, isAccepted = false }: { halted: RunHalted | null; isReported: boolean; isAccepted?: boolean },
) {
  const { app, roster } = session;
  await takeWorkMemory(app.database, transaction, '64MB');
  const run = (await readRun(transaction, session.run.runId)) ?? session.run;
  const { runId } = run;
  const failedControls = await countFailedControls(transaction, runId);
  // A failed control search is final, so the run is not left open to be resumed.
  const [halt, overruled] = failedControls > 0 ? [null, halted] : [halted, null];
  // After a signal the process has eight seconds: whoever takes the roster next applies what is proven.
  const isApplied = halt?.code !== 'signal';

  const phase = isAccepted ? 'accepted' : halt === null ? 'ended' : 'stopped';
  const applied = isApplied ? await applyRun(transaction, { app, run }, phase) : nothingApplied;
  const { hold } = applied;
  if (!isApplied) await listOpenAlerts(transaction, { app, run });
  const reconciled = halt === null ? await reconcileAtEnd(transaction, { app, run }, roster) : null;

  const findings = applied.findings ?? (await readAnswerFindings(transaction, runId));
  const { lastChange } = applied;
  // An import may have added parties since a held run was planned, which its customers are judged by as well.
  const isJudged = lastChange !== null && !isAccepted;
  const sums = await computeRunSums(transaction, runId, { held: findings, isJudged });
  const isWhole = failedControls === 0 && halt === null && hold === null;
  const watch = await watchService(transaction, run, { sums, findings, isWhole, listCap: applied.listCap });
  const end = { app, run, roster, halt, overruled, failedControls, isApplied, hold, sums, watch, reconciled };
  const judged = await judgeRun(transaction, end);

  await saveEnd(transaction, end, judged);
  await queueMail(transaction, session, judged, isReported);
  if (run.selection === 'dirty') await clearSearchedMarks(transaction, runId);
  if (hold && halt === null) await saveRunHold(transaction, run, { kind: 'answers', ...hold, heldAt: app.clock.now() });
  const heldBack =
    isJudged && judged.state !== 'unbalanced'
      ? await holdWebhooks(transaction, { app, run }, lastChange, sums.counts.inScope)
      : null;
  const verdict = heldBack === null ? judged : await addReason(transaction, run, judged, heldBack);
  return { ...verdict, sums, watch, hold, parties: applied.parties, openAlerts: applied.openAlerts };
}

/** The report of a stopped run also lists the open alerts. */
async function listOpenAlerts(transaction: Transaction, { app, run }: RunContext): Promise<void> {
  const { runId, rosterId, accountId } = run;
  if (rosterId === null || accountId === null) return;
  await saveOpenAlerts(transaction, runId, { rosterId, accountId }, app.clock.now());
}

/** Compares the roster with the dossiers; a run of marked customers does not assess the whole roster. */
async function reconcileAtEnd(
  transaction: Transaction,
  { app, run }: RunContext,
  roster: string | null,
): Promise<Reconciled | null> {
  if (run.accountId === null || roster === null || run.selection === 'dirty') return null;
  return reconcileRoster(transaction, { app, run, roster }, run.accountId);
}

/** Stores how a run has ended. */
async function saveEnd(
  transaction: Transaction,
  { app, run, halt, sums }: RunEnd,
  { state, reasons, haltedBy }: RunVerdict,
): Promise<void> {
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
}

/** Queues the report, or what is sent instead of one whose sums do not hold. */
async function queueMail(
  transaction: Transaction,
  session: RunSession,
  { state, reasons }: RunVerdict,
  isReported: boolean,
): Promise<void> {
  if (state === 'unbalanced') await queueBrokenRun(session, transaction, { outcome: 'does not balance', reasons });
  else if (isReported) await queueReportOf(session.app, transaction, session.run);
}

/** Adds a reason to a run that is closed already: it is not complete. */
async function addReason(
  transaction: Transaction,
  { runId }: RunContext['run'],
  { state, reasons, haltedBy }: RunVerdict,
  reason: string,
): Promise<RunVerdict> {
  const warned: RunVerdict = {
    state: state === 'complete' ? 'incomplete' : state,
    reasons: [...reasons, reason],
    haltedBy,
  };
  await updateRun(transaction, runId, { state: warned.state, stateReasons: warned.reasons });
  return warned;
}
