import { html } from 'hono/html';
import type { Corroboration } from '../changes/corroboration.js';
import type { Match } from '../matches/match.js';
import { codeWords, describeDisposition, describeTopic, toWords } from '../vocabulary/words.js';
import { changeCauses, type MatchField, severities } from '../vocabulary.js';
import type { ChangeGroup } from './change-groups.js';
import {
  type Markup,
  noMarkup,
  section,
  showCode,
  showCountries,
  showDigest,
  showNone,
  shownLines,
  showParty,
  showRemark,
  showRest,
  showSentence,
  showTable,
  showText,
  showTexts,
  showTime,
  showTopics,
  type TableColumn,
  toAnchor,
} from './html-markup.js';
import type { ChangeAlertFacts, DetailLookup, MatchChangeFacts, PartyFacts } from './list-facts.js';
import { describeDrift, describeReason, describeWatch } from './reasons.js';
import type { Report } from './report.js';
import { countNoun, formatCount, formatDay, formatMinute } from './text.js';
import { describeChange, describeReopening, describeReplaced, describeSaid } from './words.js';

/** A column of the comparison; `field`: the compared field. */
interface ChangeColumn {
  title: string;
  field: MatchField;
  customer: (party: PartyFacts) => Markup;
  /** The fact of the customer that is compared. */
  corroborates?: keyof Corroboration;
  listed: (match: Match, other: Match | null) => Markup;
}

