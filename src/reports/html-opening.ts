import { html } from 'hono/html';
import { codeWords, describeTopic, stateOrder } from '../vocabulary/words.js';
import {
  noMarkup,
  section,
  showCode,
  showDay,
  showParty,
  showRemark,
  showSentence,
  showTable,
  showText,
  showTime,
} from './html-markup.js';
import type { OpenAlertsFacts, RosterAcceptanceFacts, RosterChangeFacts } from './list-facts.js';
import { type Report, toTitle } from './report.js';
import type { HeldFacts } from './run-facts.js';
import type { Column, Markup } from './section.js';
import { countNoun, formatCount, formatDuration } from './text.js';
import { countCritical, countDays, describeAcceptance, describeRecord } from './words.js';

/** The top of the page: title, test banner, verdict, contents, and the held parts of the run. `hasSection`: whether the page has a section. */
export function showOpening(report: Report, hasSection: (id: string) => boolean): Markup {
  const { run, verdict } = report;
  return html`
<header>
<p class="masthead">Nightscreen <span>${run.organisation === 'default' ? '' : showText(run.organisation)}</span></p>
<h1>${showText(toTitle(report))}</h1>
<p class="muted">${showWhat(report)}${showCompared(report)}.<br>Times are in ${run.timezone}.</p>
${run.mode === 'test' ? html`<p class="test" role="note"><strong>TEST: not evidence.</strong> This run used a test key; its answers are not about real customers. The list of a sandbox has invented names and finds no real sanctioned name.</p>` : noMarkup}
${showAccepted(report)}<div class="verdict">
<p class="level">${codeWords.level[verdict.level]}${verdict.waiting === null ? noMarkup : html`<span>${showSentence(verdict.coverage)}</span>`}</p>
<p class="headline">${showSentence(toHeadline(report))}</p>
${showFigures(report)}<p class="news">${showSentence(verdict.news)}</p>
${verdict.remarks.length === 0 ? noMarkup : html`<ul>${verdict.remarks.map((remark) => html`<li>${showRemark(remark)}</li>`)}</ul>`}
</div>
</header>
${showContents(report, hasSection)}${showHeld(report)}`;
}

function toHeadline({ openAlerts, verdict }: Report): string {
  if (openAlerts === null || openAlerts.waiting === 0) return verdict.waiting ?? verdict.coverage;
  const { waiting, customers } = openAlerts;
  const whose = customers === null ? '' : ` of ${countNoun(customers, 'customer')}`;
  return `${countNoun(waiting, 'open alert')}${whose}`;
}

function showFigures({ openAlerts, run }: Report): Markup {
  if (openAlerts === null || openAlerts.waiting === 0) return noMarkup;
  const { overdue, oldestAt, proposed, absent } = openAlerts;
  const show = (figure: string, name: Markup | string, isUrgent = false): Markup =>
    html`<span class="term${isUrgent ? ' urgent' : ''}"><b>${figure}</b> <i>${name}</i></span> `;
  const critical = countCritical(openAlerts);
  return html`<p class="figures">${show(formatCount(critical), 'critical', critical > 0)}${show(formatCount(overdue), 'overdue', overdue > 0)}${oldestAt === null ? noMarkup : show(countDays(oldestAt, run.finishedAt), html`age of the oldest, open since ${showDay(oldestAt, run)}`)}${proposed === 0 ? noMarkup : show(formatCount(proposed), proposed === 1 ? 'pending approval' : 'pending approvals')}${absent === null || absent === 0 ? noMarkup : show(formatCount(absent), 'with an absent match, to be confirmed')}</p>
`;
}

function showWhat({ run, span }: Report): Markup {
  if (span !== null) {
    return html`Span ${showCode(run.runId)}, ${showTime(span.from, run)} to ${showTime(span.until, run)}`;
  }
  return html`Run ${showCode(run.runId)}, ${showTime(run.startedAt, run)}, took ${formatDuration(run.startedAt, run.finishedAt)}`;
}

function showCompared(report: Report): Markup {
  const { run } = report;
  const { comparedWith } = run;
  if (comparedWith === null)
    return report.changes === null ? noMarkup : html`. There is no earlier run to compare with`;
  return html`.<br>Compared with run ${showCode(comparedWith.runId)} of ${showTime(comparedWith.finishedAt, run)}`;
}

const columns: readonly Column<RosterChangeFacts>[] = [
  { title: 'Customer', cell: ({ reference }) => reference },
  { title: 'Before', cell: ({ before }) => describeRecord(before) },
  { title: 'After', cell: ({ after }) => describeRecord(after) },
];

/** The changes of settings since the last report, and the rosters accepted although guards held them. */
export function showAccepted({
  accepted,
  run: { timezone },
}: Pick<Report, 'accepted'> & { run: Pick<Report['run'], 'timezone'> }): Markup {
  const { settingsChanges, rosterAcceptances } = accepted;
  const changes = settingsChanges.map(
    (change) => html`<p>${showRemark(describeAcceptance(change, timezone))}</p>
<ul>${change.differences.map((difference) => html`<li>${showText(difference)}</li>`)}</ul>\n`,
  );
  const settings = html`<div class="accepted" role="note"><p><strong>Settings changed since the last report.</strong> Earlier findings keep their earlier severity.</p>
${changes}</div>\n`;
  const rosters = rosterAcceptances.map((acceptance) => showRosterAcceptance(acceptance, timezone));
  return html`${settingsChanges.length === 0 ? noMarkup : settings}${rosters}`;
}

