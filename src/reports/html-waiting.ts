import { html, raw } from 'hono/html';
import { foldName } from '../matches/match.js';
import type { PartyType } from '../vocabulary.js';
import {
  type Markup,
  noMarkup,
  section,
  showCountries,
  showParty,
  showTable,
  showText,
  showTexts,
  showTopics,
  type TableColumn,
  toAnchor,
} from './html-markup.js';
import type { OpenItemsFacts, WaitingItem } from './list-facts.js';
import type { Report } from './report.js';
import { countNoun, escapeXml, formatCount, formatDay, toVisibleText } from './text.js';
import {
  absenceWords,
  agreementWords,
  countDays,
  describeAges,
  describeOwner,
  describeReopening,
  describeReplaced,
  describeSaid,
  describeTopic,
  severityWords,
} from './words.js';

/** So many customers are shown in full; of those after them each alert has one short line. */
const casesInFull = 25;

const columns: readonly TableColumn<OpenItemsFacts['bySeverity'][number]>[] = [
  { title: 'Severity', cell: ({ severity }) => severityWords[severity] },
  { title: 'Waiting', numeric: true, cell: ({ waiting }) => formatCount(waiting) },
  { title: 'Overdue', numeric: true, cell: ({ overdue }) => formatCount(overdue) },
];

const ownerColumns: readonly TableColumn<OpenItemsFacts['byOwner'][number]>[] = [
  { title: 'Assigned to', cell: (owner) => showText(describeOwner(owner)) },
  { title: 'Waiting', numeric: true, cell: ({ waiting }) => formatCount(waiting) },
  { title: 'Overdue', numeric: true, cell: ({ overdue }) => formatCount(overdue) },
];

/** Every alert that waits for a person when the run closed, by customer, most urgent first; nothing where nothing is known of it. */
export function showWaiting(report: Report): Markup {
  const { openItems, toReview, run } = report;
  if (openItems === null) return noMarkup;
  if (openItems.waiting === 0) {
    return section('waiting', waitingTitle, html`<p class="quiet">${report.verdict.waiting}</p>`);
  }
  const cases = toWaitingCases(toReview?.items ?? []);
  return section(
    'waiting',
    waitingTitle,
    html`${showHow(report)}${cases.slice(0, casesInFull).map((one) => showCase(one, run))}
${showShort(cases.slice(casesInFull))}${showLeftOut(report)}${showSums(openItems)}`,
  );
}

const waitingTitle = 'Waiting for a decision';

/** The commands by which alerts are decided, and what of that is read where. */
function showHow({ toReview }: Report): Markup {
  if (toReview === null) {
    return html`<p>Decide in a list of what waits: <code>nightscreen review export</code> writes it, <code>nightscreen review import review.csv --apply</code> stores it.</p>`;
  }
  return html`<p class="how">Decide in the sheet To review of <code>report.xlsx</code>, each alert by its code, then <code>nightscreen review import report.xlsx --apply</code>. All that was said about a customer: <code>nightscreen review show CUSTOMER</code>. This is how it stood when the run closed; <code>nightscreen review export</code> writes what waits now.</p>
`;
}

function showCase({ people, alerts }: WaitingCase, run: Report['run']): Markup {
  const first = people[0]?.[0];
  if (first === undefined) return noMarkup;
  const { severity, party } = first;
  return html`
<article class="case severity ${severity}">
<h3><span class="label">${severityWords[severity]}</span> ${showParty(party)} <span class="muted">${showBorn(party.birthDate === null ? [] : [party.birthDate], party.type)}${showCountries(party.countries)}, risk ${party.riskTier ?? 'not given'}${alerts === 1 ? '' : `, ${countNoun(alerts, 'alert')}`}</span></h3>
<table class="alerts"><caption class="unseen">Alerts of this customer</caption>
<colgroup><col><col><col><col></colgroup>
<thead class="unseen"><tr><th scope="col">Listed party</th><th scope="col">Listed for</th><th scope="col">Waits</th><th scope="col">Code</th></tr></thead>
${people.map(
  (entries) => html`<tbody>${entries.map((item, index) => showEntry(item, index, first, run))}</tbody>
`,
)}</table>
</article>`;
}

