import { html } from 'hono/html';
import { gatherBy } from '../gather-by.js';
import { foldName } from '../matches/match.js';
import { codeWords, describeDisposition, describeTopic } from '../vocabulary/words.js';
import type { PartyType } from '../vocabulary.js';
import {
  joinMarkup,
  noMarkup,
  type PageSection,
  showAgreement,
  showCode,
  showCountries,
  showDay,
  showParty,
  showRemark,
  showSentence,
  showTable,
  showText,
  showTexts,
  showTime,
  showTopics,
  toAnchor,
} from './html-markup.js';
import type { Report } from './report.js';
import { type HeldFacts, isNew, type OpenAlertsFacts, type WaitingAlert } from './run-facts.js';
import type { Column, Markup } from './section.js';
import { countNoun, formatCount, formatDay, keep } from './text.js';
import {
  countCritical,
  countDays,
  describeAcceptance,
  describeAges,
  describeBirthDate,
  describeReopening,
  describeReplaced,
  describeSaid,
  describeStates,
} from './words.js';

/** The number of customers shown in full; each alert of the others has one short line. */
const casesInFull = 25;

const columns: readonly Column<OpenAlertsFacts['bySeverity'][number]>[] = [
  { title: 'Severity', cell: ({ severity }) => codeWords.severity[severity] },
  { title: 'Open', numeric: true, cell: ({ waiting }) => waiting },
  { title: 'Overdue', numeric: true, cell: ({ overdue }) => overdue },
];

const assigneeColumns: readonly Column<OpenAlertsFacts['byAssignee'][number]>[] = [
  { title: 'Assigned to', cell: ({ name }) => name },
  { title: 'Open', numeric: true, cell: ({ waiting }) => waiting },
  { title: 'Overdue', numeric: true, cell: ({ overdue }) => overdue },
];

/** What waits for a decision: the held parts of the run, and its open alerts. */
export const listWaitingSections = (report: Report): readonly (PageSection | null)[] => [
  toHeldSection(report),
  toWaitingSection(report),
];

/** The parts of the run that are or were held. */
const toHeldSection = ({ held, run }: Report): PageSection | null =>
  held.length === 0 ? null : { id: 'held', title: 'Held', body: html`${held.map((one) => showHeldPart(one, run))}` };

function showHeldPart({ kind, reasons, customers, states, accepted }: HeldFacts, run: Report['run']): Markup {
  const what =
    kind === 'answers'
      ? `The answers of this run for ${countNoun(customers, 'customer')} are held: no state improves, and no release of a customer is sent.`
      : 'The webhook messages of this run are held. States and alerts are as this report shows them.';
  const known = describeStates(states);
  const isHeld = accepted.length === 0;
  const how = html`<p>To accept it: ${showCode(`nightscreen runs accept ${run.runId} --by NAME --reason TEXT`)}</p>`;
  const who = accepted.map((one) => html`<p>${showRemark(describeAcceptance(one, run.timezone))}</p>`);
  const standing = `States of the roster's customers when the answers were held, by their last valid answers and their alerts: ${known}.`;
  return html`<p><strong>${isHeld ? what : 'Held, then accepted.'}</strong></p>
<ul>${reasons.map((reason) => html`<li>${showRemark(reason)}</li>`)}</ul>
${isHeld ? how : who}
${known === '' ? noMarkup : html`<p>${standing}</p>\n`}`;
}

/** Every alert that waited when the run closed, by customer, most urgent first; null where alerts were not counted. */
function toWaitingSection(report: Report): PageSection | null {
  const { openAlerts, verdict } = report;
  if (openAlerts === null) return null;
  const { waiting, overdue } = openAlerts;
  const critical = countCritical(openAlerts);
  const note = keep(
    formatCount(waiting),
    critical > 0 && `${formatCount(critical)} critical`,
    overdue > 0 && `${formatCount(overdue)} overdue`,
  ).join(', ');
  const quiet = html`<p class="quiet">${showSentence(verdict.waiting ?? '')}</p>`;
  return { id: 'waiting', title: 'Open alerts', body: waiting === 0 ? quiet : showAlerts(report, openAlerts), note };
}

