import {
  describeReason,
  describeRestoration,
  describeRounds,
  describeSnapshot,
  describeWatch,
  listSnapshotRemarks,
} from '../../reports/reasons.js';
import { countNoun, describeSpan, formatCount } from '../../reports/text.js';
import {
  describeAcceptance,
  describeAlerts,
  describeDetails,
  describeExpired,
  describeStates,
} from '../../reports/words.js';
import type { describeRun } from '../../runs/describe-run.js';
import { listRuns, parseRunId } from '../../runs/run-reference.js';
import type { acceptRun } from '../../runs/screening/accept-run.js';
import { readRestorations } from '../../store/backup/restoration.js';
import { codeWords } from '../../vocabulary/words.js';
import { isScreeningKind, listableOutcomes } from '../../vocabulary.js';
import { choice, defineDatabaseCommand, definePreparedCommand, text, withDefault } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { toOutcome } from '../invocation.js';
import { notifyDecidedStates } from '../notify.js';
import { acceptOptions, findRosterAcceptance, limitTo, shared } from '../options.js';
import {
  describePlace,
  describePlanned,
  describeRows,
  formatAssurance,
  formatBecauseOf,
  formatCheck,
  listDoubts,
  listFindings,
  listReasons,
  nameRun,
  presentRun,
  toBecauseOfDocument,
} from '../present-run.js';
import { describeCounts, describeReasons, formatTable, isForTerminal, type Row, showTimes } from '../text.js';

const defaultLimit = 20;

const requireRunId = ({ argument: id }: { argument: string }): number => parseRunId(id);

const show = definePreparedCommand({
  usage: 'show <id>',
  description: 'the counts, findings, settings and processes of one run',
  options: {
    list: choice('<what>', 'also list the remaining, failed or skipped customers, or all rejected rows', [
      ...listableOutcomes,
      'rejected',
    ]),
    limit: withDefault(limitTo(1_000_000), defaultLimit),
    after: text('<reference>', 'start the list after this customer'),
  },
  examples: ['runs show 12', 'runs show 12 --list failed --limit 100'],
  prepare: requireRunId,
  run: async (app, { argument: id, options: { list, limit, after = null } }) => {
    const { describeRun } = await import('../../runs/describe-run.js');
    const run = await describeRun(app, id, { list, limit, after });
    const { listed, ...facts } = run;
    return toOutcome(
      'nightscreen/run/2',
      {
        ...facts,
        ...listed,
        becauseOf: run.becauseOf && toBecauseOfDocument(run.becauseOf),
      },
      formatRunDescription(run) + formatListed(listed, run.artifacts),
    );
  },
});

const resume = definePreparedCommand({
  usage: 'resume <id>',
  description: 'resume a run that stopped early',
  options: acceptOptions,
  examples: ['runs resume 12', 'runs resume 12 --json'],
  needs: { service: true, isLasting: true },
  prepare: requireRunId,
  run: async (app, { argument: id, options, signal }) => {
    const { resumeRun } = await import('../../runs/resume-run.js');
    const acceptRoster = await findRosterAcceptance(app.database, options);
    return presentRun(await resumeRun(app, id, signal, { acceptRoster }));
  },
});

const accept = definePreparedCommand({
  usage: 'accept <id>',
  description: 'accept a held run or sweep, without new searches; name and reason are recorded',
  options: { by: shared.by, reason: shared.reason },
  examples: [
    'runs accept 12 --by "A. Meyer" --reason "it was confirmed"',
    'runs accept 12 --by "A. Meyer" --reason "withdrawn list"',
  ],
  prepare: requireRunId,
  run: async (app, { argument: id, options, invocation, signal }) => {
    const { acceptRun } = await import('../../runs/screening/accept-run.js');
    const { toExitCode } = await import('../../runs/run-summary.js');
    const { findAcceptance } = await import('../../runs/settings-acceptance.js');
    const acceptance = await findAcceptance(app.database, options);
    const accepted = await acceptRun(app, id, acceptance, signal);
    if (accepted.kind === 'accepted') await notifyDecidedStates(app, invocation);
    const { name, isAttested } = acceptance.by;
    return toOutcome(
      'nightscreen/run-accept/1',
      { ...accepted, by: name, isAttested },
      describeAccepted(accepted, name),
      accepted.kind === 'proposed' ? exitCodes.incomplete : toExitCode(accepted.state),
    );
  },
});

