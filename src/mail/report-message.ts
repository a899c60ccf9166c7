import { basename, join, resolve } from 'node:path';
import type { ChangeGroup } from '../reports/change-groups.js';
import { describeReason, describeWatch } from '../reports/reasons.js';
import type { Coverage, Report, Tally } from '../reports/report.js';
import { countNoun, formatCount, formatMinute, formatSize } from '../reports/text.js';
import { describeAcceptance } from '../reports/words.js';
import type { WrittenReport } from '../reports/write-report.js';
import { codeWords } from '../vocabulary/words.js';
import type { ReportToMail } from './archive.js';
import {
  describeMode,
  digestMessageId,
  formatSubject,
  type MailAttachment,
  type MailMessage,
  type MessageLines,
  toBody,
} from './message.js';
import type { MailSettings, Recipient } from './settings.js';

type ReportWords = Pick<MessageLines, 'sentences' | 'details' | 'actions'>;

/** The first sentences of mail about a whole report: changed settings, the key, what waits, what changed, remarks. */
export function toOpening({ run, accepted, verdict }: Report): readonly string[] {
  return [
    ...accepted.settingsChanges.map(
      (change) =>
        `Settings changed since the last report: ${change.differences.join('; ')} (${describeAcceptance(change, run.timezone)})`,
    ),
    ...describeMode(run.mode),
    verdict.waiting ?? '',
    verdict.news,
    ...verdict.remarks,
  ].filter((sentence) => sentence !== '');
}

function listRunFacts({ run }: Report): MessageLines['facts'] {
  return [
    ['Roster', run.roster ?? 'none'],
    ['Organisation', run.organisation],
    ['Run', `${run.runId} (${run.kind})`],
    ['Finished', formatMinute(run.finishedAt, run.timezone)],
    ['Times in', run.timezone],
  ];
}

const describeOpenAlerts = ({ openAlerts }: Report): readonly string[] =>
  (openAlerts?.bySeverity ?? []).map(
    ({ severity, waiting, overdue }) =>
      `${countNoun(waiting, 'open alert')} ${severity === 'info' ? 'for information' : `rated ${severity}`}, ${overdue === 0 ? 'none' : formatCount(overdue)} overdue`,
  );

/** For reviewers: counts by severity, what waits and until when, and what to do; no personal data. */
function toReportWords(report: Report): ReportWords {
  return {
    sentences: toOpening(report),
    details: [
      ...describeOpenAlerts(report),
      ...(report.changes ?? []).map((group) => describeGroup(group, 'change')),
      ...report.baseline.map((group) =>
        describeGroup(group, 'match of a first screening', 'matches of first screenings'),
      ),
      ...describeNextDue(report),
    ],
    actions: listActions(report),
  };
}

/** `3 critical changes, 2 of them sanction hits`. */
function describeGroup(group: ChangeGroup, singular: string, plural?: string): string {
  const { severity, currentHits: hits } = group;
  const count = countNoun(group.count, singular, plural);
  const what =
    severity === 'info'
      ? `${count} for information`
      : count.replace(' ', ` ${codeWords.severity[severity].toLowerCase()} `);
  if (hits === 0) return what;
  if (hits === group.count) return `${what}, ${hits === 1 ? 'a sanction hit' : 'all of them sanction hits'}`;
  return `${what}, ${formatCount(hits)} of them ${hits === 1 ? 'a sanction hit' : 'sanction hits'}`;
}

function describeNextDue({ changes, cut, run }: Report): readonly string[] {
  if (cut.changes !== null) return cut.changes.nextDueAt === null ? [] : [toNextDue(cut.changes.nextDueAt, run)];
  const due = (changes ?? []).flatMap((group) =>
    group.changes.flatMap(({ alert }) =>
      alert?.dueAt && alert.dueAt >= run.finishedAt && (alert.state === 'open' || alert.state === 'pending_approval')
        ? [alert.dueAt.getTime()]
        : [],
    ),
  );
  if (due.length === 0) return [];
  return [toNextDue(new Date(due.reduce((first, next) => Math.min(first, next))), run)];
}

