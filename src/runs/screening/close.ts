import { ConfigError } from '../../errors.js';
import type { Canary } from '../../matches/canary.js';
import { describeDrops, describeNotices, listSnapshotRemarks } from '../../reports/reasons.js';
import { countNoun, formatCount } from '../../reports/text.js';
import { countCanaries } from '../../store/canaries.js';
import { findUncomparedLists } from '../../store/checks.js';
import { type CoverageGap, readCoverageGaps } from '../../store/coverage.js';
import type { Queryable, Transaction } from '../../store/database/database.js';
import { clearSearchedMarks } from '../../store/event-marks.js';
import {
  countAnswered,
  findLaterHeld,
  readRunAcceptances,
  readRunHolds,
  readSecondSearches,
  saveRunAcceptance,
  saveRunHold,
  saveVanishing,
} from '../../store/held-runs.js';
import { assertLease } from '../../store/leases.js';
import { readRosterNames } from '../../store/organisations.js';
import { countOverBudget } from '../../store/plan.js';
import { readFourEyes, saveOpenItems } from '../../store/review/decisions.js';
import { findStateDisagreements } from '../../store/review/projection.js';
import { type RosterHold, readAcceptedChanges, readRosterHold, readSnapshot } from '../../store/roster-imports.js';
import { readAnswerFindings, saveRunHealth, saveRunWatch } from '../../store/run-health.js';
import { computeRunSums, readRunBalance } from '../../store/run-sums.js';
import {
  addRunReasons,
  closeRun,
  findOpenRun,
  type RunRow,
  readRun,
  refreshRunStatistics,
  toRunId,
} from '../../store/runs.js';
import {
  countReportedAndTakenBack,
  countUnconfirmed,
  failUnconfirmed,
  giveBackAnswers,
  takeBackAnswers,
} from '../../store/unconfirmed-answers.js';
import {
  countNewlyOpen,
  countStates,
  holdWebhookEvents,
  readLastStateChange,
  releaseWebhookEvents,
} from '../../store/webhooks.js';
import type { RunState } from '../../vocabulary.js';
import type { AppContext } from '../app-context.js';
import type { RunHalted } from '../halt.js';
import { queueReportOf } from '../mail/deliver.js';
import { queueBrokenRun } from '../mail/failures.js';
import { quoteArgument } from '../quote-argument.js';
import { reconcileRoster } from '../reconcile-run.js';
import { makeItems } from '../review/items.js';
import { findRun } from '../run-reference.js';
import { compareBalance, type RunSummary, toRunSummary, toRunVerdict } from '../run-summary.js';
import { openOrganisation, type RunSession, withLease } from '../session.js';
import { requireAcceptedSettings } from '../settings-acceptance.js';
import { type Acceptance, requireLogins } from '../settings-diff.js';
import { recordStates } from '../status.js';
import { assessRun, describeFinding, readBounds } from './hold-run.js';
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
async function concludeRun(
  transaction: Transaction,
  session: RunSession,
  { halted, isReported, isAccepted = false }: { halted: RunHalted | null; isReported: boolean; isAccepted?: boolean },
) {
  const { app, run } = session;
  // It answers for the customers that were marked; what concerns the whole roster is judged by the others.
  const isOfMarked = run.selection === 'dirty';
  const { failed } = await countCanaries(transaction, run.runId);
  // What a canary has shown cannot be mended by going on, so such a run is never left open.
  const halt = failed > 0 ? null : halted;
  if (failed > 0) await failUnconfirmed(transaction, run.runId, app.clock.now());
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
  const found = await assessFindings(transaction, run, sums, held, isWhole);
  const watch = { rates: found.rates, listCap, volume: found.volume };
  const rosterHold = await readRosterHold(transaction, run.runId);
  const gaps = isOfMarked ? null : await findGaps(transaction, session);
  const uncompared = await findUncomparedLists(transaction, run.runId);
  await saveRunWatch(transaction, run.runId, { ...found, listCap });
  const balance = compareBalance(sums.counts, await readRunBalance(transaction, run.runId));
  const { state, reasons } = toRunVerdict({
    sums,
    disagreements: [...balance.disagreements, ...disagreements],
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

/** What of the customers' states is not what answers, alerts and dispositions give (DESIGN: The one rule). */
async function describeStates(
  transaction: Queryable,
  { rosterId }: RunSession['run'],
  accountId: number | null,
): Promise<readonly string[]> {
  if (rosterId === null || accountId === null) return [];
  const { alerts, hits } = await findStateDisagreements(transaction, { rosterId, accountId });
  return [
    ...(alerts > 0 ? [`alerts in the state of their dispositions: ${countNoun(alerts, 'alert')} in another`] : []),
    ...(hits > 0 ? [`hits with an alert: ${countNoun(hits, 'party', 'parties')} with a hit and no alert`] : []),
  ];
}

const gapWords: Readonly<Record<CoverageGap['reason'], readonly [string, string]>> = {
  row_rejected: [
    'customer without a record: the row was rejected',
    'customers without a record: their rows were rejected',
  ],
  conflicting_duplicate: [
    'customer without a record: the rows contradict each other',
    'customers without a record: their rows contradict each other',
  ],
  roster_held: ['new customer of a roster that is held', 'new customers of a roster that is held'],
  related_party_unreadable: [
    'customer with a related party that cannot be read',
    'customers with a related party that cannot be read',
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

const describeUncompared = ({ file, ...earlier }: Parameters<typeof toRunId>[0] & { file: string }): string =>
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

/**
 * That second searches contradicted the first ones, or null. The other first answers of the run are then no better: customers without a known hit
 * have nothing that a wrong answer could be noticed by.
 */
function describeContradiction(second: { searches: number; vanished: number } | null, vanished: number): string | null {
  if (second === null || vanished >= second.vanished) return null;
  const searches = countNoun(second.searches, 'search was', 'searches were');
  return `known hits came back when ${searches} made again, so the first answers of this run are not to be relied on`;
}

/** Why a run is held, and how many customers it withholds answers for. */
interface AnswerHold {
  reasons: readonly string[];
  customers: number;
}

/**
 * Judges the answers of a run that has come to its end, inside the transaction that closes it, and takes all of them back where they cannot be
 * relied on; null where they count.
 */
async function holdUnreliable(
  transaction: Queryable,
  session: RunSession,
  accountId: number,
): Promise<AnswerHold | null> {
  const { run, app } = session;
  const { figures, findings, vanished } = await assessRun(transaction, session, accountId);
  await saveVanishing(transaction, run.runId, figures);
  const second = await readSecondSearches(transaction, run.runId);
  const contradiction = describeContradiction(second, vanished);
  const reasons = [...findings.map(describeFinding), ...(contradiction === null ? [] : [contradiction])];
  if (reasons.length === 0) return null;
  const customers = await countAnswered(transaction, run.runId);
  await takeBackAnswers(transaction, run.runId, { reason: 'held', now: app.clock.now(), which: 'all' });
  return { reasons, customers };
}

/** That a run is held, why, and what to do. */
const describeHeldAnswers = ({ reasons, customers }: AnswerHold, runId: string): string =>
  `its answers for ${countNoun(customers, 'customer')} are held, because ${reasons.join('; ')}: states stay as they were. ` +
  `If the lists did change like this, ${acceptCommand(runId)} applies the answers`;

const acceptCommand = (runId: string): string => `nightscreen runs accept ${runId} --by NAME --reason TEXT`;

/** Keeps with a held run how the customers of its roster stand meanwhile. */
async function noteHold(transaction: Queryable, { run, app }: RunSession, hold: AnswerHold): Promise<void> {
  const heldAt = app.clock.now();
  const states = run.rosterId === null ? {} : await countStates(transaction, run.rosterId, heldAt);
  await saveRunHold(transaction, run.runId, { kind: 'answers', ...hold, states, heldAt });
}

/**
 * Keeps the changes of state that were recorded after `lastChange` from webhooks where far too many customers are newly open, and says so;
 * null where they are not.
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
  const customers = await countNewlyOpen(transaction, rosterId, lastChange);
  if (customers < newlyOpenLeast || customers <= inScope * newlyOpenShare) return null;
  const waiting = await holdWebhookEvents(transaction, { runId: run.runId, rosterId }, lastChange);
  const reason = `${formatCount(customers)} of ${countNoun(inScope, 'customer')} are newly open in one run`;
  const heldAt = app.clock.now();
  await saveRunHold(transaction, run.runId, { kind: 'webhooks', reasons: [reason], customers, states: {}, heldAt });
  const held = waiting === 0 ? '' : `: ${countNoun(waiting, 'change')} for webhooks wait until ${acceptCommand(runId)}`;
  return `${reason} (the bound is ${Number((newlyOpenShare * 100).toFixed(1))} %)${held}`;
}

/** What a set of control searches cannot show: that a listed party is found, that a name on no list gives nothing. */
function findMissingCanaries(canaries: readonly Pick<Canary, 'expect'>[]): readonly Canary['expect'][] {
  const wanted: readonly Canary['expect'][] = ['match', 'none'];
  return wanted.filter((expect) => canaries.every((canary) => canary.expect !== expect));
}

/** What came of accepting a held run: a second person is still needed, or its answers count. */
export type RunAcceptanceResult = { runId: string } & (
  | { kind: 'proposed' }
  /** For so many parties its answers count; the state is what the run has come to. */
  | { kind: 'accepted'; parties: number; state: RunState; reasons: readonly string[] }
);

const refuse = (message: string): ConfigError => new ConfigError([{ where: 'run', path: '', message }]);

/**
 * Has the stored answers of a held run count, without any search, and lets webhooks have what was kept from them. Where decisions need two
 * people, the first call proposes and another person's accepts. Closes no alert that waits. Throws ConfigError when there is nothing to
 * accept, RunLockedError while the roster is being worked on.
 */
export async function acceptRun(
  app: AppContext,
  text: string,
  acceptance: Acceptance,
  signal: AbortSignal,
): Promise<RunAcceptanceResult> {
  const { database } = app;
  const run = await findRun(database, text);
  const organisation = await openOrganisation(app);
  await refuseUnlessHeld(database, run);
  const named = (await readRosterNames(database)).get(run.rosterId ?? 0);
  if (named !== undefined) await requireAcceptedSettings(app, { organisation, roster: named });
  return withLease(app, run.leaseKey, signal, (held) =>
    database.transaction(async (transaction) => {
      await assertLease(transaction, held.lease);
      const current = (await readRun(transaction, run.runId)) ?? run;
      const kinds = await refuseUnlessHeld(transaction, current);
      // Its answers would become alerts with those of this run, before control searches have confirmed them.
      const open = await findOpenRun(transaction, run.leaseKey);
      if (open) throw refuse(`${toRunId(open)} has not come to its end: resume it or begin a new run first`);
      const runId = toRunId(run);
      if (await proposesOnly(app, transaction, current, acceptance)) return { kind: 'proposed', runId };
      const parties = kinds.has('answers') ? await giveBack(transaction, current) : 0;
      await saveAcceptance(app, transaction, current, acceptance, false);
      await releaseWebhookEvents(transaction, run.runId);
      const roster = (await readRosterNames(transaction)).get(run.rosterId ?? 0) ?? null;
      const write: RunSession['write'] = (work) => work(transaction);
      const session: RunSession = { ...held, app, organisation, run: current, runId, roster, write };
      const { state, reasons } = await concludeRun(transaction, session, {
        halted: null,
        isReported: false,
        isAccepted: true,
      });
      return { kind: 'accepted', runId, parties, state, reasons };
    }),
  );
}

/** What of a run is held; throws ConfigError where nothing is. */
async function refuseUnlessHeld(
  database: Parameters<typeof readRunHolds>[0],
  run: RunRow,
): Promise<ReadonlySet<'answers' | 'webhooks'>> {
  const runId = toRunId(run);
  if (run.state === 'running' || run.state === 'stopped') throw refuse(`${runId} has not come to its end`);
  const holds = await readRunHolds(database, run.runId);
  if (holds.length === 0) throw refuse(`nothing of ${runId} is held, so there is nothing to accept`);
  const waiting = holds.filter(({ acceptedAt }) => acceptedAt === null);
  if (waiting.length > 0) return new Set(waiting.map(({ kind }) => kind));
  const by = (await readRunAcceptances(database, run.runId)).find(({ isProposal }) => !isProposal);
  throw refuse(`${runId} was accepted before${by ? `, by ${by.acceptedBy} on ${by.acceptedAt.toISOString()}` : ''}`);
}

/** Where decisions need two people: keeps the first person's word and gives true; throws ConfigError when the same person comes again. */
async function proposesOnly(
  app: AppContext,
  transaction: Transaction,
  run: RunRow,
  acceptance: Acceptance,
): Promise<boolean> {
  // The rule of the last run holds as well: settings of one's own never allow more.
  const stored =
    run.accountId === null ? undefined : (await readFourEyes(transaction, [run.accountId])).get(run.accountId);
  if (app.settings.review.fourEyes.length === 0 && (stored?.size ?? 0) === 0) return false;
  requireLogins(app.database, `accepting ${toRunId(run)}`);
  const proposals = await readRunAcceptances(transaction, run.runId);
  const { name } = acceptance.by;
  if (proposals.some(({ acceptedBy }) => acceptedBy !== name)) return false;
  if (proposals.length > 0) throw refuse(`${toRunId(run)} waits for a second person: ${name} has proposed it before`);
  await saveAcceptance(app, transaction, run, acceptance, true);
  return true;
}

async function saveAcceptance(
  { clock }: AppContext,
  transaction: Transaction,
  { runId }: RunRow,
  { by, reason }: Acceptance,
  isProposal: boolean,
): Promise<void> {
  const who = { acceptedBy: by.name, isAttested: by.isAttested };
  await saveRunAcceptance(transaction, runId, { isProposal, ...who, reason, acceptedAt: clock.now() });
}

async function giveBack(transaction: Transaction, run: RunRow): Promise<number> {
  const { runId, rosterId, accountId } = run;
  const name = toRunId(run);
  if (rosterId === null || accountId === null) throw refuse(`${name} has answered for no roster`);
  const later = await findLaterHeld(transaction, { runId, rosterId, accountId });
  const held = later === null ? null : await readRun(transaction, later);
  if (held) throw refuse(`a later run is held as well, and its answers are newer: accept ${toRunId(held)} instead`);
  const parties = await giveBackAnswers(transaction, runId);
  if (parties > 0) return parties;
  throw refuse(`a later run has answered for every customer of ${name}, so nothing of it is left to accept`);
}
