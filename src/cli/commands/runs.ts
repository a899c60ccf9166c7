import { type Command, Option } from 'commander';
import { countNoun } from '../../reports/text.js';
import type { RunAcceptanceResult } from '../../runs/accept-run.js';
import { parseRunId, type RunListing } from '../../runs/run-reference.js';
import { type ListableOutcome, listableOutcomes } from '../../store/screenings.js';
import { addAcceptOption, findRosterAcceptance, type RosterAcceptance } from '../choose-rosters.js';
import { examples } from '../examples.js';
import { exitCodes } from '../exit-code.js';
import { formatListed } from '../format-listed.js';
import { formatRunDescription } from '../format-run-description.js';
import { formatTable } from '../format-table.js';
import type { Act } from '../invocation.js';
import { parseWholeNumber } from '../parse-number.js';
import { toBecauseOfDocument } from '../present-because-of.js';
import { presentRun } from '../present-run.js';
import { requireService, withWorkplace } from '../session.js';
import { tellDecidedStates } from '../tell-decided-states.js';

const defaultLimit = 20;

function addList(runs: Command, act: Act): void {
  runs
    .command('list')
    .description('the latest runs, newest first')
    .option('--limit <count>', `how many (default: ${defaultLimit})`, parseWholeNumber(1, 10_000))
    .addHelpText('after', examples(['runs list', 'runs list --limit 100 --json']))
    .action((options: { limit?: number }) =>
      act(async (invocation) => {
        const { listRuns } = await import('../../runs/run-reference.js');
        return withWorkplace(invocation, {
          command: 'runs list',
          needsDatabase: true,
          prepare: () => options.limit ?? defaultLimit,
          work: async ({ database }, limit) => {
            const listed = await listRuns(database, limit);
            return {
              exitCode: exitCodes.complete,
              document: { schema: 'nightscreen/run-list/1', runs: listed },
              text: listed.length === 0 ? 'no runs yet\n' : formatTable(toRows(listed)),
            };
          },
        });
      }),
    );
}

function toRows(listed: readonly RunListing[]): (string | number)[][] {
  const head = [
    'run',
    'roster',
    'state',
    'started',
    'planned',
    'screened',
    'failed',
    'remaining',
    'changes',
    'because',
  ];
  const rows = listed.map((run) => {
    const { planned, screened, failed, remaining, changes } = run;
    const counts = [planned, screened, failed, remaining, changes].map((count) => count ?? '-');
    const started = run.startedAt.toISOString().slice(0, 16).replace('T', ' ');
    return [run.runId, run.roster ?? '-', run.state, started, ...counts, describeStanding(run)];
  });
  return [head, ...rows];
}

function describeStanding({ state, heldBy, reasons }: RunListing): string {
  if (state !== 'running') return reasons.join('; ');
  return heldBy === null
    ? 'held by nobody: its process has ended; the next start goes on with it'
    : `held by ${heldBy}`;
}

interface ShowOptions {
  list?: ListableOutcome | 'rejected';
  limit?: number;
  after?: string;
}

function addShow(runs: Command, act: Act): void {
  runs
    .command('show <id>')
    .description('what one run counted and found, under which settings, and who held it')
    .addOption(
      new Option(
        '--list <what>',
        'also list the customers that it left, failed or skipped, or all rejected rows',
      ).choices([...listableOutcomes, 'rejected']),
    )
    .option('--limit <count>', `how many to list (default: ${defaultLimit})`, parseWholeNumber(1, 1_000_000))
    .option('--after <reference>', 'list those after this customer')
    .addHelpText('after', examples(['runs show 12', 'runs show 12 --list failed --limit 100', 'runs show 12 --json']))
    .action((id: string, options: ShowOptions) =>
      act(async (invocation) => {
        const { describeRun } = await import('../../runs/describe-run.js');
        return withWorkplace(invocation, {
          command: 'runs show',
          needsDatabase: true,
          prepare: () => parseRunId(id),
          work: async (workplace) => {
            const { list, limit = defaultLimit, after = null } = options;
            const { listed, ...run } = await describeRun(workplace, id, { list, limit, after });
            return {
              exitCode: exitCodes.complete,
              document: {
                ...{ schema: 'nightscreen/run/2', ...run, ...listed },
                becauseOf: run.becauseOf && toBecauseOfDocument(run.becauseOf),
              },
              text: formatRunDescription(run) + formatListed(listed, run.artifacts),
            };
          },
        });
      }),
    );
}

