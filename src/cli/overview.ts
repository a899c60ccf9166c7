import { Command, Help, type HelpConfiguration, Option } from 'commander';
import { logLevels } from '../vocabulary.js';
import { version } from './process.js';

const daily = 'Daily commands:';
const more = 'More:';

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

/** The program without its commands; `addCommands` adds those of both groups. Usage errors are thrown. */
export function createBareProgram(
  output: { writeOut: (text: string) => void; writeErr: (text: string) => void },
  addCommands: (program: Command, group: 'daily' | 'more') => void,
): Command {
  const program = new Command('nightscreen')
    .description('Screens customer rosters night after night and reports exactly what changed.')
    .version(version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .option('--config <file>', 'configuration file (default: ./nightscreen.config.yaml when there is one)')
    .option('--json', 'print one JSON document on standard output')
    .option('--quiet', 'print no progress and no notices, only errors and results')
    .addOption(new Option('--log-level <level>', 'how much to log').choices(logLevels))
    .exitOverride()
    .configureOutput(output)
    .configureHelp(shortHelp)
    .addHelpText('after', examplesAndExitCodes)
    .addHelpText('afterAll', ({ command }) => (command.parent === null ? '' : 'Global options: nightscreen help'));
  program.commandsGroup(daily);
  addCommands(program, 'daily');
  program.commandsGroup(more);
  addCommands(program, 'more');
  return program.helpCommand('help [command]', 'show help for a command');
}

/** The name and the summary of each command. Loading the commands takes three times as long as printing this. */
const summaries = {
  daily: {
    init: 'write a configuration for a service and a roster file',
    demo: 'run two nights against a simulated service',
    onboard: 'import a roster file, screen every new customer, report',
    rescreen: 'the nightly run: import, screen who is due, report',
    review: 'decide about alerts: export a list, import dispositions',
    report: 'write the report of a run or of a span, and mail it',
    status: 'export the state of each customer',
  },
  more: {
    import: 'read a roster and store its customers, without searching',
    screen: 'screen the customers of an imported roster',
    sweep: 'read all dossiers of the service and report what changed',
    reconcile: 'compare rosters and dossiers, invite, receive events',
    coverage: 'count customers screened, never screened and overdue',
    'check <name>': 'search for one name, and store the answer as evidence',
    runs: 'list, show, resume or accept runs',
    roster: 'inspect roster files, and accept unreadable rows',
    outbox: 'list, send again or drop queued mail and messages',
    schedule: 'run the jobs on schedule until a signal; the watchdog',
    doctor: 'check settings, key, service, database, rosters, mail',
    config: 'show and accept the settings; shell completion',
    db: 'migrate, back up or restore the database',
    'sandbox [lists]': 'simulate the service on this machine until a signal',
    'assure <list>': 'measure how many listed names the service finds',
  },
} as const;

/** The summary of a command at the top; its description where it has no other. */
export const findSummary = (name: string): string =>
  Object.values(summaries)
    .flatMap((group) => Object.entries(group))
    .find(([usage]) => usage.split(' ')[0] === name)?.[1] ?? '';

export const commandNames = Object.values(summaries).flatMap((group) =>
  Object.keys(group).map((name) => name.replace(/ .*/, '')),
);

/** What the program prints for words that ask for nothing but its own help or version; null for other words. */
export function findOverview(words: readonly string[]): string | null {
  const [word = '', ...others] = words;
  if (others.length > 0) return null;
  if (['-v', '--version'].includes(word)) return `${version}\n`;
  if (!['-h', '--help', 'help'].includes(word)) return null;
  let text = '';
  const write = (part: string): void => {
    text += part;
  };
  const program = createBareProgram({ writeOut: write, writeErr: write }, (parent, group) => {
    for (const [name, summary] of Object.entries(summaries[group])) parent.command(name).description(summary);
  });
  program.outputHelp();
  return text;
}