const toNextDue = (dueAt: Date, { timezone }: Report['run']): string =>
  `Next due among the changes: ${formatMinute(dueAt, timezone)}`;

function listActions({
  verdict,
  openAlerts,
  changes,
  baseline,
  notScreened,
  rejects,
  accepted,
  discrepancies,
  run,
}: Report): readonly string[] {
  const toReview = [...(changes ?? []), ...baseline].some(({ severity }) => severity !== 'info');
  const actions = [
    ...(verdict.level === 'red'
      ? ['Do not rely on this run. Wait for the next one, or ask the operator of Nightscreen.']
      : []),
    ...(openAlerts !== null && openAlerts.waiting > 0
      ? [
          'Enter a disposition for each open alert: in the sheet To review of report.xlsx, or in the list of nightscreen review export. The report shows the alerts by customer, most urgent first.',
        ]
      : toReview
        ? ['Read the report. It shows each match with its customer.']
        : []),
    ...(discrepancies !== null && discrepancies.count > 0
      ? [
          'Correct the discrepancies between roster, screenings and dossiers. To accept one until a day, use the sheet Discrepancies of report.xlsx.',
        ]
      : []),
    ...(notScreened?.some(({ outcome }) => outcome !== 'skipped')
      ? ['Check which customers are not screened and why: see not-screened.csv, in the folder of the report.']
      : []),
    ...(rejects !== null && rejects.length > 0
      ? ['Have the rejected rows corrected: rejects.csv, in the folder of the report, says what is wrong with each.']
      : []),
    ...(accepted.settingsChanges.length > 0 ? ['Check that the changed settings are intended.'] : []),
  ];
  if (actions.length > 0) return actions;
  return [
    run.kind === 'import'
      ? 'Nothing. The run only imported the roster.'
      : 'Nothing. This mail confirms that the run took place.',
  ];
}

/** For managers: coverage, counts and how they compare with before; no lists and no personal data. */
function toSummaryWords(report: Report): ReportWords {
  const { run, verdict, coverage, watch } = report;
  return {
    sentences: [...describeMode(run.mode), verdict.waiting ?? '', verdict.news].filter((sentence) => sentence !== ''),
    details: [
      ...(coverage === null ? [] : describeCoverage(coverage)),
      ...describeOpenAlerts(report),
      ...(watch === null ? [] : describeWatch(watch)),
    ],
    actions: [
      verdict.level === 'complete'
        ? 'Nothing. Reviewers enter the dispositions of the open alerts.'
        : 'Make sure that somebody works on it. The report says what is missing and why.',
    ],
  };
}

function describeCoverage({ counts, states }: Coverage): readonly string[] {
  if (states === null)
    return [`${countNoun(counts.customers, 'customer')} on the roster, ${countNoun(counts.rejected, 'rejected row')}`];
  const missing = states.find(({ code }) => code === 'not_screened')?.count ?? 0;
  const valid = counts.inScope - missing;
  const share = counts.inScope === 0 ? '' : ` (${toPercent(valid / counts.inScope)})`;
  return [
    `${formatCount(valid)} of ${countNoun(counts.inScope, 'customer')} in scope ${valid === 1 ? 'has' : 'have'} a valid screening${share}`,
    states
      .filter(({ count }) => count > 0)
      .map(({ code, count }) => `${formatCount(count)} ${codeWords.state[code].name.toLowerCase()}`)
      .join(', '),
    ...(counts.rejected > 0 ? [countNoun(counts.rejected, 'rejected row')] : []),
  ].filter((line) => line !== '');
}

/** Rounded down, so that 100 % means all. */
const toPercent = (share: number): string => `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`;

