import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { flagError } from '../../errors.js';
import type { AssuranceOptions, AssuranceResult } from '../../runs/checks/assurance.js';
import { partyTypes } from '../../vocabulary.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Invocation, Outcome } from '../invocation.js';
import { examples, parseWholeNumber } from '../options.js';
import { describeCost, formatAssurance } from '../present-run.js';
import { loadInvocationConfig, requireService, withAppContext } from '../session.js';
import { formatTable } from '../text.js';

interface AssureOptions {
  list?: string;
  sample?: number;
  seed?: string;
  asListed?: true;
  variants?: true;
  type?: (typeof partyTypes)[number];
  atLeast?: number;
  dryRun?: true;
}

function parseShare(text: string): number {
  const [, digits, percent] = /^(\d{1,3}(?:\.\d{1,6})?) ?(%?)$/.exec(text) ?? [];
  const share = Number(digits) / (percent ? 100 : 1);
  if (digits !== undefined && share >= 0 && share <= 1) return share;
  throw new InvalidArgumentError('It must be a share from 0 to 1, or per cent such as 95%.');
}

const describeStrata = (strata: Readonly<Record<string, number>>): string =>
  Object.entries(strata)
    .map(([stratum, names]) => `${names} ${stratum}`)
    .join('; ');

async function readOptions(invocation: Invocation, options: AssureOptions): Promise<AssuranceOptions> {
  if (options.list === undefined)
    throw flagError('--list', 'is missing: the published list with the names to search for');
  if (options.sample === undefined) throw flagError('--sample', 'is missing: how many names to search for');
  const { readPublishedList } = await import('../../lists/published-list.js');
  const list = await readPublishedList(resolve(invocation.folder, options.list));
  if (options.type === undefined && list.parties.some((party) => party.type === null)) {
    const message = `is missing: ${list.file} has names without a type (person or entity)`;
    throw flagError('--type', message);
  }
  const { sample: size, seed, type, atLeast } = options;
  return { list, size, seed, type, atLeast, spelling: options.variants ? 'variants' : 'as_listed' };
}

async function preview(invocation: Invocation, options: AssuranceOptions): Promise<Outcome> {
  const { previewAssurance } = await import('../../runs/checks/assurance.js');
  const found = previewAssurance(loadInvocationConfig(invocation).settings, options);
  const { cost } = found;
  return {
    exitCode: exitCodes.complete,
    document: { schema: 'nightscreen/assurance-preview/1', ...found },
    text: formatTable([
      ['list', `${found.file}: ${found.listed} entries, SHA-256 ${found.digest}`],
      ['sample', `${found.calls} names, seed ${found.seed}: ${describeStrata(found.strata)}`],
      ['calls', `${found.calls}; repeats not counted`],
      ['minutes', String(found.minutes)],
      ['cost', describeCost(cost)],
    ]),
  };
}

async function measure(invocation: Invocation, options: AssuranceOptions): Promise<Outcome> {
  const { runAssurance } = await import('../../runs/checks/assurance.js');
  const config = loadInvocationConfig(invocation);
  requireService(config, () => {});
  return withAppContext(invocation, { config, isLasting: true }, async (app) =>
    presentAssurance(await runAssurance(app, options, invocation.signal)),
  );
}

async function show(invocation: Invocation, runId: string): Promise<Outcome> {
  const { showAssurance } = await import('../../runs/checks/assurance.js');
  return withAppContext(invocation, { needsDatabase: true }, async ({ database }) => ({
    ...presentAssurance(await showAssurance(database, runId)),
    exitCode: exitCodes.complete,
  }));
}

/** Adds `assure` and `assure show`. */
export function addAssureCommand(program: Command, act: Act): void {
  const assure = program
    .command('assure')
    .description('measure how many names of a published list the service finds')
    .option('--list <file>', 'the published list')
    .option('--sample <count>', 'how many of its names to search for', parseWholeNumber(1, 100_000))
    .option('--seed <text>', 'repeats an earlier sample')
    .addOption(new Option('--as-listed', 'send names as the list writes them (the default)').conflicts('variants'))
    .option('--variants', 'send names with usual typing errors')
    .addOption(new Option('--type <type>', 'the type of names without a type in the list').choices(partyTypes))
    .option('--at-least <share>', 'exit code 3 when fewer are found, as in 0.95 or 95%', parseShare)
    .option('--dry-run', 'print the number of calls and their cost, and make none')
    .addHelpText('after', examples(['assure --list sdn.csv --sample 500 --at-least 95%', 'assure show 12']))
    .action((options: AssureOptions) =>
      act(async (invocation) => {
        const read = await readOptions(invocation, options);
        return options.dryRun ? preview(invocation, read) : measure(invocation, read);
      }),
    );
  assure
    .command('show <run>')
    .description('show an earlier measurement')
    .addHelpText('after', examples(['assure show 12', 'assure show 12 --json']))
    .action((runId: string) => act((invocation) => show(invocation, runId)));
}

const presentAssurance = (result: AssuranceResult): Outcome => ({
  exitCode: result.exitCode,
  document: { schema: 'nightscreen/assurance/1', ...result },
  text: formatAssurance(result),
});
