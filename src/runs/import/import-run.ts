import { listGuards, nameGuards, RosterError, RosterHeldError, unreadableGuard } from '../../errors.js';
import { listSnapshotRemarks } from '../../reports/reasons.js';
import type { RosterAcceptanceFacts } from '../../reports/run-facts.js';
import { countNoun, quoteArgument } from '../../reports/text.js';
import type { RosterSettings } from '../../roster/settings.js';
import { judgeImported } from '../../store/customers/states.js';
import { DatabaseError } from '../../store/database/database.js';
import { computeRunSums } from '../../store/night/run-sums.js';
import type { SnapshotCounts } from '../../store/roster/figures.js';
import {
  hasImport,
  readAcceptedChanges,
  readSnapshot,
  readUnmappedNames,
  saveRosterAcceptance,
  saveRosterHold,
} from '../../store/roster/imports.js';
import { mergeSnapshot } from '../../store/roster/merge.js';
import { clearStaging, type StagedImport } from '../../store/roster/staging.js';
import { type RunRow, toRunId, updateRun } from '../../store/runs.js';
import { toImportMode } from '../account.js';
import type { AppContext } from '../app-context.js';
import { endRun } from '../end-run.js';
import { findGivenFile, openRosterScope } from '../roster-scope.js';
import type { RunSummary } from '../run-summary.js';
import { type RunSession, withLease, withRun } from '../session.js';
import { requireAcceptedSettings } from '../settings-acceptance.js';
import { type Acceptance, toAcceptanceFacts } from '../settings-diff.js';
import { compareSnapshot, toFactMapping, toSnapshotRule } from './compare-snapshot.js';
import { type StagedSource, stageRoster } from './stage.js';

/** Imports a roster or a delta without screening it. Throws RosterError, with the former snapshot unchanged. */
export async function runImport(
  app: AppContext,
  roster: RosterSettings,
  signal: AbortSignal,
  options: ImportOptions = {},
): Promise<RunSummary> {
  const scope = await openRosterScope(app, roster.name);
  const settingsId = await requireAcceptedSettings(app, scope);
  // The service is not called; the mode is that of the next screening.
  const mode = toImportMode(app);
  const rosterFile = findGivenFile(app.settings.rosters, roster);
  const request = { ...scope, kind: 'import', mode, rosterFile, settingsId } as const;
  let isImported = false;
  const importAlone = async (session: RunSession): Promise<RunSummary> => {
    const compared = await importRoster(session, roster, scope.rosterId, options);
    isImported = true;
    const { run } = session;
    const unmapped = await readUnmappedNames(app.database, scope.rosterId);
    const reasons = compared === null ? [] : [...listLeftRejects(compared), ...unmapped];
    const state = reasons.length === 0 ? 'complete' : 'incomplete';
    const sums = await computeRunSums(app.database, run.runId);
    const { inScope: _, ...counts } = sums.counts;
    const snapshot = await readSnapshot(app.database, run.runId);
    const acceptedChanges = await readAcceptedChanges(app.database, run.runId);
    const summary = await endRun(session, { state, reasons, sums, counts, snapshot, acceptedChanges });
    return { ...summary, remarks: snapshot ? listSnapshotRemarks(snapshot) : [] };
  };
  try {
    return await withLease(app, scope.leaseKey, signal, (held) => withRun(app, held, request, importAlone));
  } catch (error) {
    throw isImported ? error : toImportError(error, roster.name, false);
  }
}

function listLeftRejects({ isFedBack, counts: { rows, rejected } }: ComparedSnapshot): readonly string[] {
  if (!isFedBack || rejected === 0) return [];
  return [
    `${rejected} of the ${countNoun(rows, 'row')} that were fed back ${rejected === 1 ? 'is' : 'are'} rejected again`,
  ];
}

type ComparedSnapshot = Awaited<ReturnType<typeof compareSnapshot>>;

/** The options of an import. */
export interface ImportOptions {
  /** The file is a delta: customers missing in it do not count as absent. */
  isDelta?: boolean | undefined;
  /** Accepts the roster against the guards; guards, person and reason are stored with the run. */
  acceptRoster?: Acceptance | undefined;
  /** When guards hold the roster, or it cannot be read, the run continues with the last accepted one, if any. */
  keepsFormer?: boolean | undefined;
}

/**
 * Stage: reads the roster, stages its rows in chunks, compares them, and merges them in one transaction, so that an
 * aborted import leaves the old snapshot whole. Gives null when guards hold it, or it is unreadable, and the run continues
 * with the last accepted one. Otherwise throws RosterHeldError when guards hold it, RosterError when it is unreadable, with nothing
 * changed, and DatabaseError `import_broken_off` when our own database fails meanwhile.
 */
export async function importRoster(
  session: RunSession,
  roster: RosterSettings,
  rosterId: number,
  options: ImportOptions = {},
): Promise<ComparedSnapshot | null> {
  const progress = { isWritten: false };
  try {
    return await importSnapshot(session, roster, rosterId, options, progress);
  } catch (error) {
    throw toImportError(error, roster.name, progress.isWritten);
  }
}

