import { html, raw } from 'hono/html';
import type { Corroboration } from '../changes/corroboration.js';
import type { Match } from '../matches/match.js';
import type { MatchField } from '../vocabulary.js';
import type { ChangeGroup } from './change-groups.js';
import {
  type Markup,
  noMarkup,
  section,
  showCountries,
  showKeys,
  showNone,
  shownLines,
  showParty,
  showRest,
  showTable,
  showText,
  showTexts,
  showTime,
  showTopics,
  type TableColumn,
} from './html-markup.js';
import type { DetailLookup, MatchChangeFacts, PartyFacts } from './list-facts.js';
import { describeReason } from './reasons.js';
import type { Report } from './report.js';
import type { TruncatedMatches } from './run-facts.js';
import { countNoun, escapeXml, formatCount, toVisibleText } from './text.js';
import {
  adjustmentWords,
  agreementWords,
  causeWords,
  describeBriefly,
  describeChange,
  describeItem,
  describeReplaced,
  describeRule,
  describeSaid,
  describeTopic,
  detailWords,
  fieldWords,
  severityWords,
} from './words.js';

/** A column of the comparison; `field` is the compared field whose change it shows. */
interface Column {
  title: string;
  field: MatchField;
  customer: (party: PartyFacts) => Markup;
  /** Which fact of the customer bears the match out. */
  corroborates?: keyof Corroboration;
  listed: (match: Match, other: Match | null) => Markup;
}

const cardColumns: readonly Column[] = [
  { title: 'Name', field: 'name', customer: (party) => showText(party.name), listed: (match) => showText(match.name) },
  { title: 'Listed for', field: 'topics', customer: showNone, listed: (match, other) => showTopics(match, other) },
  {
    title: 'Born',
    field: 'birth_date',
    corroborates: 'birthDate',
    customer: (party) => showTexts(party.birthDate === null ? [] : [party.birthDate]),
    listed: (match) => showTexts(match.birthDates),
  },
  {
    title: 'Countries',
    field: 'country',
    corroborates: 'country',
    customer: (party) => showCountries(party.countries),
    listed: (match) => showCountries(match.countries),
  },
  {
    title: 'Kind',
    field: 'schema',
    customer: (party) => html`${party.type}`,
    listed: (match) => showText(match.schema),
  },
  { title: 'Flagged', field: 'match', customer: showNone, listed: (match) => html`${match.isHit ? 'hit' : 'no hit'}` },
  {
    title: 'Score',
    field: 'score',
    customer: showNone,
    listed: (match) => html`${match.score} <span class="note">rank ${match.rank}</span>`,
  },
];

/**
 * One change in full: the customer's facts, before as well where its record changed, above the listed party's, before and now, with what changed
 * marked; how its item stood at `now`, and the item's code where it waits.
 */
export function showChangeCard(
  change: MatchChangeFacts,
  details: readonly DetailLookup[],
  { now, code }: { now: Date; code: string | null },
): Markup {
  const { party, formerParty, before, after } = change;
  return html`
<article class="change"${showKeys(change)}>
<h4>${describeChange(change)} <span class="who">${showParty(party)} <span class="muted">risk ${party.riskTier ?? 'not given'}</span></span></h4>
<table class="compare">
<caption class="unseen">Customer and listed party compared</caption>
<thead><tr><td></td>${cardColumns.map(({ title }) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>
${formerParty === null ? noMarkup : showCustomer('Customer before', formerParty, party, null)}${showCustomer(formerParty === null ? 'Customer' : 'Customer now', party, formerParty, change.corroboration)}${before === null ? noMarkup : showListed('before', before, after, change)}${showListed('now', after, before, change)}</tbody>
</table>
${showItem(change, now, code)}<p class="why">Why: ${showText([describeRule(change), ...change.adjustments.map((each) => adjustmentWords[each])].join(', '))}; ${causeWords[change.cause]}. Match <code>${showText(change.matchId)}</code>, found by run <code>${change.runId}</code></p>${details.map(showDetail)}
</article>`;
}

/** How the item stood when the run closed, what was said about it last, and what about the match that it seems to replace. */
function showItem({ item }: MatchChangeFacts, now: Date, code: string | null): Markup {
  if (item === null) return noMarkup;
  const said = [
    ...item.said.map(describeSaid),
    ...(item.replaced === null ? [] : [`Before: ${describeReplaced(item.replaced)}`]),
  ];
  return html`<p class="item">${showText(describeItem(item, now))}${code === null ? noMarkup : html`, ${showAlertCode(code)}`}.${said.map((words) => html`<br><span class="muted">${showText(words)}</span>`)}</p>
`;
}