function showAlerts(report: Report, openAlerts: OpenAlertsFacts): Markup {
  const { toReview, run } = report;
  const parts = splitByNews(report, toReview?.alerts ?? []).filter(({ alerts }) => alerts.length > 0);
  return html`${showHow(report)}${parts.map((part) => showPart(part, run))}${showLeftOut(report)}${showSums(openAlerts, run)}`;
}

/** Alerts under one title; a first run has one part without a title. */
interface AlertsPart {
  title: string | null;
  alerts: readonly WaitingAlert[];
}

function splitByNews({ run, span }: Report, alerts: readonly WaitingAlert[]): readonly AlertsPart[] {
  if (run.comparedWith === null) return [{ title: null, alerts }];
  const runs = span === null ? 'this run' : 'these runs';
  return [
    { title: `New in ${runs}`, alerts: alerts.filter(isNew) },
    { title: 'Open again: the disposition expired', alerts: alerts.filter(({ news }) => news === 'expired') },
    { title: 'Open before', alerts: alerts.filter(({ news }) => news === null) },
  ];
}

function showPart({ title, alerts }: AlertsPart, run: Report['run']): Markup {
  const cases = toWaitingCases(alerts);
  const heading = title === null ? noMarkup : html`<h3>${title}: ${countNoun(alerts.length, 'alert')}</h3>`;
  return html`${heading}${cases.slice(0, casesInFull).map((one) => showCase(one, run))}
${showShort(cases.slice(casesInFull), run)}`;
}

function showHow({ toReview }: Report): Markup {
  if (toReview === null) {
    return html`<p>To enter dispositions, write a working list with <code>nightscreen review export</code> and fill it in. Then run ${showCode('nightscreen review import FILE')}. It shows what it would store, and the command that stores it.</p>`;
  }
  return html`<p class="how">To enter dispositions, fill in the sheet To review of <code>report.xlsx</code>; each row has the code of its alert. Then run ${showCode('nightscreen review import report.xlsx')}. It shows what it would store, and the command that stores it. The history of a customer is in <code>nightscreen review show CUSTOMER</code>. This page shows the alerts that were open when the run closed. For those that are open now, run <code>nightscreen review export</code>.</p>
`;
}

function showCase({ people, alerts }: WaitingCase, run: Report['run']): Markup {
  const first = people[0]?.[0];
  if (first === undefined) return noMarkup;
  const { severity, party } = first;
  return html`
<article class="case severity ${severity}">
<h3><span class="label">${codeWords.severity[severity]}</span> ${showParty(party)} <span class="muted">${showBorn(party.birthDate === null ? [] : [describeBirthDate(party.birthDate)], party.type)}${showCountries(party.countries)}, risk ${party.riskTier ?? 'not given'}${alerts === 1 ? '' : `, ${countNoun(alerts, 'alert')}`}</span></h3>
<table class="alerts"><caption class="unseen">Alerts of this customer</caption>
<colgroup><col style="width:31%"><col style="width:16%"><col style="width:30%"><col></colgroup>
<thead class="unseen"><tr><th scope="col">Listed party</th><th scope="col">Risk category</th><th scope="col">State</th><th scope="col">Code</th></tr></thead>
${people.map(
  (entries) => html`<tbody>${entries.map((alert, index) => showEntry(alert, index, first, run))}</tbody>
`,
)}</table>
</article>`;
}

function showEntry(alert: WaitingAlert, index: number, first: WaitingAlert, run: Report['run']): Markup {
  const { listed, party, corroboration, mark } = alert;
  const whose =
    party.role === first.party.role && party.name === first.party.name
      ? noMarkup
      : html`<br><small>of ${showParty(party)}</small>`;
  return html`<tr id="${toAnchor(mark)}"><th scope="row">${index === 0 ? noMarkup : html`<span class="muted">also as</span> `}<b>${showText(listed.name)}</b><br><small>${showBorn(listed.birthDates, party.type, showAgreement(corroboration.birthDate))}${showCountries(listed.countries)}${showAgreement(corroboration.country)}; score ${listed.score}</small>${whose}</th><td>${showTopics(listed, null)}</td><td>${showStatus(alert, run)}</td><td><code class="whole">${showText(mark)}</code></td></tr>
`;
}