const cardColumns: readonly ChangeColumn[] = [
  { title: 'Name', field: 'name', customer: (party) => showText(party.name), listed: (match) => showText(match.name) },
  { title: 'Risk category', field: 'topics', customer: showNone, listed: (match, other) => showTopics(match, other) },
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

/** One change in full: the facts of the customer and of the listed party, before and now, with marked changes, and the state of the alert. */
function showChangeCard(
  change: MatchChangeFacts,
  details: readonly DetailLookup[],
  { run, code }: { run: Report['run']; code: string | null },
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
${showAlert(change, run, code)}<p class="why">Why: ${showText(describeRule(change))}; ${codeWords.cause[change.cause]}. Match <code>${showText(change.matchId)}</code>, found by run ${showCode(change.runId)}</p>${details.map((lookup) => showDetail(lookup, run))}
</article>`;
}

function showAlert({ alert }: MatchChangeFacts, run: Report['run'], code: string | null): Markup {
  if (alert === null) return noMarkup;
  const said = [
    ...alert.said.map((one) => describeSaid(one, run.timezone)),
    ...(alert.replaced === null ? [] : [`Before: ${describeReplaced(alert.replaced, run.timezone)}`]),
  ];
  return html`<p class="alert">${showRemark(describeAlert(alert, run))}${code === null ? noMarkup : html`, ${showAlertCode(code)}`}.${said.map((words) => html`<br><span class="muted">${showRemark(words)}</span>`)}</p>
`;
}

/** The state of an alert when the run closed: `Open since 2026-11-21 (4 days), overdue since 2026-11-22 .., assigned to bea (for ada)`. */
function describeAlert(
  { state, openedAt, dueAt, assignedTo, reopenedBecause }: ChangeAlertFacts,
  { finishedAt: now, timezone }: Report['run'],
): string {
  if (state !== 'open' && state !== 'pending_approval') return toSentence(codeWords.alertState[state]);
  const days = Math.floor((now.getTime() - openedAt.getTime()) / 86_400_000);
  const age = days <= 0 ? 'today' : countNoun(days, 'day');
  const waits = toSentence(reopenedBecause.length > 0 && state === 'open' ? 're-opened' : codeWords.alertState[state]);
  const because = reopenedBecause.length === 0 ? '' : ` (${describeReopening(reopenedBecause)})`;
  const due = dueAt === null ? '' : `, ${dueAt < now ? 'overdue since' : 'due'} ${formatMinute(dueAt, timezone)}`;
  return `${waits}${because} since ${formatDay(openedAt, timezone)} (${age})${due}, ${assignedTo === null ? 'not assigned' : `assigned to ${assignedTo}`}`;
}

/** The severity rule of a change and its adjustments, in words; `delisted` only where the list itself changed. */
export function describeRule({ rule, kind, cause, adjustments }: MatchChangeFacts): string {
  const isDelisted = kind === 'match_removed' && cause === 'service_data';
  const words = rule === 'delisted' && !isDelisted ? 'no longer matched' : toWords(rule);
  return [words, ...adjustments.map((each) => codeWords.adjustment[each])].join(', ');
}

const toSentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`;

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

function showAgreement({ corroborates }: ChangeColumn, agreements: Corroboration | null): Markup {
  if (corroborates === undefined || agreements === null) return noMarkup;
  const agreement = agreements[corroborates];
  if (agreement === 'unknown') return noMarkup;
  return html` <span class="agreement ${agreement}">${codeWords.agreement[agreement]}</span>`;
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

function showDetail({ kind, id, askedAt, digest, reason }: DetailLookup, run: Report['run']): Markup {
  const what = html`${codeWords.detail[kind]} <code>${showText(id)}</code>`;
  if (digest === null) {
    return html`
<p class="why">Not available: ${what}, ${describeReason(reason ?? 'unknown')}, ${showTime(askedAt, run)}</p>`;
  }
  return html`
<p class="why">Kept as evidence: ${what}, fetched ${showTime(askedAt, run)}, SHA-256 ${showDigest(digest)}</p>`;
}

/** The part of a severity's changes, or of its matches of first screenings, that the page shows. */
export interface ShownGroup {
  section: 'changes' | 'baseline';
  group: ChangeGroup;
  /** The first changes outside of clusters, shown in full. */
  first: readonly MatchChangeFacts[];
  /** The code of a change's alert, where the alert waits and the page lists it. */
  findCode: (change: MatchChangeFacts) => string | null;
}

/** The code of an alert, with a link to its row among the waiting alerts. */
const showAlertCode = (code: string): Markup =>
  html`<a class="whole" href="#${toAnchor(code)}"><code>${showText(code)}</code></a>`;

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

const lineColumns = ({ findCode }: ShownGroup, run: Report['run']): readonly TableColumn<MatchChangeFacts>[] => [
  { title: 'Customer', cell: (change) => showParty(change.party) },
  {
    title: 'What',
    cell: (change) =>
      html`${describeChange(change)}${change.cause === 'service_data' ? noMarkup : html` <small>${codeWords.cause[change.cause]}</small>`}`,
  },
  { title: 'Listed party', cell: showListedNow },
  { title: 'Before and now', cell: showDifferences },
  { title: 'Alert', cell: (change) => showStatus(change, findCode(change), run) },
];

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
      else parts.push(showBecame(codeWords.matchField[field], values[field](before), values[field](after)));
    }
  }
  return html`${parts.map((part, index) => html`${index === 0 ? '' : '; '}${part}`)}`;
}

function listTopicSteps({ topics: before }: Match, { topics: after }: Match): readonly Markup[] {
  const gained = after.filter((topic) => !before.includes(topic)).map(describeTopic);
  const lost = before.filter((topic) => !after.includes(topic)).map(describeTopic);
  return [
    ...(gained.length === 0
      ? []
      : [html`<span class="muted">risk category added</span> <strong>${showText(gained.join(', '))}</strong>`]),
    ...(lost.length === 0
      ? []
      : [html`<span class="muted">risk category removed</span> <strong>${showText(lost.join(', '))}</strong>`]),
  ];
}

const showBecame = (title: string, before: Markup, now: Markup): Markup =>
  html`<span class="muted">${title}</span> ${before} <span aria-label="became">→</span> <strong>${now}</strong>`;

function showStatus({ alert }: Pick<MatchChangeFacts, 'alert'>, code: string | null, run: Report['run']): Markup {
  const words = alert === null ? '' : describeBriefly(alert, run);
  if (code === null) return words === '' ? noMarkup : showRemark(words);
  return html`${showAlertCode(code)}${words === '' ? noMarkup : html` <small>${showRemark(words)}</small>`}`;
}