export const command = defineDatabaseCommand({
  usage: 'runs',
  isForEach: true,
  description: 'list the latest runs, newest first; show, resume or accept one',
  options: { limit: withDefault(limitTo(10_000), defaultLimit) },
  examples: ['runs', 'runs --limit 100 --json'],
  commands: [show, resume, accept],
  run: async ({ database, settings }, { options: { limit } }) => {
    const listed = await listRuns(database, settings.organisation, limit);
    const restorations = await readRestorations(database);
    const missing = restorations.map((one) => `\nRestored: ${showTimes(describeRestoration(one))}.\n`).join('');
    return toOutcome('nightscreen/run-list/1', { runs: listed, restorations }, formatRunList(listed) + missing);
  },
});

type ListedRun = Awaited<ReturnType<typeof listRuns>>[number];

/** The runs, and below them why each is not complete, because a table has no room for reasons. */
function formatRunList(listed: readonly ListedRun[]): string {
  if (listed.length === 0) return 'no runs yet\n';
  const head = ['run', 'roster', 'state', 'start (UTC)', 'planned', 'changes'];
  const rows = listed.map((run) => [
    run.runId,
    run.roster ?? '-',
    describeRunState(run),
    run.startedAt.toISOString().slice(11, 16),
    run.planned ?? '-',
    run.changes ?? '-',
  ]);
  const firstWith = new Map<string, string>();
  const reasons = listed.flatMap((run) => {
    const why = listRunReasons(run);
    const key = why.join('\n');
    if (key === '') return [];
    const former = firstWith.get(key);
    if (former !== undefined) return [[run.runId, `as ${former}`]];
    firstWith.set(key, run.runId);
    return why.map((reason, index) => [index === 0 ? run.runId : '', reason]);
  });
  return `${formatTable([head, ...rows])}${reasons.length === 0 ? '' : `\nWhy\n${formatTable(reasons)}`}`;
}

/** The state, and the customers that were planned and are not screened. */
function describeRunState({ state, failed, remaining }: ListedRun): string {
  const counts = [failed && `${formatCount(failed)} failed`, remaining && `${formatCount(remaining)} remaining`];
  const open = counts.filter(Boolean).join(', ');
  return open === '' ? codeWords.runState[state] : `${codeWords.runState[state]}: ${open}`;
}

function listRunReasons({ state, reasons, heldBy }: ListedRun): readonly string[] {
  if (state !== 'running') return reasons;
  return [heldBy === null ? 'its process died; the next start resumes it' : `held by ${heldBy}`];
}

function describeAccepted(accepted: Awaited<ReturnType<typeof acceptRun>>, name: string): string {
  const { runId } = accepted;
  if (accepted.kind === 'proposed' && accepted.waitsFor === 'owner') {
    return `${name} accepts ${runId}; nothing has changed yet. The login that owns the tables applies it with the same command\n`;
  }
  if (accepted.kind === 'proposed') {
    return `${name} proposes to accept ${runId}; nothing has changed yet. A second person accepts it with the same command\n`;
  }
  if (accepted.dossiers > 0) {
    const removed = countNoun(accepted.dossiers, 'missing dossier');
    return `${runId} is accepted by ${name}: the next nightscreen sweep removes ${removed}, unless they are listed again\n`;
  }
  const answers =
    accepted.parties === 0 ? '' : `the answers of ${countNoun(accepted.parties, 'party', 'parties')} are valid; `;
  const report = `nightscreen report --run ${runId}`;
  return `${runId} is accepted by ${name}: ${answers}no alert was closed. ${report} writes its report again\n`;
}

type RunDescription = Awaited<ReturnType<typeof describeRun>>;