async function importSnapshot(
  session: RunSession,
  roster: RosterSettings,
  rosterId: number,
  options: ImportOptions,
  progress: { isWritten: boolean },
): Promise<ComparedSnapshot | null> {
  const { app, runId, run, signal } = session;
  app.emit({ kind: 'stage_started', runId, stage: 'import' });
  await session.write((transaction) => clearStaging(transaction, run.runId));
  const source = await stageOrKeep(session, roster, rosterId, options);
  if (source === null) return null;
  signal.throwIfAborted();
  // With a live key they hold the roster.
  if (run.mode === 'test') warnOfSource(session, source, 'unmapped_column', source.unmapped);
  const rule = await toSnapshotRule(app, app.database, roster.name, run.mode);
  const staged = { runId: run.runId, rosterId, isDelta: options.isDelta ?? false };
  const compared = await session.write((transaction) => compareSnapshot(transaction, staged, roster, source, rule));
  signal.throwIfAborted();
  // In a trial the first import continues; the rows are listed in its report.
  const quality = compared.warnings.map(({ message, look }) => `${message}; ${look}. ${trialWords}`);
  warnOfSource(session, source, 'roster_quality', quality);
  if (compared.heldBy.length > 0 && !options.acceptRoster && options.keepsFormer && !compared.isFirst) {
    await keepFormer(session, staged, source, compared);
    return null;
  }
  const acceptance = await holdOrPass(session, source.source, compared, options);
  const origin = {
    ...staged,
    ...source,
    ...rule,
    organisationId: session.organisation.organisationId,
    doubts: compared.doubts,
    changes: compared.isFirst ? null : compared.rosterChanges,
    mapping: toFactMapping(roster),
    overriddenGuards: nameGuards(compared.heldBy),
  };
  await session.write(async (transaction) => {
    await mergeSnapshot(transaction, origin, compared);
    await judgeImported(transaction, staged, rule.importedAt);
    if (acceptance !== null) await saveRosterAcceptance(transaction, run.runId, acceptance);
    await updateRun(transaction, run.runId, { stage: 'imported' });
    progress.isWritten = true;
  });
  app.emit({ kind: 'stage_finished', runId, stage: 'import', counts: { ...compared.counts } });
  return compared;
}

/** Stages the rows of a roster; null when it cannot be read and the run continues with the last accepted one. */
async function stageOrKeep(
  session: RunSession,
  roster: RosterSettings,
  rosterId: number,
  options: ImportOptions,
): Promise<StagedSource | null> {
  const { app, runId, run } = session;
  try {
    return await stageRoster(roster, {
      ...session,
      runId: run.runId,
      emit: (progress) => app.emit({ kind: 'progress', runId, stage: 'import', ...progress }),
    });
  } catch (error) {
    if (!(error instanceof RosterError) || !(await canKeepFormer(session, options))) throw error;
    await keepUnread(session, rosterId, error);
    return null;
  }
}

const trialWords = 'With a live key this would hold the roster. With a test key the first import goes on';

function warnOfSource(
  { app, runId }: RunSession,
  { source }: StagedSource,
  code: 'unmapped_column' | 'roster_quality',
  messages: readonly string[],
): void {
  for (const message of messages) app.emit({ kind: 'warning', runId, code, message: `${source}: ${message}` });
}

/**
 * Stores a held roster and its new ids, which stay unscreened until the roster is accepted or corrected. The run
 * continues with the last accepted one.
 */
async function keepFormer(
  session: RunSession,
  staged: StagedImport,
  { source, sourceDigest }: StagedSource,
  { heldBy, changes, counts }: ComparedSnapshot,
): Promise<void> {
  const { app, run, runId } = session;
  const heldAt = app.clock.now();
  // This run finishes, so acceptance starts a new run.
  const command = toOverrideCommand({ ...run, resumed: 0 }, session.roster ?? '', staged.isDelta);
  await session.write(async (transaction) => {
    await saveRosterHold(transaction, staged, { source, sourceDigest, heldAt, heldBy, changes, command });
    await clearStaging(transaction, run.runId);
    await updateRun(transaction, run.runId, { stage: 'imported' });
  });
  // The end of the run says what was found and what to do.
  const message = `${source} is held (${listGuards(heldBy)}). The last accepted roster is screened`;
  app.emit({ kind: 'warning', runId, code: 'roster_held', message });
  app.emit({ kind: 'stage_finished', runId, stage: 'import', counts: { ...counts } });
}

/** Whether an unreadable source leaves the run with the last accepted roster. A file of the command line is rather mistyped. */
async function canKeepFormer(
  { app, run, organisation, roster }: RunSession,
  { keepsFormer, acceptRoster }: ImportOptions,
): Promise<boolean> {
  if (!keepsFormer || acceptRoster || run.rosterFile !== null || roster === null) return false;
  return hasImport(app.database, organisation.organisationId, roster);
}

