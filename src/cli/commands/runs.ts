import type { Command } from 'commander';
import { rejectWords } from '../../reports/reason-words.js';
import type { RunFacts } from '../../reports/run-facts.js';
import type { RunListing } from '../../runs/session/list-runs.js';
import { parseRunId } from '../../runs/session/run-id.js';
import { examples } from '../examples.js';
import { exitCodes } from '../exit-code.js';
import { formatFacts } from '../format-facts.js';
import { formatTable } from '../format-table.js';
import type { Act } from '../invocation.js';
import { parseWholeNumber } from '../parse-number.js';
import { presentRun } from '../present-run.js';
import { requireService, withWorkplace } from '../session.js';

const defaultLimit = 20;

function addList(runs: Command, act: Act): void {
  runs
    .command('list')
    .description('the latest runs, newest first')
    .option('--limit <count>', `how many (default: ${defaultLimit})`, parseWholeNumber(1, 10_000))
    .addHelpText('after', examples(['runs list', 'runs list --limit 100 --json']))
    .action((options: { limit?: number }) =>
      act(async (invocation) => {
        const { listRuns } = await import('../../runs/session/list-runs.js');
        return withWorkplace(invocation, {
          command: 'runs list',
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
  const head = ['run', 'roster', 'state', 'started', 'planned', 'screened', 'failed', 'remaining', 'changes', ''];
  const rows = listed.map((run) => {
    const { planned, screened, failed, remaining, changes } = run;
    const counts = [planned, screened, failed, remaining, changes].map((count) => count ?? '-');
    const started = run.startedAt.toISOString().slice(0, 16).replace('T', ' ');
    return [run.runId, run.roster ?? '-', run.state, started, ...counts, run.reasons.join('; ')];
  });
  return [head, ...rows];
}

function addShow(runs: Command, act: Act): void {
  runs
    .command('show <id>')
    .description('what one run counted and found')
    .addHelpText('after', examples(['runs show 12', 'runs show 12 --json']))
    .action((id: string) =>
      act(async (invocation) => {
        const { showRun } = await import('../../runs/session/list-runs.js');
        return withWorkplace(invocation, {
          command: 'runs show',
          prepare: () => parseRunId(id),
          work: async ({ database }) => {
            const run = await showRun(database, id);
            return {
              exitCode: exitCodes.complete,
              document: { schema: 'nightscreen/run/1', ...run },
              text: formatFacts(run) + formatRejects(run.rejects),
            };
          },
        });
      }),
    );
}

/** Where each rejected row stands and why; not what it holds, which is personal data. */
function formatRejects(rejects: RunFacts['rejects']): string {
  if (rejects.length === 0) return '';
  const rows = rejects.map(({ line, column, reason, reference }) => [
    `line ${line}`,
    reference ?? '-',
    column ?? '-',
    rejectWords[reason],
  ]);
  return `\nRejected rows\n${formatTable(rows)}`;
}

function addResume(runs: Command, act: Act): void {
  runs
    .command('resume <id>')
    .description('go on with a run that stopped early')
    .addHelpText('after', examples(['runs resume 12']))
    .action((id: string) =>
      act(async (invocation) => {
        const { resumeRun } = await import('../../runs/resume-run.js');
        return withWorkplace(invocation, {
          command: 'runs resume',
          prepare: (config) => requireService(config, () => parseRunId(id)),
          work: async (workplace) => presentRun(await resumeRun(workplace, id, invocation.signal)),
        });
      }),
    );
}

/** Adds `runs list`, `runs show` and `runs resume`. */
export function addRunsCommand(program: Command, act: Act): void {
  const runs = program.command('runs').description('list, show or resume runs');
  runs.addHelpText('after', examples(['runs list', 'runs show 12', 'runs resume 12']));
  addList(runs, act);
  addShow(runs, act);
  addResume(runs, act);
}