function formatRejects({ list, rejects, rejectsInAll }: RunDescription['listed'], artifacts: string | null): string {
  if (rejects.length === 0) {
    return list === 'rejected'
      ? '\nRejected rows\nnone: this run has rejected no row; the run that imported the roster lists those of its import\n'
      : '';
  }
  // Who asks for the list asks for the customers.
  const isNamed = list === 'rejected' || isForTerminal();
  const rows = rejects.map((reject) => [...describePlace(reject, { isNamed }), codeWords.reject[reject.reason]]);
  const more = rejectsInAll - rejects.length;
  const rest = more > 0 ? `and ${formatCount(more)} more: --list rejected --limit ${rejectsInAll}\n` : '';
  const files =
    artifacts === null
      ? ''
      : `whole rows to correct and import again: rejects.csv (of related parties: rejects-parties.csv) in ${artifacts}\n`;
  return `\nRejected rows, by file and line\n${formatTable(rows)}${rest}${files}`;
}

/** The rows and customers of `--list`; `artifacts` is the folder of the run's files, null when there are none. */
export function formatListed(listed: RunDescription['listed'], artifacts: string | null): string {
  const { list, customers, next } = listed;
  if (list === null || list === 'rejected') return formatRejects(listed, artifacts);
  const rows = customers.map(({ reference, planned, because }) => [
    reference,
    planned === because ? '' : describeReason(planned),
    because === null ? '' : describeReason(because),
  ]);
  const title = `\n${list.slice(0, 1).toUpperCase()}${list.slice(1)} customers\n`;
  const more = next === null ? '' : `there are more: --list ${list} --after ${JSON.stringify(next)}\n`;
  return rows.length === 0 ? `${title}none\n` : `${title}${formatTable(rows)}${more}`;
}

const some = (name: string, text: string): Row => text !== '' && [name, text];

function listStatus(run: RunDescription): Row[] {
  return [
    ['run', `${nameRun(run)}, ${run.mode} key`],
    ['state', run.state === 'running' ? `running, ${run.stage}` : describeState(run)],
    ...listReasons(run.reasons),
    ...listHolds(run),
    ...listHolders(run),
    [
      'time',
      `${run.startedAt.toISOString()} to ${run.finishedAt?.toISOString() ?? 'now'}, ${describeSpan(Math.round(run.seconds))}`,
    ],
    ['account', `${run.account ?? 'unknown yet'}; keys ${run.keys.join(', ') || 'none'}`],
    ['version', `${run.version}, settings ${run.settingsDigest.slice(0, 12)}`],
  ];
}

const listHolds = ({ holds, acceptances }: RunDescription): Row[] => [
  ...holds.map(
    ({ kind, acceptedAt }): Row => ['held', `${kind}, ${acceptedAt === null ? 'not accepted yet' : 'accepted'}`],
  ),
  ...acceptances.map((one): Row => ['acceptance', describeAcceptance(one, 'UTC')]),
];

const describeState = ({ state, haltedBy }: RunDescription): string =>
  haltedBy === null ? codeWords.runState[state] : `${codeWords.runState[state]} (${describeReason(haltedBy)})`;

function describeWorker({ owner, chunks, held, searches, perSecond }: RunDescription['workers'][number]): Row {
  const rate = perSecond === null ? '' : `, ${perSecond} per s`;
  const now = held === 0 ? '' : `; searches ${countNoun(held, 'chunk')} now`;
  return [
    'worker',
    `${owner}: ${countNoun(chunks, 'chunk')} with ${countNoun(searches, 'search', 'searches')}${rate}${now}`,
  ];
}

function listHolders({ heldBy, holders, workers, state, resumed, unproven }: RunDescription): Row[] {
  const now = heldBy
    ? `${heldBy.owner} since ${heldBy.since.toISOString()}, last heartbeat ${heldBy.heartbeatAgeSeconds} s ago`
    : 'no process: the last one died; the next start resumes the run';
  const before = holders.map(({ owner, takenAt, differences }, index): Row => {
    const changed = differences.length === 0 ? '' : `; ${differences.join('; ')}`;
    return [index === 0 ? 'started by' : 'resumed by', `${owner} at ${takenAt.toISOString()}${changed}`];
  });
  return [
    (heldBy !== null || state === 'running') && ['held by', now],
    ...before,
    ...workers.map(describeWorker),
    resumed > 0 && ['resumed', resumed === 1 ? 'once' : `${resumed} times`],
    (unproven ?? 0) > 0 && ['not proven yet', `the answers for ${countNoun(unproven ?? 0, 'customer')}`],
  ];
}