function showEntry(item: WaitingItem, index: number, first: WaitingItem, run: Report['run']): Markup {
  const { listed, party, corroboration, mark } = item;
  const whose =
    party.role === first.party.role && party.name === first.party.name
      ? noMarkup
      : html`<br><small>beside ${showParty(party)}</small>`;
  return html`<tr id="${raw(toAnchor(mark))}"><th scope="row">${index === 0 ? noMarkup : html`<span class="muted">also as</span> `}<b>${showText(listed.name)}</b><br><small>${showBorn(listed.birthDates, party.type, showAgreement(corroboration.birthDate))}${showCountries(listed.countries)}${showAgreement(corroboration.country)}; score ${listed.score}</small>${whose}</th><td>${showTopics(listed, null)}</td><td>${showStatus(item, run)}</td><td><code>${showText(mark)}</code></td></tr>
`;
}

/** Companies are not born. */
const showBorn = (birthDates: readonly string[], type: PartyType, agreement = noMarkup): Markup =>
  birthDates.length === 0 && type === 'entity' ? noMarkup : html`born ${showTexts(birthDates)}${agreement}, `;

const showAgreement = (agreement: WaitingItem['corroboration']['birthDate']): Markup =>
  agreement === 'unknown' ? noMarkup : html` <span class="agreement ${agreement}">${agreementWords[agreement]}</span>`;

/** Since when it waits and until when it should not, for whom, why again, and what was said about it last. */
function showStatus(item: WaitingItem, { startedAt, finishedAt }: Report['run']): Markup {
  const {
    openedAt,
    dueAt,
    owner,
    state,
    proposal,
    reopenedBecause,
    lastDecision,
    replaced,
    absence,
    absentSince,
    legacy,
  } = item;
  const lines: Markup[] = [];
  const isLate = dueAt !== null && dueAt < finishedAt;
  const since =
    openedAt >= startedAt ? html`<b>new</b>` : html`since ${formatDay(openedAt)} (${countDays(openedAt, finishedAt)})`;
  const due =
    dueAt === null
      ? noMarkup
      : isLate
        ? html`, <b class="late">overdue since ${toMinute(dueAt)}</b>`
        : html`, due ${toMinute(dueAt)}`;
  lines.push(html`${since}${due}${owner === null ? noMarkup : html`, ${showText(describeOwner(owner))}`}`);
  if (absence !== null) {
    const day = absentSince === null ? '' : ` (since ${formatDay(absentSince)})`;
    lines.push(html`<b>To be confirmed as no_longer_matched</b>: ${absenceWords[absence]}${day}`);
  }
  if (state === 'proposed' && proposal !== null) {
    lines.push(
      html`<b>For a second person</b>: ${showText(describeSaid({ ...proposal, kind: 'proposed', isAttested: false, saidAt: proposal.decidedAt }))}`,
    );
  }
  if (reopenedBecause.length > 0) lines.push(html`re-opened: ${showText(describeReopening(reopenedBecause))}`);
  if (lastDecision !== null) {
    const { verdict, reviewer, decidedAt, reason } = lastDecision;
    lines.push(
      html`last: ${showText(`${verdict.replaceAll('_', ' ')} by ${reviewer} on ${formatDay(decidedAt)}: ${reason}`)}`,
    );
  }
  if (replaced !== null) lines.push(html`before: ${showText(describeReplaced(replaced))}`);
  if (legacy !== null)
    lines.push(html`older system: ${showText(`${legacy.verdict} by ${legacy.reviewer}: ${legacy.reason}`)}`);
  return html`${lines.map((line, index) => html`${index === 0 ? '' : html`<br>`}${line}`)}`;
}

const toMinute = (moment: Date): string => `${moment.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

// Cells need no closing tags, and each keeps the direction of its text to itself: with thousands every sign counts.
const toText = (text: string): string => escapeXml(toVisibleText(text));

function showShort(cases: readonly WaitingCase[]): Markup {
  if (cases.length === 0) return noMarkup;
  const items = cases.flatMap(({ people }) => people.flat());
  const rows = items.map(
    ({ party, listed, severity, dueAt, mark, absence }) =>
      `<tr id="${toAnchor(mark)}"><th>${toText(party.reference)}<td>${toText(party.name)}<td>${toText(listed.name)}<td>${toText(listed.topics.map(describeTopic).join(', '))}${absence === null ? '' : '; no longer matched'}<td>${severityWords[severity]}${dueAt === null ? '' : `, ${toMinute(dueAt).slice(0, 10)}`}<td>${toText(mark)}\n`,
  );
  return html`<table class="list hits waits">
