import { standardInput } from '../roster/csv/source-bytes.js';
import { type RosterSettings, toFileRoster } from '../roster/settings.js';
import { readRosterNames } from '../store/organisations.js';
import { type RunRow, toRunId } from '../store/runs.js';
import { isScreeningKind } from '../vocabulary.js';
import type { AppContext } from './app-context.js';
import { findRun, refuseRun } from './run-reference.js';
import type { RunSummary } from './run-summary.js';
import { runScreening } from './screening-run.js';
import type { Acceptance } from './settings-diff.js';
import { runSweep } from './sweep-run.js';

/**
 * Resumes a run that stopped early, with its own roster. Throws ConfigError when nothing is left to do, RosterHeldError when its roster was
 * edited since and that is not accepted.
 */
export async function resumeRun(
  app: AppContext,
  runId: string,
  signal: AbortSignal,
  options: { acceptRoster?: Acceptance | undefined } = {},
): Promise<RunSummary> {
  const run = await findRun(app.database, app.settings.organisation, runId);
  if (run.state !== 'stopped' && run.state !== 'running') {
    throw refuseRun(`${toRunId(run)} is ${run.state}, so there is nothing to resume; start a new run instead`);
  }
  if (run.kind === 'sweep' && run.selection === 'dirty')
    throw refuseRun(
      `${toRunId(run)} looked up marked dossiers, which are still marked; start nightscreen sweep --dirty again`,
    );
  if (run.kind === 'sweep') return runSweep(app, { writeReport: true }, signal);
  if (!isScreeningKind(run.kind)) throw refuseRun(`${toRunId(run)} ${advice[run.kind]}`);
  if (run.kind === 'screen' && run.stage === 'started') {
    // Only the command says whether a file comes first and which list is compared.
    throw refuseRun(`${toRunId(run)} was not planned yet; start it again with the same command, which resumes it`);
  }
  const name = (await readRosterNames(app.database, app.settings.organisation)).get(run.rosterId ?? 0) ?? '';
  const roster = toRosterOf(run, name, app.settings.rosters);
  if (run.stage === 'started' && roster.csv?.path === '') {
    const why =
      run.rosterFile === standardInput
        ? `${toRunId(run)} was to import roster ${name} from standard input, which cannot be read again; start it again with the same command and the same input`
        : `${toRunId(run)} had not imported roster ${name} yet; start it again with its file`;
    throw refuseRun(why);
  }
  return runScreening(
    app,
    {
      kind: run.kind,
      roster,
      selection: run.selection ?? 'due',
      importFirst: run.stage === 'started',
      writeReport: true,
      resumeOnly: run.runId,
      acceptRoster: options.acceptRoster,
    },
    signal,
  );
}

/** What to do instead of resuming a run of these kinds. */
const advice = {
  check: 'was a single check; repeat it with nightscreen check NAME --type TYPE --reason TEXT',
  assure:
    'measured recall; continue it with the same list, sample and seed: nightscreen assure FILE --sample N --seed TEXT',
  reconcile: 'made no calls; start nightscreen reconcile again',
  import: 'is an import; import the roster again instead',
};

/** The roster of the run: from the given file, else as configured; only the name when it cannot be read again. */
function toRosterOf({ rosterFile }: RunRow, name: string, configured: readonly RosterSettings[]): RosterSettings {
  const roster = configured.find((candidate) => candidate.name === name);
  if (rosterFile === null) return roster ?? toFileRoster(name, '');
  const path = rosterFile === standardInput ? '' : rosterFile;
  return roster?.csv ? { ...roster, csv: { ...roster.csv, path } } : toFileRoster(name, path);
}