function showCustomer(
  title: string,
  party: PartyFacts,
  other: PartyFacts | null,
  agreements: Corroboration | null,
): Markup {
  return html`<tr><th scope="row">${title}</th>${cardColumns.map((column) => {
    const isChanged = other !== null && String(column.customer(party)) !== String(column.customer(other));
    return html`<td data-label="${column.title}"${isChanged ? html` class="marked"` : noMarkup}>${column.customer(party)}${showAgreement(column, agreements)}</td>`;
  })}</tr>
`;
}

function showAgreement({ corroborates }: Column, agreements: Corroboration | null): Markup {
  if (corroborates === undefined || agreements === null) return noMarkup;
  const agreement = agreements[corroborates];
  if (agreement === 'unknown') return noMarkup;
  return html` <span class="agreement ${agreement}">${agreementWords[agreement]}</span>`;
}

function showListed(
  when: 'before' | 'now',
  match: Match | null,
  other: Match | null,
  { fields }: MatchChangeFacts,
): Markup {
  const title = html`<th scope="row">Listed ${when}</th>`;
  if (match === null) {
    return html`<tr>${title}<td class="absent" colspan="${cardColumns.length}">not in the answer</td></tr>
`;
  }
  return html`<tr>${title}${cardColumns.map(({ title: label, field, listed }) =>
    fields.includes(field)
      ? html`<td data-label="${label}" class="marked ${when}">${listed(match, other)}${when === 'now' ? html` <span class="unseen">changed</span>` : noMarkup}</td>`
      : html`<td data-label="${label}">${listed(match, other)}</td>`,
  )}</tr>
`;
}

function showDetail({ kind, id, askedAt, digest, reason }: DetailLookup): Markup {
  const what = html`${detailWords[kind]} <code>${showText(id)}</code>`;
  if (digest === null) {
    return html`
<p class="why">Not available: ${what}, ${describeReason(reason ?? 'unknown')}, ${showTime(askedAt)}</p>`;
  }
  return html`
<p class="why">Kept as evidence: ${what}, fetched ${showTime(askedAt)}, SHA-256 <code>${digest}</code></p>`;
}

/** What the page shows of the changes of one severity, or of its matches of first screenings. */
export interface ShownGroup {
  section: 'changes' | 'baseline';
  group: ChangeGroup;
  /** The first of those that stand one by one: these in full. */
  first: readonly MatchChangeFacts[];
  /** How many hits for sanctions there are beyond them. */
  furtherHits: number;
  /** Those, in batches. */
  readFurtherHits: () => AsyncIterable<readonly MatchChangeFacts[]>;
}

/** What the page shows of each group, read where it is not held. */
export async function chooseShown({ changes, baseline, cut }: Report): Promise<readonly ShownGroup[]> {
  const shown: ShownGroup[] = [];
  for (const group of changes ?? []) shown.push(await chooseLines('changes', group, cut.changes));
  for (const group of baseline) shown.push(await chooseLines('baseline', group, cut.baseline));
  return shown;
}

async function chooseLines(
  section: ShownGroup['section'],
  group: ChangeGroup,
  cut: TruncatedMatches | null,
): Promise<ShownGroup> {
  const { severity, single, singleCount, sanctionHits, changes } = group;
  const wanted = Math.min(shownLines, singleCount);
  const first =
    cut === null || single.length >= wanted ? single.slice(0, wanted) : await readFirst(cut.readOf(severity), wanted);
  const inFull = new Set(first.map(({ changeId }) => changeId));
  const isFurther = ({ changeId, isSanctionHit }: MatchChangeFacts): boolean => isSanctionHit && !inFull.has(changeId);
  const readFurtherHits = async function* () {
    yield changes.filter(isFurther);
    if (cut !== null) for await (const batch of cut.readSanctionHits(severity)) yield batch.filter(isFurther);
  };
  const furtherHits = sanctionHits - first.filter(({ isSanctionHit }) => isSanctionHit).length;
  return { section, group, first, furtherHits, readFurtherHits };
}

