import type { ChangeGroup } from '../reports/change-groups.js';
import { severityWords } from '../reports/change-words.js';
import { countNoun, formatCount } from '../reports/format-count.js';
import { formatTime } from '../reports/format-time.js';
import type { Report } from '../reports/report.js';
import { describeOpenItems, type ReportWords, toOpening } from './message-lines.js';

/** What reviewers are told: counts by severity, what waits and until when, and what to do; nothing about anybody. */
export function toReportWords(report: Report): ReportWords {
  return {
    sentences: toOpening(report),
    details: [
      ...describeOpenItems(report),
      ...(report.changes ?? []).map((group) => describeGroup(group, 'change')),
      ...report.baseline.map((group) => describeGroup(group, 'first-time match', 'first-time matches')),
      ...describeNextDue(report),
    ],
    actions: listActions(report),
  };
}

/** `3 critical changes, 2 of them hits for a sanction`. */
function describeGroup(group: ChangeGroup, singular: string, plural?: string): string {
  const { severity, standingHits: hits } = group;
  const count = countNoun(group.count, singular, plural);
  const what =
    severity === 'info' ? `${count} for information` : count.replace(' ', ` ${severityWords[severity].toLowerCase()} `);
  if (hits === 0) return what;
  if (hits === group.count) return `${what}, ${hits === 1 ? 'a sanction hit' : 'all of them sanction hits'}`;
  return `${what}, ${formatCount(hits)} of them ${hits === 1 ? 'a sanction hit' : 'sanction hits'}`;
}

/** Until when the first of what this report tells and nobody has decided is to be decided. */
function describeNextDue({ changes, cut, run }: Report): readonly string[] {
  if (cut.changes !== null) return cut.changes.nextDueAt === null ? [] : [toNextDue(cut.changes.nextDueAt)];
  const due = (changes ?? []).flatMap((group) =>
    group.changes.flatMap(({ item }) =>
      item?.dueAt && item.dueAt >= run.finishedAt && (item.state === 'open' || item.state === 'proposed')
        ? [item.dueAt.getTime()]
        : [],
    ),
  );
  if (due.length === 0) return [];
  return [toNextDue(new Date(due.reduce((first, next) => Math.min(first, next))))];
}

const toNextDue = (dueAt: Date): string => `Next due among the changes: ${formatTime(dueAt)}`;

function listActions({
  verdict,
  openItems,
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
      ? ['Do not rely on this run: wait for the next one, or ask whoever runs Nightscreen.']
      : []),
    ...(openItems !== null && openItems.waiting > 0
      ? [
          'Decide what waits, in the sheet To review of report.xlsx or in what nightscreen review export writes. The report shows each alert by customer, most urgent first.',
        ]
      : toReview
        ? ['Read the report: it shows each match beside its customer.']
        : []),
    ...(discrepancies !== null && discrepancies.count > 0
      ? [
          'Mend where roster, screenings and dossiers disagree, or accept it until a day: sheet Discrepancies of report.xlsx.',
        ]
      : []),
    ...(notScreened?.some(({ outcome }) => outcome !== 'skipped')
      ? ['See who is not screened and why: not-screened.csv beside the report.']
      : []),
    ...(rejects !== null && rejects.length > 0
      ? ['Have the rejected rows mended: rejects.csv beside the report says what is wrong with each.']
      : []),
    ...(accepted.settingsChanges.length > 0 ? ['Check that the changed settings are meant.'] : []),
  ];
  if (actions.length > 0) return actions;
  return [
    run.kind === 'import' ? 'Nothing: the roster was only imported.' : 'Nothing: this mail says that the run was made.',
  ];
}