<caption>${countNoun(items.length, 'further alert')} of ${countNoun(cases.length, 'customer')}, one line each</caption>
<thead><tr><th scope="col">Customer</th><th scope="col">Name</th><th scope="col">Listed party</th><th scope="col">Listed for</th><th scope="col">Severity, due</th><th scope="col">Code</th></tr></thead>
<tbody>
${raw(rows.join(''))}</tbody>
</table>
`;
}

/** What is not on the page, and where it is. */
function showLeftOut({ openItems, toReview }: Report): Markup {
  const waiting = Math.max(openItems?.waiting ?? 0, toReview?.waiting ?? 0);
  const shown = toReview?.items.length ?? 0;
  if (shown >= waiting) return noMarkup;
  return html`<p class="rest" role="note">${shown === 0 ? 'The alerts one by one' : `The ${formatCount(shown)} most urgent of ${countNoun(waiting, 'alert')} are shown; all of them`}: <code>nightscreen review export</code>.</p>
`;
}

function showSums(openItems: OpenItemsFacts): Markup {
  const { bySeverity, byOwner, unassigned } = openItems;
  return html`<div class="pair">${showTable('Alerts that wait, by severity', columns, bySeverity, null)}
${byOwner.length === 0 ? noMarkup : showTable('By owner', ownerColumns, byOwner, null)}</div>
<p class="muted">By age: ${describeAges(openItems)}. ${countNoun(unassigned, 'is', 'are')} assigned to nobody.</p>
`;
}

/** All that waits about one customer. */
interface WaitingCase {
  reference: string;
  /** The most urgent first; entries of different lists about one person stand together. */
  people: readonly (readonly WaitingItem[])[];
  alerts: number;
}

/** What waits by customer: as items are given, the most urgent first, a customer stands where the first of its items does. */
export function toWaitingCases(items: readonly WaitingItem[]): readonly WaitingCase[] {
  const byReference = new Map<string, WaitingItem[]>();
  for (const item of items) {
    const { reference } = item.party;
    const members = byReference.get(reference);
    if (members) members.push(item);
    else byReference.set(reference, [item]);
  }
  return [...byReference].map(([reference, members]) => ({
    reference,
    people: groupPeople(members),
    alerts: members.length,
  }));
}

/** An entry joins the first group that holds somebody who can be the same person. */
function groupPeople(items: readonly WaitingItem[]): readonly (readonly WaitingItem[])[] {
  const people: WaitingItem[][] = [];
  for (const item of items) {
    const group = people.find((members) => members.some((member) => canBeSame(member, item)));
    if (group) group.push(item);
    else people.push([item]);
  }
  return people;
}

/**
 * Whether two entries beside one party can be about one person: birth dates that do not contradict, and names of the same words, one of which
 * may have more; or a full birth date and a word of the name in common. This only says what stands together: each entry is decided by itself.
 */
function canBeSame(one: WaitingItem, other: WaitingItem): boolean {
  if (one.party.role !== other.party.role || one.party.name !== other.party.name) return false;
  if (one.listed.schema !== other.listed.schema) return false;
  const [dates, otherDates] = [one.listed.birthDates, other.listed.birthDates];
  const areUnlike =
    dates.length > 0 && otherDates.length > 0 && !dates.some((date) => otherDates.some(agreesWith(date)));
  if (areUnlike) return false;
  const [words, otherWords] = [toWords(one.listed.name), toWords(other.listed.name)];
  const shared = [...words].filter((word) => otherWords.has(word)).length;
  const isWithin =
    shared >= Math.min(2, words.size, otherWords.size) && shared === Math.min(words.size, otherWords.size);
  const haveDate = dates.some((date) => date.length > 4 && otherDates.includes(date));
  return (isWithin && shared > 0) || (haveDate && shared > 0);
}

/** A year agrees with each day of it. */
const agreesWith =
  (date: string) =>
  (other: string): boolean =>
    date.startsWith(other) || other.startsWith(date);

const toWords = (name: string): ReadonlySet<string> => new Set(foldName(name).match(/[\p{L}\p{N}]+/gu) ?? []);