function showRosterAcceptance(acceptance: RosterAcceptanceFacts, timezone: string): Markup {
  const table = showTable({
    caption: 'The first changes of known customers that were accepted',
    columns,
    lines: acceptance.changes,
    timezone,
  });
  return html`<p class="accepted" role="note">${showRemark(describeRosterAcceptance(acceptance, timezone))}</p>
${acceptance.changes.length === 0 ? noMarkup : table}`;
}

function showContents(report: Report, hasSection: (id: string) => boolean): Markup {
  const { held, dossiers, notScreened, cut, droppedParties, rejects, openAlerts, reconciliations } = report;
  const discrepancies = reconciliations.flatMap(({ current }) => current).reduce((sum, { open }) => sum + open, 0);
  const entries: readonly (readonly [id: string, title: string, note?: string | null])[] = [
    ['held', 'Held'],
    ['waiting', 'Open alerts', openAlerts && describeCounts(openAlerts)],
    ['changes', 'What changed'],
    ['baseline', 'First screenings'],
    ['groups', 'Groups and drift'],
    ['span', 'Runs'],
    ['coverage', 'Coverage'],
    ['dossiers', 'Dossiers', dossiers && formatCount(dossiers.changes.length)],
    ['reconciliation', 'Reconciliation', formatCount(discrepancies)],
    ['not-screened', 'Not screened', notScreened && formatCount(cut.notScreened?.lines ?? notScreened.length)],
    ['dropped', 'No longer in the source', formatCount(droppedParties.length)],
    ['rejects', 'Rejected rows', rejects && formatCount(rejects.length)],
    ['doubts', 'Values in doubt'],
    ['settled', 'Dispositions'],
    ['health', 'Run health'],
    ['trend', 'Trend'],
    ['evidence', 'Evidence'],
  ];
  const shown = entries.filter(([id]) => (id === 'held' ? held.length > 0 : hasSection(id)));
  return html`<nav aria-label="Contents"><ul>${shown.map(
    ([id, title, note = null]) =>
      html`<li><a href="#${id}">${title}</a>${note === null ? '' : html` <span class="muted">${note}</span>`}</li>`,
  )}</ul></nav>`;
}

function describeCounts(openAlerts: OpenAlertsFacts): string {
  const { waiting, overdue } = openAlerts;
  const critical = countCritical(openAlerts);
  return [
    formatCount(waiting),
    ...(critical === 0 ? [] : [`${formatCount(critical)} critical`]),
    ...(overdue === 0 ? [] : [`${formatCount(overdue)} overdue`]),
  ].join(', ');
}

const alertColumns: readonly Column<HeldFacts['alerts'][number]>[] = [
  { title: 'Customer', html: ({ party }) => showParty(party) },
  { title: 'Severity', cell: ({ severity }) => codeWords.severity[severity] },
  { title: 'Listed party', cell: ({ listedName }) => listedName },
  { title: 'Risk category', cell: ({ topics }) => topics.map(describeTopic).join(', ') },
  { title: 'Alert', html: ({ alertId }) => String(alertId) },
];

function showHeld({ held, run }: Report): Markup {
  if (held.length === 0) return noMarkup;
  return section('held', 'Held', html`${held.map((one) => showHeldPart(one, run))}`);
}

function showHeldPart(
  { kind, reasons, customers, states, alerts, openedAlerts, accepted }: HeldFacts,
  run: Report['run'],
): Markup {
  const what =
    kind === 'answers'
      ? `The answers of this run for ${countNoun(customers, 'customer')} are held: no state improves, and no release of a customer is sent.`
      : 'The webhook messages of this run are held. States and alerts are as this report shows them.';
  const known = stateOrder.flatMap((code) => {
    const customers = states[code] ?? 0;
    return customers === 0 ? [] : [`${formatCount(customers)} ${codeWords.state[code].name.toLowerCase()}`];
  });
  const acceptance =
    accepted === null
      ? html`To accept it: ${showCode(`nightscreen runs accept ${run.runId} --by NAME --reason TEXT`)}`
      : html`${showText(accepted.by)}${accepted.isAttested ? ' (attested)' : ''}, ${showTime(accepted.at, run)}: ${showText(accepted.reason)}`;
  const standing = `States of the roster's customers when the answers were held, by their last valid answers and their alerts: ${known.join(', ')}.`;
  const caption = `${countNoun(openedAlerts, 'alert')} new or worse by these answers. They are provisional, but need a disposition`;
  const table = showTable({
    caption,
    columns: alertColumns,
    lines: alerts,
    count: openedAlerts,
    file: 'report.xlsx',
    timezone: run.timezone,
  });
  return html`<p><strong>${accepted === null ? what : `Held, then accepted by ${accepted.by}.`}</strong></p>
<ul>${reasons.map((reason) => html`<li>${showRemark(reason)}</li>`)}</ul>
<p>${acceptance}</p>
${known.length === 0 ? noMarkup : html`<p>${standing}</p>\n`}${openedAlerts === 0 ? noMarkup : table}`;
}

/** The acceptance of a roster that guards held, with their findings, on one line. */
export const describeRosterAcceptance = (acceptance: RosterAcceptanceFacts, timezone: string): string =>
  `The roster was accepted although guards held it: ${describeAcceptance(acceptance, timezone)}. Findings: ${acceptance.heldBy
    .map(({ guard, message }) => `${message} [guard ${guard}]`)
    .join('; ')}`;
