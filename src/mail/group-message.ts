import { type GroupReport, type GroupRoster, heldWords, nameOutcome } from '../reports/group.js';
import { countNoun, formatCount, formatMinute, keep } from '../reports/text.js';
import { countDays } from '../reports/words.js';
import { codeWords } from '../vocabulary/words.js';
import type { ReportToMail } from './archive.js';
import { describeMode, formatSubject, type MailMessage, type MessageLines, toMessage } from './message.js';
import { chooseAttachment, listContents, toPlaceFact } from './report-message.js';
import type { MailSettings, Recipient } from './settings.js';

/** The message to one recipient about the report over all rosters: a line for each roster, the worst first; it names no customer. */
export function buildGroupMessage(
  report: GroupReport,
  written: ReportToMail,
  { address, attach }: Pick<Recipient, 'address' | 'attach'>,
  { from }: Pick<MailSettings, 'from'>,
): MailMessage {
  const { name, organisation, mode, timezone, until, verdict } = report;
  const { attachments, facts } = chooseAttachment(name, written, attach);
  const about = { mode, roster: 'all rosters', organisation, timezone };
  const subject = formatSubject(verdict.level.toUpperCase(), verdict.short, about, until);
  const lines: MessageLines = {
    headline: `${verdict.level.toUpperCase()}: ${verdict.coverage}`,
    sentences: keep(
      ...describeMode(mode),
      describeWaitingAlerts(report),
      verdict.waiting,
      verdict.news,
      ...listGeneralRemarks(report),
      ...(written.notes ?? []),
    ),
    details: report.rosters.map((one) => describeRoster(one, report)),
    actions: listActions(report),
    facts: [
      ['Organisation', organisation],
      [report.dueAt === null ? 'From' : 'Night due', formatMinute(report.dueAt ?? report.from, timezone)],
      ['As of', formatMinute(until, timezone)],
      ['Times in', timezone],
      toPlaceFact(written),
      ...facts,
    ],
    closing: closings[attachments.length === 0 ? 'none' : attach],
  };
  return toMessage([name, listContents(written)], { from, to: address, subject, date: until }, lines, attachments);
}

const closings: Readonly<Record<Recipient['attach'], string>> = {
  none: 'This message names no customer; the report names customers by reference only.',
  full: 'The page of the report names customers by reference only.',
  masked: 'The page of the report names customers by reference only.',
  archive: 'This message names no customer: attachments are encrypted.',
};

/** Those that are about no single roster. */
const listGeneralRemarks = ({ rosters, verdict: { remarks } }: GroupReport): readonly string[] =>
  remarks.filter((remark) => !rosters.some(({ roster }) => remark.startsWith(`${roster}: `)));

function describeWaitingAlerts({ total: { alerts }, until }: GroupReport): string {
  if (alerts === null) return 'How many alerts are open is not known.';
  if (alerts.waiting === 0) return 'No alert is open.';
  const bySeverity = alerts.bySeverity.map(
    ({ severity, waiting }) => `${formatCount(waiting)} ${codeWords.severity[severity].toLowerCase()}`,
  );
  const parts = keep(
    ...bySeverity,
    alerts.overdue === 0 ? 'none overdue' : `${formatCount(alerts.overdue)} overdue`,
    `${formatCount(alerts.opened)} new`,
    alerts.oldestAt && `the oldest waits for ${countDays(alerts.oldestAt, until)}`,
  );
  return `${countNoun(alerts.waiting, 'open alert')}: ${parts.join(', ')}.`;
}

/** As in `savings: DID NOT RUN. No screening ...`, or `retail: complete, 2026-03-02 02:00 to ... 1,000 customers; 5 open alerts, 2 new.` */
function describeRoster(roster: GroupRoster, { timezone }: GroupReport): string {
  const { run, trouble, customers, alerts, level, changes } = roster;
  const times =
    run === null
      ? ''
      : `, ${formatMinute(run.startedAt, timezone)} to ${run.finishedAt === null ? 'now' : formatMinute(run.finishedAt, timezone)}`;
  const outcome = nameOutcome(roster.outcome);
  const state = level === 'red' ? outcome.toUpperCase() : outcome;
  const code = run?.exitCode ? `, exit code ${run.exitCode}` : '';
  const notScreened = customers?.states.find(({ code }) => code === 'not_screened')?.count ?? 0;
  const urgent = (changes?.bySeverity ?? []).filter(
    ({ severity, changes: count }) => count > 0 && (severity === 'critical' || severity === 'high'),
  );
  const counted = keep(
    customers && countNoun(customers.inScope, 'customer'),
    notScreened > 0 && `${formatCount(notScreened)} not screened`,
    alerts &&
      (alerts.waiting > 0 || level !== 'red') &&
      `${countNoun(alerts.waiting, 'open alert')}${alerts.opened === 0 ? '' : `, ${formatCount(alerts.opened)} new`}`,
    alerts && alerts.overdue > 0 && `${formatCount(alerts.overdue)} overdue`,
    ...urgent.map(({ severity, changes: count }) => countNoun(count, `${severity} change`)),
  );
  const why = trouble === null ? '' : ` ${trouble}`;
  return `${roster.roster}: ${state}${code}${times}.${why}${counted.length === 0 ? '' : ` ${counted.join('; ')}.`}`;
}

function listActions({ rosters, total: { alerts } }: GroupReport): readonly string[] {
  const has = (...outcomes: readonly GroupRoster['outcome'][]): boolean =>
    rosters.some(({ outcome }) => outcomes.includes(outcome));
  const actions = keep(
    ...rosters.flatMap(({ roster, held }) =>
      held.map(
        ({ kind, command }) =>
          command !== null && `Accept the ${heldWords[kind]} of ${roster}, if that is right: ${command}`,
      ),
    ),
    ...rosters.map(
      ({ outcome, run }) => outcome === 'stopped' && run && `Resume it: nightscreen runs resume ${run.id}`,
    ),
    has('did_not_run', 'never_imported', 'refused') && 'Screen the rosters that did not run: nightscreen rescreen',
    has('running', 'not_begun') &&
      'The night was still in progress when this message was made. To mail its end: nightscreen report --all --send',
    has('not_configured') && 'Check why the configuration no longer names a roster that has customers.',
    alerts !== null &&
      alerts.waiting > 0 &&
      'Enter a disposition for each open alert: the report of each roster shows them.',
  );
  return actions.length > 0 ? actions : ['Nothing. This mail confirms that all rosters were screened.'];
}