/** The first of those that stand one by one. */
async function readFirst(
  batches: AsyncIterable<readonly MatchChangeFacts[]>,
  wanted: number,
): Promise<readonly MatchChangeFacts[]> {
  const found: MatchChangeFacts[] = [];
  if (wanted === 0) return found;
  for await (const batch of batches) {
    found.push(...batch.filter(({ cluster }) => cluster === undefined));
    if (found.length >= wanted) break;
  }
  return found.slice(0, wanted);
}

/** What is left of the page for further hits for sanctions: how many bytes, and for how many. */
interface HitRoom {
  bytes: number;
  hits: number;
}

/** Gives the code of a change's item; null where it is not known. */
export type FindCode = (change: MatchChangeFacts) => string | null;

/** The code of a change's item, where that waits and is on the list of what is to be reviewed. */
export function toFindCode({ toReview }: Pick<Report, 'toReview'>): FindCode {
  const toKey = (reference: string, name: string, matchId: string): string =>
    JSON.stringify([reference, name, matchId]);
  const marks = new Map(
    (toReview?.items ?? []).map(({ party, listed, mark }) => [toKey(party.reference, party.name, listed.id), mark]),
  );
  return ({ party, matchId }) =>
    marks.size === 0 ? null : (marks.get(toKey(party.reference, party.name, matchId)) ?? null);
}

/** The code of an alert, leading to where the page shows it among all that waits. */
const showAlertCode = (code: string): Markup => html`<a href="#${toAnchor(code)}"><code>${showText(code)}</code></a>`;

/** The place of an alert on the page; a code is letters, digits and hyphens. */
export const toAnchor = (mark: string): string => `alert-${mark.replaceAll(/[^\w-]/g, '')}`;

/** Where the further hits for sanctions of a group come when all else of the page is there. */
export const furtherHitsPlace = ({ section, group }: ShownGroup): Markup =>
  raw(`<!--further ${section} ${group.severity}-->`);

/** Finds such places in the page; outside texts are escaped, and are none. */
export const furtherHitsPattern = /<!--further (\w+) (\w+)-->/;

// About what the shortest line takes; so much is kept for each that is still to come.
const shortLineBytes = 90;

/**
 * The hits for sanctions beyond those in full: a row each, as long as there is room for all others by customer and listed party alone; what
 * does not even fit so is counted. `room` is what is left, and gets less.
 */
export async function* renderFurtherHits(shown: ShownGroup, room: HitRoom, findCode: FindCode): AsyncGenerator<string> {
  const kinds = new Map<string, string[]>();
  const short: string[] = [];
  let unshown = 0;
  for await (const batch of shown.readFurtherHits()) {
    for (const change of batch) {
      const row = toRow(change, findCode(change));
      room.hits -= 1;
      if (room.bytes - Buffer.byteLength(row) >= room.hits * shortLineBytes) {
        const heading = `<tbody data-cause="${change.cause}">\n<tr class="kind"><th colspan="6" scope="rowgroup">${escapeXml(`${describeChange(change)}; ${causeWords[change.cause]}`)}\n`;
        const rows = kinds.get(heading);
        if (rows) rows.push(row);
        else kinds.set(heading, [row]);
        room.bytes -= Buffer.byteLength(row);
        continue;
      }
      const line = toShortLine(change);
      room.bytes -= Buffer.byteLength(line);
      if (room.bytes >= 0) short.push(line);
      else unshown += 1;
    }
  }
  const { first, group, furtherHits } = shown;
  yield* renderRows(kinds);
  yield* renderShortLines(short);
  if (unshown > 0) {
    yield `<p class="rest alarm" role="note">${countNoun(unshown, 'further sanction hit')} of this severity ${unshown === 1 ? 'is' : 'are'} not on this page, which would become too big to open. All of them are in <code>changes.csv</code>.</p>\n`;
  }
  yield String(await showRest(first.length, furtherHits - unshown, group.singleCount, 'changes.csv'));
}

function* renderRows(kinds: ReadonlyMap<string, readonly string[]>): Generator<string> {
  if (kinds.size === 0) return;
  const count = [...kinds.values()].reduce((sum, rows) => sum + rows.length, 0);
  yield `<table class="list hits">
<caption>${countNoun(count, 'further sanction hit')}, one line each, with both sides in changes.csv; an arrow leads from before to now</caption>
<thead><tr><th scope="col">Customer</th><th scope="col">Name</th><th scope="col">Listed party</th><th scope="col">Listed for</th><th scope="col">Score</th><th scope="col">Alert</th></tr></thead>
`;
  for (const [heading, rows] of kinds) yield `${heading}${rows.join('')}</tbody>\n`;
  yield '</table>\n';
}

