import { countNoun } from '../../reports/format-count.js';
import { listSnapshotRemarks } from '../../reports/snapshot-words.js';
import type { RosterSettings } from '../../roster/settings.js';
import { readAcceptedChanges, readSnapshot } from '../../store/roster-imports.js';
import { computeRunSums } from '../../store/run-sums.js';
import { closeRun } from '../../store/runs.js';
import { requireAcceptedSettings } from '../accepting/require-accepted-settings.js';
import { toImportMode } from '../session/identify-account.js';
import { type RunSession, withLease, withRun } from '../session/run-session.js';
import { type RunSummary, toRunSummary } from '../session/run-summary.js';
import type { Workplace } from '../workplace.js';
import { findGivenFile } from './given-file.js';
import { toImportError } from './import-broken-off.js';
import { type ImportOptions, importRoster } from './import-roster.js';
import { openRosterScope } from './roster-scope.js';
import type { SettledSnapshot } from './settle-snapshot.js';

/** Imports a roster, or a part of one, and nothing else; throws RosterError, with the former snapshot untouched, when it cannot be used. */
export async function runImport(
  workplace: Workplace,
  roster: RosterSettings,
  signal: AbortSignal,
  options: ImportOptions = {},
): Promise<RunSummary> {
  const scope = await openRosterScope(workplace, roster.name);
  const settingsRecordId = await requireAcceptedSettings(workplace, scope);
  // Nothing is asked of the service; the mode is that of whoever screens the roster next.
  const mode = toImportMode(workplace);
  const rosterFile = findGivenFile(workplace.settings.rosters, roster);
  const request = { ...scope, kind: 'import', mode, selection: null, rosterFile, settingsRecordId } as const;
  let isImported = false;
  const importAlone = async (session: RunSession): Promise<RunSummary> => {
    const settled = await importRoster(session, roster, scope.rosterId, options);
    isImported = true;
    const { run, runId } = session;
    const reasons = settled === null ? [] : listLeftRejects(settled);
    const state = reasons.length === 0 ? 'complete' : 'incomplete';
    const { sums, snapshot, acceptedChanges } = await session.write(async (transaction) => {
      const sums = await computeRunSums(transaction, run.runId);
      const finishedAt = workplace.clock.now();
      await closeRun(transaction, run.runId, {
        state,
        stateReasons: reasons,
        stage: 'finished',
        finishedAt,
        sums,
      });
      const snapshot = await readSnapshot(transaction, run.runId);
      return { sums, snapshot, acceptedChanges: await readAcceptedChanges(transaction, run.runId) };
    });
    workplace.tell({ kind: 'run_finished', runId, runKind: 'import', state, reasons });
    const { inScope: _, ...counts } = sums.counts;
    const { roster: name } = scope;
    const summary = toRunSummary({
      runId,
      roster: name,
      kind: 'import',
      state,
      reasons,
      counts,
      snapshot,
      acceptedChanges,
    });
    return { ...summary, remarks: snapshot ? listSnapshotRemarks(snapshot) : [] };
  };
  try {
    return await withLease(workplace, scope.leaseKey, signal, (held) => withRun(workplace, held, request, importAlone));
  } catch (error) {
    throw isImported ? error : toImportError(error, roster.name, false);
  }
}

/** Why an import of rejects that were fed back has not done what it was meant to. */
function listLeftRejects({ isFedBack, counts: { rows, rejected } }: SettledSnapshot): readonly string[] {
  if (!isFedBack || rejected === 0) return [];
  return [
    `${rejected} of the ${countNoun(rows, 'row')} that were fed back ${rejected === 1 ? 'is' : 'are'} rejected again`,
  ];
}