function addResume(runs: Command, act: Act): void {
  const command = runs.command('resume <id>').description('go on with a run that stopped early');
  addAcceptOption(command)
    .addHelpText('after', examples(['runs resume 12']))
    .action((id: string, options: RosterAcceptance) =>
      act(async (invocation) => {
        const { resumeRun } = await import('../../runs/resume-run.js');
        return withWorkplace(invocation, {
          command: 'runs resume',
          needsDatabase: true,
          isLasting: true,
          prepare: (config) => requireService(config, () => parseRunId(id)),
          work: async (workplace) => {
            const acceptRoster = await findRosterAcceptance(workplace.database, options);
            return presentRun(await resumeRun(workplace, id, invocation.signal, { acceptRoster }));
          },
        });
      }),
    );
}

function addAccept(runs: Command, act: Act): void {
  runs
    .command('accept <id>')
    .description('have the answers of a held run count, without new searches; who and why is recorded')
    .option('--by <name>', 'who accepts it; on Postgres the login says so')
    .option('--reason <text>', 'why its answers can be relied on')
    .addHelpText(
      'after',
      examples(['runs accept 12 --by "A. Meyer" --reason "list provider confirmed the removal on 3 May"']),
    )
    .action((id: string, options: { by?: string; reason?: string }) =>
      act(async (invocation) => {
        const { acceptRun } = await import('../../runs/accept-run.js');
        const { findAcceptance } = await import('../../runs/settings-acceptance.js');
        return withWorkplace(invocation, {
          command: 'runs accept',
          needsDatabase: true,
          prepare: () => parseRunId(id),
          work: async (workplace) => {
            const acceptance = await findAcceptance(workplace.database, options);
            const accepted = await acceptRun(workplace, id, acceptance, invocation.signal);
            if (accepted.kind === 'accepted') await tellDecidedStates(workplace, invocation);
            const { name, isAttested } = acceptance.by;
            return {
              exitCode: toAcceptedExitCode(accepted),
              document: { schema: 'nightscreen/run-accept/1', ...accepted, by: name, isAttested },
              text: describeAccepted(accepted, name),
            };
          },
        });
      }),
    );
}

/** As the run itself would have ended. */
function toAcceptedExitCode(accepted: RunAcceptanceResult): number {
  if (accepted.kind === 'proposed') return exitCodes.incomplete;
  if (accepted.state === 'unbalanced') return exitCodes.unexpected;
  return accepted.state === 'complete' ? exitCodes.complete : exitCodes.incomplete;
}

function describeAccepted(accepted: RunAcceptanceResult, name: string): string {
  const { runId } = accepted;
  if (accepted.kind === 'proposed') {
    return `${name} proposes to accept ${runId}; nothing has changed yet. A second person accepts it with the same command\n`;
  }
  const answers =
    accepted.parties === 0 ? '' : `the answers for ${countNoun(accepted.parties, 'party', 'parties')} count; `;
  const report = `nightscreen report --run ${runId}`;
  return `${runId} is accepted by ${name}: ${answers}no alert was closed. ${report} writes its report anew\n`;
}

/** Adds `runs list`, `runs show`, `runs resume` and `runs accept`. */
export function addRunsCommand(program: Command, act: Act): void {
  const runs = program.command('runs').description('list, show, resume or accept runs');
  runs.addHelpText('after', examples(['runs list', 'runs show 12', 'runs resume 12']));
  addList(runs, act);
  addShow(runs, act);
  addResume(runs, act);
  addAccept(runs, act);
}
