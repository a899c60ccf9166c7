import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { overlaySettings } from '../../config/load-config.js';
import { flagError } from '../../errors.js';
import { countNoun, formatCount } from '../../reports/text.js';
import type { AssuranceOptions, AssuranceResult } from '../../runs/checks/assurance.js';
import type { replaySettings } from '../../runs/replay.js';
import { partyTypes } from '../../vocabulary.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Invocation, Outcome } from '../invocation.js';
import { examples, parseInstant, parseWholeNumber, shared } from '../options.js';
import { describeCost, formatAssurance } from '../present-run.js';
import { loadInvocationConfig, requireService, withAppContext } from '../session.js';
import { formatTable } from '../text.js';

interface AssureOptions {
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

async function readOptions(invocation: Invocation, file: string, options: AssureOptions): Promise<AssuranceOptions> {
  if (options.sample === undefined) throw flagError('--sample', 'is missing: how many names to search for');
  const { readPublishedList } = await import('../../lists/published-list.js');
  const list = await readPublishedList(resolve(invocation.folder, file));
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
  return withAppContext(invocation, { needsDatabase: true }, async ({ database, settings }) => ({
    ...presentAssurance(await showAssurance(database, settings.organisation, runId)),
    exitCode: exitCodes.complete,
  }));
}

/** Adds `lab assure` and `lab replay`. */
export function addLabCommand(program: Command, act: Act): void {
  const lab = program
    .command('lab')
    .summary('measure recall, and try settings on stored answers')
    .description('measure the recall of the service, and try settings on stored answers');
  lab.addHelpText(
    'after',
    examples(['lab assure sdn.csv --sample 500 --dry-run', 'lab replay --settings stricter.yaml']),
  );
  addAssure(lab, act);
  addReplay(lab, act);
}

function addAssure(lab: Command, act: Act): void {
  const assure = lab
    .command('assure <list>')
    .description('measure how many names of a published list the service finds')
    .option('--sample <count>', 'how many of its names to search for', parseWholeNumber(1, 100_000))
    .option('--seed <text>', 'repeats an earlier sample')
    .addOption(new Option('--as-listed', 'send names as the list writes them (the default)').conflicts('variants'))
    .option('--variants', 'send names with usual typing errors')
    .addOption(shared('type', '<type>').choices(partyTypes))
    .option('--at-least <share>', 'exit code 3 when fewer are found, as in 0.95 or 95%', parseShare)
    .addOption(shared('dry-run'))
    .addHelpText('after', examples(['lab assure sdn.csv --sample 500 --at-least 95%', 'lab assure show 12']))
    .action((list: string, options: AssureOptions) =>
      act(async (invocation) => {
        const read = await readOptions(invocation, list, options);
        return options.dryRun ? preview(invocation, read) : measure(invocation, read);
      }),
    );
  assure
    .command('show <run>')
    .description('show an earlier measurement')
    .addHelpText('after', examples(['lab assure show 12', 'lab assure show 12 --json']))
    .action((runId: string) => act((invocation) => show(invocation, runId)));
}

const presentAssurance = (result: AssuranceResult): Outcome => ({
  exitCode: result.exitCode,
  document: { schema: 'nightscreen/assurance/1', ...result },
  text: formatAssurance(result),
});

function addReplay(lab: Command, act: Act): void {
  lab
    .command('replay')
    .description('assess stored answers again under other settings, and count the differences; changes nothing')
    .requiredOption('--settings <file>', 'a configuration, or the part that differs from the one in force')
    .addOption(shared('since', '<day>').argParser(parseInstant))
    .addHelpText(
      'after',
      examples(['lab replay --settings stricter.yaml', 'lab replay --settings stricter.yaml --since 2026-03-01']),
    )
    .action((options: { settings: string; since?: Date }) =>
      act(async (invocation) => {
        const { replaySettings } = await import('../../runs/replay.js');
        const config = loadInvocationConfig(invocation);
        const other = overlaySettings(config.settings, invocation.folder, options.settings);
        return withAppContext(invocation, { config, needsDatabase: true, isLasting: true }, async (app) =>
          presentReplay(await replaySettings(app, other, options.since ?? null), options.settings),
        );
      }),
    );
}

/** The limits of any replay. */
const limits = [
  'The threshold of the service decided at the time of the search which matches it returned and flagged as hits. A replay cannot show other matches; a lower threshold of the service needs new searches.',
  'Dispositions stay as they were made. A replay does not know how reviewers would have decided about other alerts.',
];

type Replay = Awaited<ReturnType<typeof replaySettings>>;

function presentReplay(replay: Replay, file: string): Outcome {
  const { evaluated, notEvaluated, changes, baseline, alerts, stored, examples } = replay;
  const cannot = [
    ...notEvaluated.map((words) => `Not evaluated, because stored answers do not show it: ${words}.`),
    ...limits,
  ];
  const sections = [
    formatTable([
      [
        'assessed',
        `${formatCount(replay.answers)} answers of ${countNoun(replay.parties, 'party', 'parties')}${replay.since === null ? ', all that are stored' : `, of runs since ${replay.since.toISOString()}`}; an answer equal to the previous one is not counted`,
      ],
      ['evaluated', evaluated.length === 0 ? `${file} changes nothing that can be evaluated` : evaluated.join('; ')],
      [
        'stored',
        `${countNoun(stored.changes, 'change')} and ${countNoun(stored.baseline, 'match of a first screening', 'matches of first screenings')}, each assessed under the settings of its night`,
      ],
    ]),
    formatTable([
      ['', 'in force', 'with the file', 'more', 'fewer', 'other severity'],
      toRow('changes', changes),
      ...listParts(changes),
      toRow('first screenings', baseline),
      ...listParts(baseline),
      ['open alerts', alerts.present, alerts.other, alerts.onlyOther, alerts.onlyPresent, ''],
    ]),
    examples.length === 0 ? 'no event would differ\n' : formatTable(examples.map(toExampleRow)),
    cannot.map((sentence) => `${sentence}\n`).join(''),
    'nothing was changed, and no search was made\n',
  ];
  return {
    exitCode: exitCodes.complete,
    document: { schema: 'nightscreen/replay/1', settings: file, ...replay, limits },
    text: sections.join('\n'),
  };
}

const toRow = (name: string, { present, other, onlyOther, onlyPresent, otherSeverity }: Replay['changes']) => [
  name,
  present,
  other,
  onlyOther,
  onlyPresent,
  otherSeverity,
];

const listParts = ({ byKind, bySeverity }: Replay['changes']) => [
  ...bySeverity.map((both) => toPart(both.severity, both)),
  ...byKind.map((both) => toPart(both.kind, both)),
];

const toPart = (name: string, { present, other }: { present: number; other: number }) => [
  `  ${name}`,
  present,
  other,
  '',
  '',
  '',
];

function toExampleRow({ runId, reference, listed, present, other }: Replay['examples'][number]): string[] {
  const describe = (event: typeof present): string =>
    event === null ? 'nothing' : `${event.severity} ${event.kind} (${event.rule})`;
  return [runId, reference, `${listed.name} ${listed.id}`, `${describe(present)} -> ${describe(other)}`];
}