const showBorn = (birthDates: readonly string[], type: PartyType, agreement = noMarkup): Markup =>
  birthDates.length === 0 && type === 'entity' ? noMarkup : html`born ${showTexts(birthDates)}${agreement}, `;

function showStatus(alert: WaitingAlert, run: Report['run']): Markup {
  const { timezone } = run;
  const { news, state, proposal, reopenedBecause, lastDecision, replaced, absence, absentSince, legacy } = alert;
  const lines = keep<Markup>(
    showWait(alert, run),
    absence &&
      html`<b>Match absent</b>: ${codeWords.absence[absence]}${absentSince && html` (since ${showDay(absentSince, run)})`}. Confirm it with the disposition “no longer matched”`,
    state === 'pending_approval' &&
      proposal &&
      html`<b>Pending approval</b>: ${showRemark(describeSaid({ ...proposal, kind: 'decided', isAttested: false, saidAt: proposal.decidedAt }, timezone))}`,
    // An expiry alone is in the first line.
    reopenedBecause.length > 0 &&
      news !== 'expired' &&
      html`re-opened: ${showText(describeReopening(reopenedBecause))}`,
    lastDecision &&
      html`last disposition: ${showRemark(`${describeDisposition(lastDecision.verdict)} by ${lastDecision.reviewer} on ${formatDay(lastDecision.decidedAt, timezone)}: ${lastDecision.reason}`)}`,
    replaced && html`before: ${showRemark(describeReplaced(replaced, timezone))}`,
    legacy &&
      html`older system: ${showText(`${describeDisposition(legacy.verdict)} by ${legacy.reviewer}: ${legacy.reason}`)}`,
  );
  return joinMarkup(lines, html`<br>`);
}

/** Since when an alert waits, until when, and for whom. */
function showWait({ news, openedAt, dueAt, assignedTo }: WaitingAlert, run: Report['run']): Markup {
  const old = html`open since ${showDay(openedAt, run)} (${countDays(openedAt, run.finishedAt)})`;
  const since = news && html`<b>${codeWords.alertNews[news]}</b>${news !== 'opened' && html`, ${old}`}`;
  const isLate = dueAt !== null && dueAt < run.finishedAt;
  const due =
    dueAt &&
    (isLate ? html`, <b class="late">overdue since ${showTime(dueAt, run)}</b>` : html`, due ${showTime(dueAt, run)}`);
  return html`${since ?? old}${due}${assignedTo !== null && html`, ${showText(assignedTo)}`}`;
}

const shortColumns: readonly Column<WaitingAlert>[] = [
  { title: 'Customer', share: 10, cell: ({ party }) => party.reference },
  { title: 'Name', cell: ({ party }) => party.name },
  { title: 'Listed party', cell: ({ listed }) => listed.name },
  {
    title: 'Risk category',
    share: 20,
    html: ({ listed, absence }) =>
      html`${showText(listed.topics.map(describeTopic).join(', '))}${absence === null ? '' : '; match absent'}`,
  },
  {
    title: 'Severity, due',
    share: 13,
    html: ({ severity, dueAt }, timezone) =>
      html`${codeWords.severity[severity]}${dueAt === null ? '' : html`, ${showDay(dueAt, { timezone })}`}`,
  },
  { title: 'Code', share: 16, cell: ({ mark }) => mark },
];