function* renderShortLines(lines: readonly string[]): Generator<string> {
  if (lines.length === 0) return;
  yield String(html`<p class="rest" role="note">There are so many sanction hits that the page would become too big to open: of ${countNoun(lines.length, 'further one')} it tells customer and listed party alone. What happened, why listed, scores and items are in <code>changes.csv</code>.</p>
`);
  yield `<table class="list hits short">
<caption>${countNoun(lines.length, 'further sanction hit')}, by customer and listed party alone</caption>
<thead><tr><th scope="col">Customer</th><th scope="col">Name</th><th scope="col">Listed party</th></tr></thead>
<tbody>
${lines.join('')}</tbody>
</table>
`;
}

// Cells need no closing tags, and each keeps the direction of its text to itself: with tens of thousands every sign counts.
const toText = (text: string): string => escapeXml(toVisibleText(text));

function toRow(change: MatchChangeFacts, code: string | null): string {
  const { party, before, after } = change;
  const show = (toFact: (match: Match) => string): string => {
    const [was, is] = [before, after].map((match) => match && toFact(match));
    return toText(was != null && is != null && was !== is ? `${was} → ${is}` : (is ?? was ?? ''));
  };
  const name = party.role === 'customer' ? party.name : `${party.name} (${party.role.replaceAll('_', ' ')})`;
  return `<tr><th>${toText(party.reference)}<td>${toText(name)}<td>${show((match) => match.name)}<td>${show(describeTopics)}<td>${show(({ score }) => String(score))}<td>${toText(code ?? '')}\n`;
}

const describeTopics = ({ topics }: Match): string => topics.map(describeTopic).join(', ');

const toShortLine = ({ party, before, after }: MatchChangeFacts): string =>
  `<tr><th>${toText(party.reference)}<td>${toText(party.name)}<td>${toText((after ?? before)?.name ?? '')}\n`;

const values: Readonly<Record<Exclude<MatchField, 'topics'>, (match: Match) => Markup>> = {
  birth_date: (match) => showTexts(match.birthDates),
  country: (match) => showCountries(match.countries),
  match: (match) => html`${match.isHit ? 'yes' : 'no'}`,
  name: (match) => showText(match.name),
  schema: (match) => showText(match.schema),
  score: (match) => html`${match.score}`,
};

const recordValues: readonly { title: string; of: (party: PartyFacts) => Markup }[] = [
  { title: 'customer', of: (party) => showText(party.name) },
  { title: 'customer born', of: (party) => showTexts(party.birthDate === null ? [] : [party.birthDate]) },
  { title: 'customer countries', of: (party) => showCountries(party.countries) },
  { title: 'customer kind', of: (party) => html`${party.type}` },
];

const lineColumns = (findCode: FindCode): readonly TableColumn<MatchChangeFacts>[] => [
  { title: 'Customer', cell: (change) => showParty(change.party) },
  {
    title: 'What',
    cell: (change) =>
      html`${describeChange(change)}${change.cause === 'service_data' ? noMarkup : html` <small>${causeWords[change.cause]}</small>`}`,
  },
  { title: 'Listed party', cell: showListedNow },
  { title: 'Before and now', cell: showDifferences },
  { title: 'Alert', cell: (change) => showStatus(change, findCode(change)) },
];

/** Changes one line each, all of them. */
export function showChangeList(changes: readonly MatchChangeFacts[], findCode: FindCode): Markup {
  return showTable('One line per change; score as the service gives it now', lineColumns(findCode), changes, null, {
    toAttributes: showKeys,
    name: 'lines',
  });
}

function showListedNow(change: MatchChangeFacts): Markup {
  const match = change.after ?? change.before;
  return match === null ? noMarkup : html`${showText(match.name)} <small>${match.score}</small>`;
}

function showDifferences({ before, after, fields, party, formerParty }: MatchChangeFacts): Markup {
  const parts: Markup[] = [];
  if (formerParty !== null) {
    for (const { title, of } of recordValues) {
      if (String(of(formerParty)) !== String(of(party))) parts.push(showBecame(title, of(formerParty), of(party)));
    }
  }
  if (before === null || after === null) {
    const only = after ?? before;
    if (only !== null && only.topics.length > 0) parts.push(showText(only.topics.map(describeTopic).join(', ')));
  } else {
    for (const field of fields) {
      if (field === 'topics') parts.push(...listTopicSteps(before, after));
      else parts.push(showBecame(fieldWords[field], values[field](before), values[field](after)));
    }
  }
  return html`${parts.map((part, index) => html`${index === 0 ? '' : '; '}${part}`)}`;
}