/** For operators, about a run that failed in some way: what failed, why, and what to type. */
function toFailureWords({ run, verdict, coverage, calls, controls, dossiers }: Report): ReportWords {
  const failedControls = (controls ?? []).filter((control) => control.verdict === 'failed').length;
  return {
    sentences: [...describeMode(run.mode), ...verdict.remarks],
    details: [
      ...(failedControls > 0 ? [`${countNoun(failedControls, 'control search', 'control searches')} failed`] : []),
      ...describeTallies('Not screened after all repeats', coverage?.failedBecause ?? []),
      ...((coverage?.counts.remaining ?? 0) > 0
        ? [`Not reached: ${formatCount(coverage?.counts.remaining ?? 0)}`]
        : []),
      ...describeTallies('Calls', calls.byOutcome),
      ...(dossiers?.sweeps.flatMap(({ unprovenBecause }) =>
        unprovenBecause === null ? [] : [`Sweep not proven complete: ${unprovenBecause}`],
      ) ?? []),
    ],
    actions: [
      ...(run.state === 'stopped' ? [`Resume it: nightscreen runs resume ${run.runId}`] : []),
      `See what happened: nightscreen runs show ${run.runId}`,
      'Check settings, key and service: nightscreen doctor',
    ],
  };
}

function describeTallies(title: string, tallies: readonly Tally[]): readonly string[] {
  if (tallies.length === 0) return [];
  return [`${title}: ${tallies.map(({ code, count }) => `${formatCount(count)} ${describeReason(code)}`).join(', ')}`];
}

const wordsByKind: Readonly<Record<Exclude<Recipient['shows'], 'warning'>, (report: Report) => ReportWords>> = {
  report: toReportWords,
  summary: toSummaryWords,
  failure: toFailureWords,
};

/** Many gateways accept 10 MB. */
const usualMostBytes = 10_000_000;

/**
 * The message to one recipient about a written report; the same report and recipient always give the same message. A plain address gets the
 * report without an attachment. An attachment that would make the message longer than 10 MB is left out; `reduced` is for a mail
 * server that accepts less, `attachmentMissing` for a missing file.
 */
export function buildReportMessage(
  report: Report,
  written: ReportToMail,
  recipient: Recipient | string,
  settings: MailSettings,
): MailMessage {
  const { address, shows, attach }: Recipient =
    typeof recipient === 'string' ? { address: recipient, shows: 'report', attach: 'none' } : recipient;
  const chosen = chooseAttachment(report.run.runId, written, attach, settings.maxBytes ?? usualMostBytes);
  const words = wordsByKind[shows === 'warning' ? 'report' : shows](report);
  const toLines = (about: MessageLines['facts'], closing: string): MessageLines => ({
    ...words,
    headline: `${report.verdict.level.toUpperCase()}: ${report.verdict.coverage}`,
    sentences: [...words.sentences, ...(written.notes ?? [])],
    facts: [...listRunFacts(report), toPlaceFact(written), ...about],
    closing,
  });
  const isAttached = chosen.attachments.length > 0;
  return {
    messageId: toMessageId(report.run.runId, written, address, settings.from, shows),
    from: settings.from,
    to: address,
    subject: toSubject(report),
    date: report.run.finishedAt,
    ...toBody(toLines(chosen.facts, isAttached ? toClosing(chosen.isReadable) : withoutPersonalData)),
    attachments: chosen.attachments,
    ...(isAttached && {
      reduced: toBody(toLines(chosen.leftBehind, withoutPersonalData)),
      attachmentMissing: toBody(toLines(chosen.gone, withoutPersonalData)),
    }),
  };
}

/** The subject of mail about a report. */
export const toSubject = ({ run, verdict }: Report): string =>
  formatSubject({
    state: verdict.level.toUpperCase(),
    counts: verdict.short,
    mode: run.mode,
    roster: run.roster,
    day: run.finishedAt,
    timezone: run.timezone,
  });

const summaries: ReadonlySet<string> = new Set(['SHA256SUMS', 'manifest.json']);