function showShort(cases: readonly WaitingCase[], { timezone }: Report['run']): Markup {
  if (cases.length === 0) return noMarkup;
  const lines = cases.flatMap(({ people }) => people.flat());
  return showTable({
    caption: `${countNoun(lines.length, 'further alert')} of ${countNoun(cases.length, 'customer')}, one line each`,
    columns: shortColumns,
    lines,
    name: 'waits',
    timezone,
    toAttributes: ({ mark }) => html` id="${toAnchor(mark)}"`,
  });
}

function showLeftOut({ openAlerts, toReview }: Report): Markup {
  const waiting = Math.max(openAlerts?.waiting ?? 0, toReview?.waiting ?? 0);
  const shown = toReview?.alerts.length ?? 0;
  if (shown >= waiting) return noMarkup;
  return html`<p class="rest" role="note">${shown === 0 ? 'The alerts are not on this page.' : `Only ${formatCount(shown)} of ${countNoun(waiting, 'alert')} are shown: the new ones first, then the most urgent.`} For all of them, run <code>nightscreen review export</code>.</p>
`;
}

function showSums(openAlerts: OpenAlertsFacts, { timezone }: Report['run']): Markup {
  const { bySeverity, byAssignee, unassigned } = openAlerts;
  const severities = showTable({ caption: 'Open alerts by severity', columns, lines: bySeverity, timezone });
  const assignees = showTable({
    caption: 'Open alerts by assignee',
    columns: assigneeColumns,
    lines: byAssignee,
    timezone,
  });
  return html`<div class="pair">${severities}
${byAssignee.length === 0 ? noMarkup : assignees}</div>
<p class="muted">Age of the open alerts: ${describeAges(openAlerts)}. Not assigned: ${formatCount(unassigned)}.</p>
`;
}

/** The waiting alerts of one customer. */
interface WaitingCase {
  reference: string;
  /** The most urgent first; entries that may be about one person are in one group. */
  people: readonly (readonly WaitingAlert[])[];
  alerts: number;
}

/** Groups waiting alerts by customer, in the order of each customer's first alert. */
export function toWaitingCases(alerts: readonly WaitingAlert[]): readonly WaitingCase[] {
  return [...gatherBy(alerts, ({ party }) => party.reference)].map(([reference, members]) => ({
    reference,
    people: groupPeople(members),
    alerts: members.length,
  }));
}

/** An entry joins the first group with an entry that can be about the same person. */
function groupPeople(alerts: readonly WaitingAlert[]): readonly (readonly WaitingAlert[])[] {
  const people: WaitingAlert[][] = [];
  for (const alert of alerts) {
    const group = people.find((members) => members.some((member) => canBeSame(member, alert)));
    if (group) group.push(alert);
    else people.push([alert]);
  }
  return people;
}

/**
 * Whether two entries of one party can be about one person: the birth dates do not contradict, and the words of one name contain those of the
 * other, or they share a full birth date and a word. This only groups the display: each entry is decided separately.
 */
function canBeSame(one: WaitingAlert, other: WaitingAlert): boolean {
  if (one.party.role !== other.party.role || one.party.name !== other.party.name) return false;
  if (one.listed.schema !== other.listed.schema) return false;
  const [dates, otherDates] = [one.listed.birthDates, other.listed.birthDates];
  const areUnlike =
    dates.length > 0 && otherDates.length > 0 && !dates.some((date) => otherDates.some(agreesWith(date)));
  if (areUnlike) return false;
  const [words, otherWords] = [listNameWords(one.listed.name), listNameWords(other.listed.name)];
  const shared = [...words].filter((word) => otherWords.has(word)).length;
  const isWithin =
    shared >= Math.min(2, words.size, otherWords.size) && shared === Math.min(words.size, otherWords.size);
  const haveDate = dates.some((date) => date.length > 4 && otherDates.includes(date));
  return (isWithin && shared > 0) || (haveDate && shared > 0);
}

/** A year agrees with each of its days. */
const agreesWith =
  (date: string) =>
  (other: string): boolean =>
    date.startsWith(other) || other.startsWith(date);

const listNameWords = (name: string): ReadonlySet<string> => new Set(foldName(name).match(/[\p{L}\p{N}]+/gu) ?? []);
