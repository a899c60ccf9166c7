import { hasDetails } from '../reports/list-facts.js';
import {
  describeReason,
  describeRounds,
  describeSnapshot,
  describeWatch,
  listDoubtLines,
  listSnapshotRemarks,
} from '../reports/reasons.js';
import { countNoun, formatCount } from '../reports/text.js';
import { describeDetails, describeWaiting } from '../reports/words.js';
import type { RunDescription } from '../runs/describe-run.js';
import { describeCounts } from './describe-counts.js';
import { describeChanges, describeFound } from './describe-found.js';
import { describeSpan } from './describe-progress.js';
import { formatTable } from './format-table.js';
import { formatAssurance } from './present-assurance.js';
import { formatBecauseOf } from './present-because-of.js';
import { formatCheck } from './present-check.js';

type Row = [string, string];

const inWords = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${describeReason(name)}: ${formatCount(count)}`)
    .join(', ');

const some = (name: string, text: string): Row[] => (text === '' ? [] : [[name, text]]);

function listStanding(run: RunDescription): Row[] {
  return [
    ['run', `${run.runId} (${run.kind}${run.roster === null ? '' : ` of ${run.roster}`}), ${run.mode} key`],
    ['state', run.state === 'running' ? `running, ${run.stage}` : describeState(run)],
    ...run.reasons.map((reason): Row => ['because', reason]),
    ...listHolders(run),
    [
      'time',
      `${run.startedAt.toISOString()} to ${run.finishedAt?.toISOString() ?? 'now'}, ${describeSpan(Math.round(run.seconds))}`,
    ],
    ['account', `${run.account ?? 'not known yet'}; keys ${run.keys.join(', ') || 'none'}`],
    ['version', `${run.version}, settings ${run.settingsDigest.slice(0, 12)}`],
  ];
}

/** The state, and in a word what stopped the run. */
const describeState = ({ state, haltedBy }: RunDescription): string =>
  haltedBy === null ? state : `${state} (${describeReason(haltedBy)})`;

function listHolders({ heldBy, holders, state, resumed }: RunDescription): Row[] {
  const now: Row[] = heldBy
    ? [
        [
          'held by',
          `${heldBy.owner} since ${heldBy.since.toISOString()}, last heard of ${heldBy.heartbeatAgeSeconds} s ago`,
        ],
      ]
    : state === 'running'
      ? [['held by', 'nobody: its process has ended without a word; the next start goes on with it']]
      : [];
  const before = holders.map(({ owner, takenAt, differences }, index): Row => {
    const changed = differences.length === 0 ? '' : `; ${differences.join('; ')}`;
    return [index === 0 ? 'begun by' : 'resumed by', `${owner} at ${takenAt.toISOString()}${changed}`];
  });
  return [
    ...now,
    ...before,
    ...(resumed > 0 ? [['resumed', resumed === 1 ? 'once' : `${resumed} times`] satisfies Row] : []),
  ];
}

function listSums({ sums, planned, calls, snapshot }: RunDescription): Row[] {
  const counted = sums?.counts;
  const rows: Row[] =
    counted === undefined
      ? []
      : [
          ...(counted.rows === 0
            ? []
            : [
                [
                  'roster',
                  describeCounts(pick(counted, ['rows', 'customers', 'rejected', 'duplicates'])),
                ] satisfies Row,
              ]),
          ...(snapshot === null ? [] : [['customers', describeSnapshot(snapshot)] satisfies Row]),
          ...listDoubtLines(snapshot?.doubts ?? []),
          ...(snapshot === null ? [] : listSnapshotRemarks(snapshot).map((remark): Row => ['note', remark])),
          ['in scope', `customers: ${describeCounts(pick(counted, ['inScope', 'planned', 'skipped']))}`],
          ['planned', `customers: ${describeCounts(pick(counted, ['screened', 'reused', 'failed', 'remaining']))}`],
          ...some('asked as', inWords(planned)),
          ...some('failed', inWords(sums?.failedBecause ?? {})),
          ...some('skipped', inWords(sums?.skippedBecause ?? {})),
          ['states', `customers: ${describeCounts(sums?.states ?? {})}`],
          ['found', describeFound(counted)],
          ['changes', describeChanges(counted)],
        ];
  const rate = calls.perSecond === null ? '' : `, ${calls.perSecond} per s while they were made`;
  const billed = sums?.possiblyBilledTwice ?? 0;
  return [
    ...rows,
    ['calls', `${formatCount(calls.sent)}${rate}`],
    ...some('ended', inWords(calls.byOutcome)),
    ...(sums === null ? [] : [['billed twice', `${formatCount(billed)} possibly`] satisfies Row]),
  ];
}

const pick = <Name extends string>(
  counts: Readonly<Record<Name, number>>,
  names: readonly Name[],
): Record<string, number> => Object.fromEntries(names.map((name) => [name, counts[name]]));

function formatBalance({ balance }: RunDescription): string {
  if (balance === null) return '';
  const rows = balance.lines.map(({ sum, left, right }) => [
    left === right ? 'holds' : 'DOES NOT HOLD',
    sum,
    `${formatCount(left)} = ${formatCount(right)}`,
  ]);
  const verdict =
    balance.disagreements.length === 0
      ? 'The database confirms the sums.\n'
      : `The database does not confirm the sums:\n${formatTable(balance.disagreements.map((line) => ['', line]))}`;
  return `\nSums, as the database counts them now\n${formatTable(rows)}${verdict}`;
}

function formatCanaries({ canaries }: RunDescription): string {
  if (canaries.length === 0) return '';
  const rows = canaries.map((canary) => [
    canary.verdict,
    `${canary.name}${canary.label === null ? '' : ` (${canary.label})`}`,
    `${canary.type}, ${canary.expect === 'match' ? 'must be found' : 'must not be found'}`,
    describeRounds(canary),
    canary.found ?? '',
  ]);
  return `\nControl searches\n${formatTable(rows)}`;
}

function listWatch({ watch, earlyWarnings, openItems, details }: RunDescription): Row[] {
  return [
    ...(openItems === null ? [] : [['to decide', describeWaiting(openItems)] satisfies Row]),
    ...(details === null || !hasDetails(details) ? [] : [['details', describeDetails(details)] satisfies Row]),
    ...(watch === null ? [] : describeWatch(watch)).map((line): Row => ['watch', line]),
    ...earlyWarnings.map(({ recipient, changes, queuedAt, acceptedAt }): Row => {
      const critical = `${countNoun(changes, 'critical change')} at ${queuedAt.toISOString()}`;
      if (recipient === '') return ['told early', `${critical}, as an event`];
      return ['told early', `${critical}, mail to ${recipient}${acceptedAt === null ? ' not accepted yet' : ''}`];
    }),
  ];
}

function formatSettings({ settings }: RunDescription): string {
  if (settings === null) return '';
  const { screening, budget, run, service } = { screening: {}, budget: {}, run: {}, service: {}, ...settings };
  return `\nSettings in force when it began\n${formatFacts({ screening, budget, run, service })}`;
}

const resumable: ReadonlySet<string> = new Set(['screen', 'rescreen', 'onboard']);

/** A run's description as lines for people. */
export function formatRunDescription(run: RunDescription): string {
  const files: Row[] =
    run.artifacts === null
      ? []
      : [['files', `${run.artifacts} (${run.reports === 1 ? 'one revision' : `${run.reports} revisions`})`]];
  const sweep: Row[] = run.sweep === null ? [] : [['sweep', describeSweep(run.sweep)]];
  const next: Row[] =
    run.state === 'stopped' && resumable.has(run.kind) ? [['next', `nightscreen runs resume ${run.runId}`]] : [];
  return [
    formatTable([...listStanding(run), ...listSums(run), ...listWatch(run), ...sweep, ...files, ...next]),
    run.check === null ? '' : `\n${formatCheck(run.check)}`,
    run.assurance === null ? '' : `\n${formatAssurance(run.assurance)}`,
    run.becauseOf === null ? '' : formatBecauseOf(run.becauseOf),
    formatBalance(run),
    formatCanaries(run),
    formatSettings(run),
  ].join('');
}

function describeSweep({ unprovenBecause, proven, details, ...counts }: NonNullable<RunDescription['sweep']>): string {
  const { pages, dossiers, appeared, changed, gone } = counts;
  const verdict = proven ? 'proven complete' : `not proven complete: ${unprovenBecause ?? 'no reason stored'}`;
  const { stoppedBecause: _, ...lookUps } = details ?? { stoppedBecause: null };
  const looked = details === null ? '' : `; look-ups: ${describeCounts(lookUps)}`;
  return `${describeCounts({ pages, dossiers, appeared, changed, gone })}; ${verdict}${looked}`;
}

function listFacts(value: unknown, name: string): [string, string][] {
  if (value === null || value === undefined) return [];
  if (value instanceof Date) return [[name, value.toISOString()]];
  if (Array.isArray(value)) {
    const isPlain = value.every((item) => typeof item !== 'object');
    return value.length === 0 ? [] : [[name, isPlain ? value.join('; ') : `${value.length} entries`]];
  }
  if (typeof value === 'object') {
    return Object.entries(value).flatMap(([key, inner]) => listFacts(inner, name === '' ? key : `${name}.${key}`));
  }
  return [[name, String(value)]];
}

/** Any record as aligned lines, nested names joined by points; lists of records are only counted. */
const formatFacts = (record: object): string => formatTable(listFacts(record, ''));