/** It depends on the run, the contents of the report's files (not on the form of the manifest), the address and what the mail shows. */
function toMessageId(
  runId: string,
  written: WrittenReport,
  recipient: string,
  from: string,
  shows: Recipient['shows'],
): string {
  const contents = written.files
    .filter((file) => !summaries.has(file.name))
    .map((file) => `${file.name} ${file.sha256}`)
    .sort();
  const parts = [runId, contents, recipient.toLowerCase(), ...(shows === 'report' ? [] : [shows])];
  return digestMessageId(parts, from);
}

/** A path of this machine is of no use to a reader, so only the name of the folder is shown. */
const toPlaceFact = ({ folder, directory }: ReportToMail): MessageLines['facts'][number] => [
  'Report',
  folder ?? `on the server, in the folder ${basename(directory)}`,
];

const withoutPersonalData = 'This message contains no personal data; the report names the customers.';

const toClosing = (isReadable: boolean): string =>
  isReadable
    ? 'The attached report contains personal data: treat it accordingly.'
    : 'This message names no customer; its attachment is masked or encrypted.';

/** The attachment by its absolute path, because another process may send it, and the facts that replace one that cannot be sent. */
interface ChosenAttachment {
  attachments: readonly MailAttachment[];
  facts: MessageLines['facts'];
  /** The facts when the mail server refuses the size. */
  leftBehind: MessageLines['facts'];
  /** The facts when the file is missing at the time of sending. */
  gone: MessageLines['facts'];
  /** Whether it contains personal data that every receiver of the message can read. */
  isReadable: boolean;
}

const none: ChosenAttachment = { attachments: [], facts: [], leftBehind: [], gone: [], isReadable: false };
const pageType = 'text/html; charset=utf-8';
/** Headers, both bodies in their longest encoding, and the frame of the attachment. */
const aroundBytes = 40_000;

/** Chooses the attachment of a message of at most `maxBytes`; size and SHA-256 replace one that is too large. */
function chooseAttachment(
  runId: string,
  written: ReportToMail,
  attach: Recipient['attach'],
  maxBytes: number,
): ChosenAttachment {
  const chosen = findAttachment(runId, written, attach);
  if (attach === 'none') return none;
  if (chosen === null) return { ...none, facts: [['Attachment', 'could not be made, see above']] };
  const { bytes, ...attachment } = chosen;
  const leftBehind = describeMissing(attachment, `because it is too large for mail (${formatSize(bytes)})`);
  if (toEncodedBytes(bytes) + aroundBytes > maxBytes) return { ...none, facts: leftBehind };
  const gone = describeMissing(attachment, 'because the file was removed or changed');
  return { attachments: [attachment], facts: [], leftBehind, gone, isReadable: attach === 'full' };
}

const describeMissing = ({ name, sha256 }: MailAttachment, because: string): MessageLines['facts'] => [
  ['Not attached', `${name}, ${because}`],
  ['SHA-256', sha256],
];

/** In base64, a line of 76 characters and its end encodes 57 bytes. */
const toEncodedBytes = (bytes: number): number => Math.ceil(bytes / 57) * 78;

function findAttachment(
  runId: string,
  written: ReportToMail,
  attach: Recipient['attach'],
): (MailAttachment & { bytes: number }) | null {
  if (attach === 'full') return findPage(written, `${runId}-report.html`);
  if (attach === 'masked') return written.masked ? findPage(written.masked, `${runId}-report-masked.html`) : null;
  if (attach === 'none' || !written.archive) return null;
  const { path, sha256, bytes } = written.archive;
  return { name: `${runId}-report.zip`, path: resolve(path), contentType: 'application/zip', sha256, bytes };
}

function findPage({ directory, files }: WrittenReport, name: string): (MailAttachment & { bytes: number }) | null {
  const page = files.find((file) => file.name === 'report.html');
  if (page === undefined) return null;
  return {
    name,
    path: resolve(join(directory, page.name)),
    contentType: pageType,
    sha256: page.sha256,
    bytes: page.bytes,
  };
}