/** Stores that the source cannot be read. New ids of an earlier held roster stay. */
async function keepUnread({ app, run, runId, roster, write }: RunSession, rosterId: number, error: RosterError) {
  const message = error.message.replace(/\.$/, '');
  const look = 'customers who are new or changed in the source are not known';
  const heldBy = [{ guard: unreadableGuard, message, look }];
  const hold = {
    source: `roster ${roster}`,
    sourceDigest: '',
    heldAt: app.clock.now(),
    heldBy,
    changes: [],
    command: '',
  };
  await write(async (transaction) => {
    await clearStaging(transaction, run.runId);
    // As a delta without rows: only a whole roster deletes the ids that it does not name.
    await saveRosterHold(transaction, { runId: run.runId, rosterId, isDelta: true }, hold);
    await updateRun(transaction, run.runId, { stage: 'imported' });
  });
  const text = `the source of roster ${roster} cannot be read: ${message}. The last accepted roster is screened`;
  app.emit({ kind: 'warning', runId, code: 'roster_held', message: text });
}

/** Gives the acceptance of a roster that guards hold, to be stored with it; null when no guard holds it. */
async function holdOrPass(
  session: RunSession,
  source: string,
  { heldBy, changes, counts }: ComparedSnapshot,
  { acceptRoster, isDelta = false }: ImportOptions,
): Promise<RosterAcceptanceFacts | null> {
  if (heldBy.length === 0) return null;
  if (acceptRoster) {
    const { app, runId } = session;
    const reasons = heldBy.map(({ guard, message }) => `${message} [guard ${guard}]`).join('; ');
    const message = `${source} is accepted against its guards: ${reasons}`;
    app.emit({ kind: 'warning', runId, code: 'roster_accepted', message });
    return { ...toAcceptanceFacts(acceptRoster, heldBy, app.clock.now()), changes };
  }
  await session.write((transaction) => clearStaging(transaction, session.run.runId));
  // A roster without any customer cannot be accepted.
  if (counts.customers === 0 && counts.rows > 0) throw refuseEmpty(source, counts);
  const roster = session.roster ?? '';
  const accept = toOverrideCommand(session.run, roster, isDelta);
  const preview = `nightscreen import${toFileFlag(session.run, isDelta)} --roster ${quoteArgument(roster)} --dry-run`;
  throw new RosterHeldError(source, heldBy, accept, preview);
}

function refuseEmpty(source: string, { rows, rejected }: SnapshotCounts): RosterError {
  return new RosterError(
    'roster_without_customers',
    `${source}: none of its ${rows} rows is acceptable (${rejected} rejected), so the roster stays as it was. ` +
      'Check the column mapping and the file.',
  );
}

/** The command that accepts a roster that guards hold. */
export function toOverrideCommand(
  run: Pick<RunRow, 'kind' | 'runId' | 'startedAt' | 'resumed' | 'rosterFile' | 'selection'>,
  roster: string,
  isDelta: boolean,
): string {
  // A run held in its first start is closed, so a new one is started. A resumed run stays open.
  if (run.resumed > 0) return `nightscreen runs resume ${toRunId(run)} --accept-roster ${who}`;
  const file = toFileFlag(run, isDelta);
  const selection = run.kind === 'screen' ? selectionFlags[run.selection ?? 'due'] : '';
  return `nightscreen ${run.kind}${file} --roster ${quoteArgument(roster)}${selection} --accept-roster ${who}`;
}

const toFileFlag = ({ rosterFile }: Pick<RunRow, 'rosterFile'>, isDelta: boolean): string =>
  rosterFile === null ? '' : ` ${isDelta ? '--delta' : '--file'} ${quoteArgument(rosterFile)}`;

const who = '--by NAME --reason TEXT';

const selectionFlags = {
  due: ' --due',
  new: ' --new',
  all: ' --all',
  forced: ' --because-of LIST',
  dirty: ' --dirty',
} as const;

/**
 * Adds the state of the roster to the error of an import during which our own database failed; other errors stay
 * unchanged. `isWritten`: everything was written, only the answer to the commit is missing.
 */
function toImportError(error: unknown, roster: string, isWritten: boolean): unknown {
  if (!(error instanceof DatabaseError) || error.code !== 'database_error' || !isOutage(error)) return error;
  const { sqlState, constraint } = error;
  const outcome = isWritten
    ? 'The connection failed during the commit: the roster is either unchanged or completely replaced, never in part'
    : 'Nothing of the roster was stored; it is unchanged';
  const message = `our own database failed while roster ${roster} was being imported: ${error.message}. ${outcome}`;
  return new DatabaseError(message, { code: 'import_broken_off', cause: error, sqlState, constraint });
}

/** Whether the connection or the server failed, rather than the statement. */
function isOutage({ sqlState }: DatabaseError): boolean {
  return sqlState === undefined || /^(08|53|57P)/.test(sqlState);
}
