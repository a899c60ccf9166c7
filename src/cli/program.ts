import { Command, Help, type HelpConfiguration, Option } from 'commander';
import { logLevels } from '../vocabulary.js';
import type { AddCommand } from './command.js';
import type { Act } from './invocation.js';
import { version } from './process.js';

type Entry = [summary: string, load: () => Promise<{ command: AddCommand }>];

/** The commands in the order of help, each with its summary and its module, which is loaded only where it is called. */
const commands: Readonly<Record<string, Readonly<Record<string, Entry>>>> = {
  'Daily commands:': {
    init: ['write a configuration for a service and a roster file', () => import('./commands/init.js')],
    demo: ['run two nights against a simulated service', () => import('./commands/demo.js')],
    onboard: ['import a roster file, screen every new customer, report', () => import('./commands/onboard.js')],
    rescreen: ['the nightly run: import, screen who is due, report', () => import('./commands/rescreen.js')],
    review: ['decide about alerts: export a list, import dispositions', () => import('./commands/review.js')],
    report: ['write the report of a run or of a span, and mail it', () => import('./commands/report.js')],
    status: ['export the state of each customer', () => import('./commands/status.js')],
  },
  'More:': {
    import: ['read a roster and store its customers, no searches', () => import('./commands/import.js')],
    screen: ['screen the customers of an imported roster', () => import('./commands/screen.js')],
    sweep: ['read all dossiers of the service, report what changed', () => import('./commands/sweep.js')],
    reconcile: ['compare rosters and dossiers, invite, receive events', () => import('./commands/reconcile.js')],
    coverage: ['count customers screened, never screened and overdue', () => import('./commands/coverage.js')],
    'check <name>': ['search for one name, and store the answer as evidence', () => import('./commands/check.js')],
    runs: ['list, show, resume or accept runs', () => import('./commands/runs.js')],
    evidence: ['show what proves a screening; verify and write packs', () => import('./commands/evidence.js')],
    'erase <customer>': ['remove what is personal of a customer who left', () => import('./commands/erase.js')],
    retention: ['erase who left long ago, remove old nights, legal holds', () => import('./commands/retention.js')],
    roster: ['inspect roster files, and accept unreadable rows', () => import('./commands/roster.js')],
    outbox: ['list, send again or drop queued mail and messages', () => import('./commands/outbox.js')],
    schedule: ['run the jobs on schedule until a signal; the watchdog', () => import('./commands/schedule.js')],
    worker: ['make searches of runs, on any number of hosts', () => import('./commands/worker.js')],
    doctor: ['check settings, key, service, database, rosters, mail', () => import('./commands/doctor.js')],
    selftest: ['test this installation by nights with known results', () => import('./commands/selftest.js')],
    config: ['show and accept the settings; shell completion', () => import('./commands/config.js')],
    db: ['migrate, back up or restore the database', () => import('./commands/db.js')],
    'sandbox [lists]': ['simulate the service on this machine until a signal', () => import('./commands/sandbox.js')],
    'assure <list>': ['measure how many listed names the service finds', () => import('./commands/assure.js')],
  },
};

const toName = (usage: string): string => usage.replace(/ .*/, '');

export const commandNames = Object.values(commands).flatMap((group) => Object.keys(group).map(toName));

const examplesAndExitCodes = `
Examples:
  $ nightscreen demo
  $ nightscreen onboard --file customers.csv

Exit codes: 0 complete, 1 unexpected, 2 refused before anything was spent,
            3 finished with problems, 4 stopped early and resumable
`;

/** Help fits a terminal of 24 lines: `help` and, below the program, `--help` are not listed, and terms are short. */
const shortHelp: HelpConfiguration = {
  visibleCommands: (command) => new Help().visibleCommands(command).filter((inner) => inner.name() !== 'help'),
  visibleOptions: (command) =>
    new Help().visibleOptions(command).filter(({ long }) => long !== '--help' || command.parent === null),
  subcommandTerm: (command) =>
    [
      command.name(),
      ...command.registeredArguments.map((each) => (each.required ? `<${each.name()}>` : `[${each.name()}]`)),
    ].join(' '),
};

interface HelpOutput {
  writeOut: (text: string) => void;
  writeErr: (text: string) => void;
}

/** The program without its commands, which `add` adds. Usage errors are thrown. */
function createBareProgram(output: HelpOutput, add: (program: Command, usage: string, summary: string) => void) {
  const program = new Command('nightscreen')
    .description('Screens customer rosters night after night and reports exactly what changed.')
    .version(version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .option('--config <file>', 'configuration file (default: ./nightscreen.config.yaml when there is one)')
    .option('--organisation <name>', 'one of several configured organisations')
    .option('--json', 'print one JSON document on standard output')
    .option('--quiet', 'print no progress and no notices, only errors and results')
    .addOption(new Option('--log-level <level>', 'how much to log').choices(logLevels))
    .exitOverride()
    .configureOutput(output)
    .configureHelp(shortHelp)
    .addHelpText('after', examplesAndExitCodes)
    .addHelpText('afterAll', ({ command }) => (command.parent === null ? '' : 'Global options: nightscreen help'));
  for (const [title, group] of Object.entries(commands)) {
    program.commandsGroup(title);
    for (const [usage, [summary]] of Object.entries(group)) add(program, usage, summary);
  }
  return program.helpCommand('help [command]', 'show help for a command');
}

/** The program with the command that `words` call, or with all; `act` takes its work, and usage errors are thrown. */
export async function createProgram(
  act: Act,
  output: HelpOutput,
  [word = '']: readonly string[] = [],
): Promise<Command> {
  // Loading all takes a third of a second. Completion needs all.
  const isAlone = word !== 'config' && commandNames.includes(word);
  const entries = Object.values(commands).flatMap((group) => Object.entries(group));
  const called = entries.filter(([usage]) => !isAlone || toName(usage) === word);
  const loaded = new Map(
    await Promise.all(called.map(async ([usage, [, load]]) => [usage, (await load()).command] as const)),
  );
  return createBareProgram(output, (program, usage, summary) => loaded.get(usage)?.(program, act, summary));
}

/** What the program prints for words that ask for nothing but its own help or version; null for other words. It loads no command. */
export function findOverview(words: readonly string[]): string | null {
  const [word = '', ...others] = words;
  if (others.length > 0) return null;
  if (['-v', '--version'].includes(word)) return `${version}\n`;
  if (!['-h', '--help', 'help'].includes(word)) return null;
  let text = '';
  const write = (part: string): void => {
    text += part;
  };
  const program = createBareProgram({ writeOut: write, writeErr: write }, (parent, usage, summary) =>
    parent.command(usage).description(summary),
  );
  program.outputHelp();
  return text;
}
