import { basename, join, resolve } from 'node:path';
import type { ChangeGroup } from '../reports/change-groups.js';
import { describePacks } from '../reports/facts.js';
import { describeReason, describeWatch } from '../reports/reasons.js';
import { type Coverage, listNewAlerts, type Report, type Tally } from '../reports/report.js';
import { describeRosterChanges } from '../reports/roster-changes.js';
import { countNoun, formatCount, formatMinute, formatSize, keep } from '../reports/text.js';
import { describeAcceptance, describeStates, listRunAcceptances } from '../reports/words.js';
import type { WrittenReport } from '../reports/write-report.js';
import { codeWords, describeTopic } from '../vocabulary/words.js';
import type { ReportToMail } from './archive.js';
import {
  describeMode,
  formatSubject,
  type MailAttachment,
  type MailMessage,
  type MessageLines,
  toMessage,
} from './message.js';
import type { MailSettings, Recipient } from './settings.js';

type ReportWords = Pick<MessageLines, 'sentences' | 'details' | 'actions'>;

/** The first sentences of mail about a whole report: changed settings, the key, what waits, what changed, remarks. */
export function toOpening({ run, accepted, held, verdict }: Report): readonly string[] {
  return keep(
    ...accepted.settingsChanges.map(
      (change) =>
        `Settings changed since the last report: ${change.differences.join('; ')} (${describeAcceptance(change, run.timezone)})`,
    ),
    ...describeMode(run.mode),
    ...listRunAcceptances(held, run.timezone),
    verdict.waiting,
    verdict.news,
    ...verdict.remarks,
  );
}