function listSums({ sums, planned, calls, snapshot }: RunDescription): Row[] {
  const rate = calls.perSecond === null ? '' : `, ${calls.perSecond} per s`;
  return [
    ...(sums === null ? [] : listCounts(sums, planned, snapshot)),
    ['calls', `${formatCount(calls.sent)}${rate}`],
    some('ended', describeReasons(calls.byOutcome)),
    sums !== null && ['billed twice', `${formatCount(sums.possiblyBilledTwice)} possibly`],
  ];
}

function listCounts(
  { counts, failedBecause, skippedBecause, states }: NonNullable<RunDescription['sums']>,
  planned: RunDescription['planned'],
  snapshot: RunDescription['snapshot'],
): Row[] {
  return [
    counts.rows > 0 && ['roster', describeRows(counts)],
    ...(snapshot === null ? [] : listSnapshot(snapshot)),
    ['in scope', countNoun(counts.inScope, 'customer')],
    ['screening', describePlanned(counts)],
    some('planned as', describeReasons(planned)),
    some('failed', describeReasons(failedBecause)),
    some('skipped', describeReasons(skippedBecause)),
    ['states', `customers: ${describeStates(states)}`],
    ...listFindings(counts),
  ];
}

const listSnapshot = (snapshot: NonNullable<RunDescription['snapshot']>): Row[] => [
  ['customers', describeSnapshot(snapshot)],
  ...listDoubts(snapshot.doubts),
  ...listSnapshotRemarks(snapshot).map((remark) => ['note', remark]),
];

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

function formatControls({ controls }: RunDescription): string {
  if (controls.length === 0) return '';
  const rows = controls.map((control) => [
    control.verdict,
    `${control.name}${control.label === null ? '' : ` (${control.label})`}`,
    `${control.type}, ${control.expect === 'match' ? 'must be found' : 'must not be found'}`,
    describeRounds(control),
    control.found ?? '',
  ]);
  return `\nControl searches\n${formatTable(rows)}`;
}

function listWatch({ watch, earlyWarnings, openAlerts, settled, details }: RunDescription): Row[] {
  const fetched = details && describeDetails(details);
  const expired = describeExpired(settled);
  return [
    openAlerts !== null && ['alerts', describeAlerts(openAlerts)],
    expired !== null && ['alerts', `${expired}: their alerts are open again`],
    fetched !== null && ['details', fetched],
    ...(watch === null ? [] : describeWatch(watch)).map((line): Row => ['watch', line]),
    ...earlyWarnings.map(({ recipient, changes, queuedAt, acceptedAt }): Row => {
      const critical = `${countNoun(changes, 'critical change')} at ${queuedAt.toISOString()}`;
      if (recipient === '') return ['sent early', `${critical}, as an event`];
      return ['sent early', `${critical}, mail to ${recipient}${acceptedAt === null ? ' not accepted yet' : ''}`];
    }),
  ];
}

function formatSettings({ settings }: RunDescription): string {
  if (settings === null) return '';
  const { screening, budget, run, service } = { screening: {}, budget: {}, run: {}, service: {}, ...settings };
  return `\nSettings at the start of the run\n${formatFacts({ screening, budget, run, service })}`;
}

export function formatRunDescription(run: RunDescription): string {
  const revisions = run.reports === 1 ? 'one revision' : `${run.reports} revisions`;
  return [
    formatTable([
      ...listStatus(run),
      ...listSums(run),
      ...listWatch(run),
      run.sweep !== null && ['sweep', describeSweep(run.sweep)],
      run.artifacts !== null && ['files', `${run.artifacts} (${revisions})`],
      run.state === 'stopped' && isScreeningKind(run.kind) && ['next', `nightscreen runs resume ${run.runId}`],
    ]),
    run.check === null ? '' : `\n${formatCheck(run.check)}`,
    run.assurance === null ? '' : `\n${formatAssurance(run.assurance)}`,
    run.becauseOf === null ? '' : formatBecauseOf(run.becauseOf),
    formatBalance(run),
    formatControls(run),
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

/** Any record as aligned lines, nested names joined by dots; lists of records are only counted. */
const formatFacts = (record: object): string => formatTable(listFacts(record, ''));
