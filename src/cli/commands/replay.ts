import type { Command } from 'commander';
import { overlaySettings } from '../../config/load-config.js';
import { countNoun, formatCount } from '../../reports/text.js';
import type { replaySettings } from '../../runs/replay.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Outcome } from '../invocation.js';
import { examples, parseInstant } from '../options.js';
import { loadInvocationConfig, withAppContext } from '../session.js';
import { formatTable } from '../text.js';

/** Adds `replay`. */
export function addReplayCommand(program: Command, act: Act): void {
  program
    .command('replay')
    .description('assess stored answers again under other settings, and count the differences; changes nothing')
    .requiredOption('--settings <file>', 'a configuration, or the part that differs from the one in force')
    .option('--since <day>', 'only runs started since then (default: all stored runs)', parseInstant)
    .addHelpText(
      'after',
      examples(['replay --settings stricter.yaml', 'replay --settings stricter.yaml --since 2026-03-01']),
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
  'Decisions stay as they were made; a replay does not know how reviewers would have decided about other items.',
];

type Replay = Awaited<ReturnType<typeof replaySettings>>;

function presentReplay(replay: Replay, file: string): Outcome {
  const { evaluated, notEvaluated, changes, baseline, items, stored, examples } = replay;
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
        `${countNoun(stored.changes, 'change')} and ${countNoun(stored.baseline, 'first-time match', 'first-time matches')}, each assessed under the settings of its night`,
      ],
    ]),
    formatTable([
      ['', 'in force', 'with the file', 'more', 'fewer', 'other severity'],
      toRow('changes', changes),
      ...listParts(changes),
      toRow('first-time matches', baseline),
      ...listParts(baseline),
      ['items to decide', items.present, items.other, items.onlyOther, items.onlyPresent, ''],
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