function listRunFacts({ run, rosterChanges, evidence }: Report): MessageLines['facts'] {
  const changes = rosterChanges === null ? '' : ` (changes: ${describeRosterChanges(rosterChanges)})`;
  return [
    ['Roster', `${run.roster ?? 'none'}${changes}`],
    ['Organisation', run.organisation],
    ['Run', `${run.runId} (${run.kind})`],
    ['Finished', formatMinute(run.finishedAt, run.timezone)],
    ['Times in', run.timezone],
    ['Evidence before', describePacks(evidence.packs)],
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
      ...describeNewAlerts(report),
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

const mostCodes = 20;

/** The new alerts by their codes. */
function describeNewAlerts(report: Report): readonly string[] {
  const all = listNewAlerts(report);
  const shown = all.slice(0, mostCodes).map(({ news, mark, severity, listed, dueAt }) => {
    const due = dueAt && `due ${formatMinute(dueAt, report.run.timezone)}`;
    const what = `${codeWords.alertNews[news ?? 'opened']}: ${mark}`;
    return keep(what, severity, ...listed.topics.map(describeTopic), due).join(', ');
  });
  const left = all.length - shown.length;
  return left === 0 ? shown : [...shown, `${countNoun(left, 'further new alert')}: see the report`];
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
  const waiting = (changes ?? [])
    .flatMap((group) => group.changes)
    .filter(({ alert }) => alert?.state === 'open' || alert?.state === 'pending_approval');
  const due = waiting.flatMap(({ alert }) => (alert?.dueAt && alert.dueAt >= run.finishedAt ? alert.dueAt : []));
  const next = cut.changes === null ? due.sort((a, b) => a.getTime() - b.getTime())[0] : cut.changes.nextDueAt;
  return next ? [`Next due among the changes: ${formatMinute(next, run.timezone)}`] : [];
}

function listActions(report: Report): readonly string[] {
  const { verdict, openAlerts, changes, baseline, notScreened, rejects, accepted, discrepancies, run } = report;
  const toReview = [...(changes ?? []), ...baseline].some(({ severity }) => severity !== 'info');
  const hasAlerts = openAlerts !== null && openAlerts.waiting > 0;
  const actions = keep(
    verdict.level === 'red' && 'Do not rely on this run. Wait for the next one, or ask the operator of Nightscreen.',
    hasAlerts &&
      'Enter a disposition for each open alert: in the sheet To review of report.xlsx, or in the list of nightscreen review export. The report shows the alerts by customer, new ones first.',
    !hasAlerts && toReview && 'Read the report. It shows each match with its customer.',
    discrepancies !== null &&
      discrepancies.count > 0 &&
      'Correct the discrepancies between roster, screenings and dossiers. To accept one until a day, use the sheet Discrepancies of report.xlsx.',
    notScreened?.some(({ outcome }) => outcome !== 'skipped') &&
      'Check which customers are not screened and why: see not-screened.csv, in the folder of the report.',
    (rejects ?? []).length > 0 &&
      'Have the rejected rows corrected: rejects.csv, in the folder of the report, says what is wrong with each.',
    accepted.settingsChanges.length > 0 && 'Check that the changed settings are intended.',
    report.rosterChanges !== null &&
      report.rosterChanges.inBulk.length > 0 &&
      'Check the source of the roster: it changed in bulk.',
  );
  if (actions.length > 0) return actions;
  const done =
    run.kind === 'import' ? 'The run only imported the roster.' : 'This mail confirms that the run took place.';
  return [`Nothing. ${done}`];
}

/** For managers: coverage, counts and how they compare with before; no lists and no personal data. */
function toSummaryWords(report: Report): ReportWords {
  const { run, verdict, coverage, watch } = report;
  return {
    sentences: keep(...describeMode(run.mode), verdict.waiting, verdict.news),
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
  return keep(
    `${formatCount(valid)} of ${countNoun(counts.inScope, 'customer')} in scope ${valid === 1 ? 'has' : 'have'} a valid screening${share}`,
    describeStates(Object.fromEntries(states.map(({ code, count }) => [code, count]))),
    counts.rejected > 0 && countNoun(counts.rejected, 'rejected row'),
  );
}

/** Rounded down, so that 100 % means all. */
const toPercent = (share: number): string => `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`;

/** For operators, about a run that failed in some way: what failed, why, and what to type. */
function toFailureWords({ run, verdict, coverage, calls, controls, dossiers }: Report): ReportWords {
  const failedControls = (controls ?? []).filter((control) => control.verdict === 'failed').length;
  const remaining = coverage?.counts.remaining ?? 0;
  return {
    sentences: [...describeMode(run.mode), ...verdict.remarks],
    details: keep(
      failedControls > 0 && `${countNoun(failedControls, 'control search', 'control searches')} failed`,
      describeTallies('Not screened after all repeats', coverage?.failedBecause),
      remaining > 0 && `Not reached: ${formatCount(remaining)}`,
      describeTallies('Calls', calls.byOutcome),
      ...(dossiers?.sweeps ?? []).map(
        ({ unprovenBecause }) => unprovenBecause !== null && `Sweep not proven complete: ${unprovenBecause}`,
      ),
    ),
    actions: keep(
      run.state === 'stopped' && `Resume it: nightscreen runs resume ${run.runId}`,
      `See what happened: nightscreen runs show ${run.runId}`,
      'Check settings, key and service: nightscreen doctor',
    ),
  };
}

const describeTallies = (title: string, tallies: readonly Tally[] = []): string | false =>
  tallies.length > 0 &&
  `${title}: ${tallies.map(({ code, count }) => `${formatCount(count)} ${describeReason(code)}`).join(', ')}`;

const wordsByKind: Readonly<Record<Recipient['shows'], (report: Report) => ReportWords>> = {
  report: toReportWords,
  summary: toSummaryWords,
  failure: toFailureWords,
  warning: toReportWords,
  group: toReportWords,
};

/**
 * The message to one recipient about a written report; the same report and recipient always give the same message. An attachment that would make
 * the message longer than 10 MB is left out.
 */
export function buildReportMessage(
  report: Report,
  written: ReportToMail,
  { address, shows, attach }: Recipient,
  { from }: Pick<MailSettings, 'from'>,
): MailMessage {
  const { run, verdict } = report;
  const { attachments, facts } = chooseAttachment(run.runId, written, attach);
  const words = wordsByKind[shows](report);
  const lines: MessageLines = {
    ...words,
    headline: `${verdict.level.toUpperCase()}: ${verdict.coverage}`,
    sentences: [...words.sentences, ...(written.notes ?? [])],
    facts: [...listRunFacts(report), toPlaceFact(written), ...facts],
    closing: closings[attachments.length === 0 ? 'none' : attach],
  };
  const key = [run.runId, listContents(written), ...(shows === 'report' ? [] : [shows])];
  const head = { from, to: address, subject: toSubject(report), date: run.finishedAt };
  return toMessage(key, head, lines, attachments);
}

/** They are still true of a message that is sent without its attachment. */
const closings: Readonly<Record<Recipient['attach'], string>> = {
  none: 'This message contains no personal data; the report names the customers.',
  full: 'The page of the report contains personal data: treat it accordingly.',
  masked: 'This message names no customer: attachments are masked.',
  archive: 'This message names no customer: attachments are encrypted.',
};

/** The subject of mail about a report. */
export const toSubject = ({ run, verdict }: Report): string =>
  formatSubject(verdict.level.toUpperCase(), verdict.short, run, run.finishedAt);

const summaries: ReadonlySet<string> = new Set(['SHA256SUMS', 'manifest.json']);

/** The contents of a report's files; they do not depend on the form of the manifest. */
export const listContents = ({ files }: WrittenReport): readonly string[] =>
  files
    .filter(({ name }) => !summaries.has(name))
    .map(({ name, sha256 }) => `${name} ${sha256}`)
    .sort();

/** A path of this machine is of no use to a reader, so only the name of the folder is shown. */
export const toPlaceFact = ({ folder, directory }: ReportToMail): MessageLines['facts'][number] => [
  'Report',
  folder ?? `on the server, in the folder ${basename(directory)}`,
];

/** Many gateways accept 10 MB; headers, both bodies and base64 (78 bytes for 57) need the rest. */
const mostAttachedBytes = 7_270_000;

/** Chooses the attachment; size and SHA-256 replace one that is too large. */
export function chooseAttachment(
  runId: string,
  written: ReportToMail,
  attach: Recipient['attach'],
): { attachments: readonly MailAttachment[]; facts: MessageLines['facts'] } {
  if (attach === 'none') return { attachments: [], facts: [] };
  const chosen = findAttachment(runId, written, attach);
  if (!chosen) return { attachments: [], facts: [['Attachment', 'could not be made, see above']] };
  const { bytes, ...attachment } = chosen;
  if (bytes <= mostAttachedBytes) return { attachments: [attachment], facts: [] };
  const missing = `${attachment.name}, because it is too large for mail (${formatSize(bytes)})`;
  const facts = [['Not attached', missing] as const, ['SHA-256', attachment.sha256] as const];
  return { attachments: [], facts };
}

/** With an absolute path, because another process may send it. */
function findAttachment(runId: string, written: ReportToMail, attach: Exclude<Recipient['attach'], 'none'>) {
  if (attach === 'archive') {
    const { archive } = written;
    return archive && { ...archive, name: `${runId}-report.zip`, path: resolve(archive.path), contentType: zipType };
  }
  const report = attach === 'masked' ? written.masked : written;
  const page = report?.files.find(({ name }) => name === 'report.html');
  if (!report || !page) return undefined;
  const name = `${runId}-report${attach === 'masked' ? '-masked' : ''}.html`;
  return { ...page, name, path: resolve(join(report.directory, page.name)), contentType: pageType };
}

const pageType = 'text/html; charset=utf-8';
const zipType = 'application/zip';