const baselineColumns = ({ findCode }: ShownGroup, run: Report['run']): readonly TableColumn<MatchChangeFacts>[] => [
  { title: 'Customer', cell: showCustomerName },
  { title: 'Listed party', cell: showListedName },
  { title: 'Risk category', cell: ({ after }) => (after === null ? noMarkup : showTopics(after, null)) },
  { title: 'Score', cell: ({ after }) => (after === null ? noMarkup : `${after.score}${after.isHit ? ', hit' : ''}`) },
  { title: 'Alert', cell: (change) => showStatus(change, findCode(change), run) },
];

function showBaseline(report: Report, shown: readonly ShownGroup[]): Markup {
  const { baseline } = report;
  if (baseline.length === 0) return noMarkup;
  const total = baseline.reduce((sum, group) => sum + group.count, 0);
  return section(
    'baseline',
    'First screenings',
    html`<p class="sum"><span class="term whole"><b>${formatCount(total)}</b> <i>${total === 1 ? 'match' : 'matches'}</i></span>${baseline.map(
      (group, index) =>
        html` <span class="step"><span class="sign">${index === 0 ? '=' : '+'}</span> <span class="term"><b>${formatCount(group.count)}</b> <i>${codeWords.severity[group.severity].toLowerCase()}</i></span></span>`,
    )}</p>
<p class="muted">These customers were screened for the first time, so there is no earlier answer to compare with. The matches do not count as changes, but reviewers must check them too. Each customer and related party counts separately, also where they share one answer.</p>
${shown.filter((one) => one.section === 'baseline').map((one) => showFirstScreenings(one, report.run))}`,
  );
}

