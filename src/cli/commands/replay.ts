import type { Command } from 'commander';
import { overlaySettings } from '../../config/load-config.js';
import { countNoun, formatCount } from '../../reports/text.js';
import type { Replay } from '../../runs/replay.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Outcome } from '../invocation.js';
import { examples, parseInstant } from '../options.js';
import { loadInvocationConfig, withAppContext } from '../session.js';
import { formatTable } from '../text.js';

/** Adds `replay`. */
export function addReplayCommand(program: Command, act: Act): void {
  program
    .command('replay')
    .description(
      'judge stored answers once more under other settings, and count what would be otherwise; changes nothing',
    )
    .requiredOption(
      '--settings <file>',
      'a configuration, or the part of one that is otherwise, laid over the one in force',
    )
    .option('--since <day>', 'count runs begun since then (default: all that are kept)', parseInstant)
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

/** What no replay can know, whatever the settings. */
const limits = [
  'What the service left out it cannot show: which matches it returns, and which of them it flags as hits, its own threshold has decided when it was asked. A lower one there needs new searches.',
  'Decisions are taken as they were made; what reviewers would have decided about other items nobody knows.',
];

/** What `replay` says. */
function presentReplay(replay: Replay, file: string): Outcome {
  const { evaluated, notEvaluated, changes, baseline, items, stored, examples } = replay;
  const cannot = [
    ...notEvaluated.map((words) => `Not evaluated, because stored answers do not show it: ${words}.`),
    ...limits,
  ];
  const sections = [
    formatTable([
      [
        'judged',
        `${formatCount(replay.answers)} answers of ${countNoun(replay.parties, 'party', 'parties')}${replay.since === null ? ', all that are kept' : `, of runs since ${replay.since.toISOString()}`}; an answer that repeats the one before is not counted`,
      ],
      ['evaluated', evaluated.length === 0 ? `${file} changes nothing that can be evaluated` : evaluated.join('; ')],
      [
        'stored',
        `${countNoun(stored.changes, 'change')} and ${countNoun(stored.baseline, 'first-time match', 'first-time matches')}, each judged under the settings of its night`,
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
    examples.length === 0 ? 'no event would be otherwise\n' : formatTable(examples.map(toExampleRow)),
    cannot.map((sentence) => `${sentence}\n`).join(''),
    'nothing was changed, and the service was asked nothing\n',
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
