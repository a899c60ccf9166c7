import { countNoun, formatCount } from '../reports/text.js';
import type { replaySettings } from '../runs/replay.js';
import { exitCodes } from './exit-code.js';
import type { Outcome } from './invocation.js';
import { formatTable } from './text.js';

/** The limits of any replay. */
const limits = [
  'The threshold of the service decided at the time of the search which matches it returned and flagged as hits. A replay cannot show other matches; a lower threshold of the service needs new searches.',
  'Dispositions stay as they were made. A replay does not know how reviewers would have decided about other alerts.',
];

type Replay = Awaited<ReturnType<typeof replaySettings>>;

/** The result of `config replay`; `file` has the other settings. */
export function presentReplay(replay: Replay, file: string): Outcome {
  const { evaluated, notEvaluated, changes, baseline, alerts, stored, examples } = replay;
  const cannot = [
    ...(replay.droppedRuns === 0
      ? []
      : [
          `The answers of ${countNoun(replay.droppedRuns, 'run')} are no longer stored. The first later answer of a party counts as its first screening.`,
        ]),
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