/** Which topics are new, and which are gone. */
function listTopicSteps({ topics: before }: Match, { topics: after }: Match): readonly Markup[] {
  const gained = after.filter((topic) => !before.includes(topic)).map(describeTopic);
  const lost = before.filter((topic) => !after.includes(topic)).map(describeTopic);
  return [
    ...(gained.length === 0
      ? []
      : [html`<span class="muted">now listed for</span> <strong>${showText(gained.join(', '))}</strong>`]),
    ...(lost.length === 0
      ? []
      : [html`<span class="muted">no longer for</span> <strong>${showText(lost.join(', '))}</strong>`]),
  ];
}

const showBecame = (title: string, before: Markup, now: Markup): Markup =>
  html`<span class="muted">${title}</span> ${before} <span aria-label="became">→</span> <strong>${now}</strong>`;

/** How the alert stood when the run closed, in a few words, and its code where it waits. */
function showStatus({ item }: Pick<MatchChangeFacts, 'item'>, code: string | null): Markup {
  const words = item === null ? '' : describeBriefly(item);
  if (code === null) return html`${showText(words)}`;
  return html`${showAlertCode(code)}${words === '' ? noMarkup : html` <small>${showText(words)}</small>`}`;
}

const baselineColumns = (findCode: FindCode): readonly TableColumn<MatchChangeFacts>[] => [
  { title: 'Customer', cell: showCustomerName },
  { title: 'Listed party', cell: showListedName },
  { title: 'Listed for', cell: ({ after }) => (after === null ? noMarkup : showTopics(after, null)) },
  { title: 'Score', cell: ({ after }) => (after === null ? noMarkup : `${after.score}${after.isHit ? ', hit' : ''}`) },
  { title: 'Alert', cell: (change) => showStatus(change, findCode(change)) },
];

/** Matches of customers screened for the first time, listed by severity, apart from what is new; left out when there are none. */
export function showBaseline(report: Report, shown: readonly ShownGroup[]): Markup {
  const { baseline } = report;
  if (baseline.length === 0) return noMarkup;
  const total = baseline.reduce((sum, group) => sum + group.count, 0);
  return section(
    'baseline',
    'First screenings',
    html`<p class="sum"><span class="term whole"><b>${formatCount(total)}</b> <i>${total === 1 ? 'match' : 'matches'}</i></span>${baseline.map(
      (group, index) =>
        html` <span class="step"><span class="sign">${index === 0 ? '=' : '+'}</span> <span class="term"><b>${formatCount(group.count)}</b> <i>${severityWords[group.severity].toLowerCase()}</i></span></span>`,
    )}</p>
<p class="muted">Found on customers that were screened for the first time. There is nothing to compare them with, so they are not counted among the changes; they want to be looked at all the same. Each customer and related party counts for itself, also where one answer serves several.</p>
${shown.filter((one) => one.section === 'baseline').map((one) => showGroup(one, toFindCode(report)))}`,
  );
}

function showGroup(shown: ShownGroup, findCode: FindCode): Markup {
  const { severity, count } = shown.group;
  const caption = 'One line per match; score as the service gave it';
  return html`
<section class="severity ${severity}" aria-label="First screenings, ${severityWords[severity]}">
<h3><span class="label">${severityWords[severity]}</span> <span class="muted">${countNoun(count, 'match', 'matches')}</span></h3>
${shown.first.length === 0 ? noMarkup : showTable(caption, baselineColumns(findCode), shown.first, null, { name: 'lines' })}
${furtherHitsPlace(shown)}
</section>`;
}

function showCustomerName({ party }: MatchChangeFacts): Markup {
  const birthDates = party.birthDate === null ? [] : [party.birthDate];
  return html`${showParty(party)} <small>born ${showTexts(birthDates)}, ${showCountries(party.countries)}</small>`;
}

function showListedName({ after }: MatchChangeFacts): Markup {
  if (after === null) return noMarkup;
  return html`${showText(after.name)} <small>born ${showTexts(after.birthDates)}, ${showCountries(after.countries)}</small>`;
}