function showFirstScreenings(shown: ShownGroup, run: Report['run']): Markup {
  const { severity, count } = shown.group;
  const caption = 'One line per match, with the score of the service';
  return html`
<section class="severity ${severity}" aria-label="First screenings, ${codeWords.severity[severity]}">
<h3><span class="label">${codeWords.severity[severity]}</span> <span class="muted">${countNoun(count, 'match', 'matches')}</span></h3>
${shown.first.length === 0 ? noMarkup : showTable(caption, baselineColumns(shown, run), shown.first, null, { name: 'lines' })}
${showRest(shown.first.length, shown.group.singleCount, 'changes.csv')}
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

const asCards: ReadonlySet<string> = new Set(['critical', 'high']);

/** The number of serious changes per severity with a full comparison; each further change has one line. */
const cardsInFull = 20;

/** The changes by severity, the matches of first screenings, and the groups of changes. */
export async function showChanges(report: Report, shown: readonly ShownGroup[]): Promise<Markup> {
  return html`${showBySeverity(report, shown)}${showBaseline(report, shown)}${await showGroups(report)}`;
}

function showBySeverity(report: Report, shown: readonly ShownGroup[]): Markup {
  const { changes } = report;
  if (changes === null) return noMarkup;
  const single = changes.reduce((sum, group) => sum + group.singleCount, 0);
  return section(
    'changes',
    'What changed',
    html`${showTotal(changes, report)}${showCarriedOver(report)}${changes.length === 0 ? showQuiet(report) : noMarkup}${showTools(single)}${shown
      .filter((one) => one.section === 'changes')
      .map((one) => showSeverity(one, report))}`,
  );
}

function showTotal(changes: NonNullable<Report['changes']>, { run }: Report): Markup {
  const total = changes.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return noMarkup;
  const since = run.comparedWith === null ? noMarkup : html` since ${showTime(run.comparedWith.finishedAt, run)}`;
  return html`<p class="quiet">${countNoun(total, 'change')}${since}. Changes that need a disposition are also listed under Open alerts.</p>
`;
}

function showCarriedOver({ carriedFrom }: Report): Markup {
  if (carriedFrom.length === 0) return noMarkup;
  const runs = carriedFrom.map((run) => `${run.runId} (${countNoun(run.changes + run.baseline, 'finding')})`);
  return html`<p class="muted">${showSentence(`Includes findings of earlier runs that no earlier report contains: ${runs.join(', ')}.`)}</p>`;
}

function showSeverity(shown: ShownGroup, { details, run }: Report): Markup {
  const { group, first, findCode } = shown;
  const { severity, count, singleCount } = group;
  const cards = asCards.has(severity) ? first.slice(0, cardsInFull) : [];
  const lines = first.slice(cards.length);
  const toCard = (change: MatchChangeFacts): Markup =>
    showChangeCard(change, listDetailsOf(details.lookups, change.matchId), {
      run,
      code: findCode(change),
    });
  const caption = 'One line per change, with the current score of the service';
  const grouped = count - singleCount;
  return html`
<section class="severity ${severity}" aria-label="${codeWords.severity[severity]}">
<h3><span class="label">${codeWords.severity[severity]}</span> <span class="muted">${countNoun(count, 'change')}${grouped === 0 ? '' : `, ${formatCount(grouped)} of them under Groups and drift`}</span></h3>
${cards.length === 0 ? noMarkup : html`<div class="cards">${cards.map(toCard)}</div>`}${lines.length === 0 ? noMarkup : showTable(caption, lineColumns(shown, run), lines, null, { toAttributes: showKeys, name: 'lines' })}
${showRest(shown.first.length, shown.group.singleCount, 'changes.csv')}
</section>`;
}

function showQuiet(report: Report): Markup {
  const { coverage } = report;
  const counts = coverage?.counts;
  if (counts === undefined) return html`<p>No match changed.</p>`;
  if (counts.screened + counts.reused === 0) {
    return html`<p class="quiet">No customer was screened in this run: nothing was compared.</p>`;
  }
  const missing = coverage?.states?.find(({ code }) => code === 'not_screened')?.count ?? 0;
  const rest = missing === 0 ? '' : `; ${countNoun(missing, 'customer')} ${missing === 1 ? 'is' : 'are'} not screened`;
  return html`<p class="quiet">${missing === 0 ? 'No match changed' : 'No match of the screened customers changed'}${rest}.</p>
<p class="muted">Checked: ${countNoun(counts.screened + counts.reused, 'customer')} with ${countNoun(counts.searches, 'search', 'searches')}, ${formatCount(counts.matches)} matches in the answers, ${formatCount(counts.hits)} of them flagged as hits (an answer for several customers counts once)${report.run.comparedWith === null ? '' : ', each compared with the last reported result'}.</p>`;
}

// Fewer changes need no filter.
const worthFiltering = 4;

/** Fields that filter and sort the changes, hidden until the page's script shows them. */
function showTools(changes: number): Markup {
  if (changes < worthFiltering) return noMarkup;
  return html`<div class="tools" role="group" aria-label="Filter and sort the changes" hidden>
<label>Find <input type="search" data-tool="text" autocomplete="off" spellcheck="false" placeholder="customer or name"></label>
<label>Severity <select data-tool="severity"><option value="">all</option>${severities.map((severity) => html`<option value="${severity}">${codeWords.severity[severity]}</option>`)}</select></label>
<label>Cause <select data-tool="cause"><option value="">all</option>${changeCauses.map((cause) => html`<option value="${cause}">${codeWords.cause[cause]}</option>`)}</select></label>
<label>Order <select data-tool="sort"><option value="listed">as listed</option><option value="customer">by customer</option><option value="score">highest score first</option><option value="since">oldest open alert first</option></select></label>
<output data-tool="shown" aria-live="polite"></output>
</div>
`;
}

const countGrouped = ({ changes }: Pick<Report, 'changes'>): number =>
  (changes ?? []).reduce((sum, { count, singleCount }) => sum + count - singleCount, 0);

const hasGroups = (report: Pick<Report, 'changes' | 'watch'>): boolean =>
  countGrouped(report) > 0 || (report.watch !== null && describeWatch(report.watch).length > 0);

async function showGroups(report: Report): Promise<Markup> {
  if (!hasGroups(report)) return noMarkup;
  const { changes, watch } = report;
  const drift = describeDrift(watch);
  const groups: Markup[] = [];
  for (const { severity, clusters } of changes ?? []) {
    if (clusters.length === 0) continue;
    groups.push(html`<section class="severity ${severity}" aria-label="Groups, ${codeWords.severity[severity]}">
<h3><span class="label">${codeWords.severity[severity]}</span></h3>
${await showClusters(clusters)}</section>
`);
  }
  return section(
    'groups',
    'Groups and drift',
    html`${
      drift === null
        ? noMarkup
        : html`<p class="drift" role="note"><strong>Unusual volume:</strong> ${drift}.</p>
`
    }${groups}${watch === null ? noMarkup : html`<ul class="plain">${describeWatch(watch).map((line) => html`<li>${line}</li>`)}</ul>`}`,
  );
}

async function showClusters(clusters: ChangeGroup['clusters']): Promise<Markup> {
  if (clusters.length === 0) return noMarkup;
  const shown: Markup[] = [];
  for (const cluster of clusters.slice(0, shownLines)) shown.push(showCluster(cluster, await cluster.readExamples()));
  return html`<ul class="clusters">
${shown}</ul>
${showRest(shown.length, clusters.length, 'report.json')}`;
}

function showCluster(
  { name, by, customers, changes }: ChangeGroup['clusters'][number],
  examples: readonly MatchChangeFacts[],
): Markup {
  const [first] = examples;
  if (first === undefined) return noMarkup;
  const match = first.after ?? first.before;
  const fields =
    first.fields.length === 0 ? '' : ` (${first.fields.map((field) => codeWords.matchField[field]).join(', ')})`;
  return html`<li><b>${countNoun(customers, 'customer')}</b>: ${describeChange(first)}${fields}${by === 'listed_party' ? showListedParty(match) : noMarkup}; ${codeWords.cause[first.cause]}.
<small>Such as ${examples.map((change, index) => html`${index === 0 ? '' : ', '}${showParty(change.party)}`)}. All ${countNoun(changes, 'change')}: <code>changes.csv</code>, group <code>${name}</code>.</small></li>
`;
}

const showListedParty = (match: Match | null): Markup =>
  match === null ? noMarkup : html`, ${showText(match.name)} <code>${showText(match.id)}</code>`;

/** The attributes by which the page's script filters and sorts: cause, score, and when the alert was opened. */
function showKeys({ cause, after, before, alert }: MatchChangeFacts): Markup {
  const since = alert === null ? '' : html` data-since="${alert.openedAt.toISOString().slice(0, 16)}"`;
  return html` data-cause="${cause}" data-score="${(after ?? before)?.score ?? 0}"${since}`;
}

/** The state of an alert: `due 2026-11-22`, `false positive by ada`. */
function describeBriefly({ state, dueAt, said, replaced }: ChangeAlertFacts, { timezone }: Report['run']): string {
  const [last] = said;
  const before = replaced === null ? '' : `before: ${describeDisposition(replaced.verdict)} by ${replaced.reviewer}`;
  if (state === 'open')
    return [
      ...(dueAt === null ? ['open'] : [`due ${formatDay(dueAt, timezone)}`]),
      ...(before === '' ? [] : [before]),
    ].join('; ');
  if (state === 'pending_approval' || state === 'no_longer_matched' || !last?.verdict)
    return codeWords.alertState[state];
  return `${describeDisposition(last.verdict)} by ${last.reviewer}`;
}

/** The records of a match: those of its own id and of the entities that they name. */
function listDetailsOf(lookups: readonly DetailLookup[], matchId: string): readonly DetailLookup[] {
  const own = lookups.filter(({ id }) => id === matchId);
  const named = new Set(own.flatMap(({ entityIds }) => entityIds));
  return [...own, ...lookups.filter(({ id }) => id !== matchId && named.has(id))];
}
