import { html } from 'hono/html';
import type { Match } from '../matches/match.js';
import { codeWords, describeDisposition, describeTopic } from '../vocabulary/words.js';
import { changeCauses, severities } from '../vocabulary.js';
import type { ChangeGroup } from './change-groups.js';
import { showChangeCard } from './html-card.js';
import {
  comparedFields,
  joinMarkup,
  noMarkup,
  type PageSection,
  showBirthDate,
  showCountries,
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
  toAnchor,
} from './html-markup.js';
import { describeDrift, describeWatch } from './reasons.js';
import type { Report } from './report.js';
import type { ChangeAlertFacts, DetailLookup, MatchChangeFacts, TruncatedMatches } from './run-facts.js';
import type { Column, Markup } from './section.js';
import { countNoun, formatCount, formatDay, keep } from './text.js';
import { isHeld } from './verdict.js';
import { describeChange } from './words.js';

/** Finds the code of a change's alert, where the alert waits and the page lists it. */
type FindCode = (change: MatchChangeFacts) => string | null;

/** The first changes of a severity outside of clusters, or of its matches of first screenings, which the page shows in full. */
async function chooseLines({ severity, single, singleCount }: ChangeGroup, cut: TruncatedMatches | null) {
  const wanted = Math.min(shownLines, singleCount);
  if (cut === null || single.length >= wanted) return single.slice(0, wanted);
  const found: MatchChangeFacts[] = [];
  for await (const batch of cut.readOf(severity)) {
    found.push(...batch.filter(({ cluster }) => cluster === undefined));
    if (found.length >= wanted) break;
  }
  return found.slice(0, wanted);
}

function toFindCode({ toReview }: Report): FindCode {
  const toKey = (reference: string, name: string, matchId: string): string =>
    JSON.stringify([reference, name, matchId]);
  const marks = new Map(
    (toReview?.alerts ?? []).map(({ party, listed, mark }) => [toKey(party.reference, party.name, listed.id), mark]),
  );
  return ({ party, matchId }) => marks.get(toKey(party.reference, party.name, matchId)) ?? null;
}

/** The code of an alert, with a link to its row among the waiting alerts. */
const showAlertCode = (code: string): Markup =>
  html`<a class="whole" href="#${toAnchor(code)}"><code>${showText(code)}</code></a>`;

const toLineColumns = (findCode: FindCode, run: Report['run']): readonly Column<MatchChangeFacts>[] => [
  { title: 'Customer', share: 23, html: ({ party }) => showParty(party) },
  {
    title: 'What',
    share: 19,
    html: (change) => {
      const cause = change.cause === 'service_data' ? noMarkup : html` <small>${codeWords.cause[change.cause]}</small>`;
      return html`${describeChange(change)}${cause}`;
    },
  },
  { title: 'Listed party', share: 21, html: showListedNow },
  { title: 'Before and now', html: showDifferences },
  { title: 'Alert', share: 16, html: (change) => showStatus(change, findCode(change), run) },
];

function showListedNow(change: MatchChangeFacts): Markup {
  const match = change.after ?? change.before;
  return match === null ? noMarkup : html`${showText(match.name)} <small>${match.score}</small>`;
}

function showDifferences({ before, after, fields, party, formerParty }: MatchChangeFacts): Markup {
  const parts: Markup[] = [];
  if (formerParty !== null) {
    for (const { title, customer } of comparedFields) {
      const [former, now] = [customer(formerParty), customer(party)];
      if (String(former) !== String(now)) parts.push(showBecame(`customer ${title.toLowerCase()}`, former, now));
    }
  }
  if (before === null || after === null) {
    const only = after ?? before;
    if (only !== null && only.topics.length > 0) parts.push(showText(only.topics.map(describeTopic).join(', ')));
  } else {
    for (const { field, title, listed } of comparedFields) {
      if (!fields.includes(field)) continue;
      if (field === 'topics') parts.push(...listTopicSteps(before, after));
      else parts.push(showBecame(title.toLowerCase(), listed(before, null), listed(after, null)));
    }
  }
  return joinMarkup(parts, '; ');
}

function listTopicSteps({ topics: before }: Match, { topics: after }: Match): readonly Markup[] {
  const gained = after.filter((topic) => !before.includes(topic)).map(describeTopic);
  const lost = before.filter((topic) => !after.includes(topic)).map(describeTopic);
  const show = (what: string, topics: readonly string[]): Markup =>
    html`<span class="muted">risk category ${what}</span> <strong>${showText(topics.join(', '))}</strong>`;
  return keep(gained.length > 0 && show('added', gained), lost.length > 0 && show('removed', lost));
}

const showBecame = (title: string, before: Markup, now: Markup): Markup =>
  html`<span class="muted">${title}</span> ${before} <span aria-label="became">→</span> <strong>${now}</strong>`;

function showStatus({ alert }: Pick<MatchChangeFacts, 'alert'>, code: string | null, run: Report['run']): Markup {
  const words = alert === null ? '' : describeBriefly(alert, run);
  if (code === null) return words === '' ? noMarkup : showRemark(words);
  return html`${showAlertCode(code)}${words === '' ? noMarkup : html` <small>${showRemark(words)}</small>`}`;
}

const toBaselineColumns = (findCode: FindCode, run: Report['run']): readonly Column<MatchChangeFacts>[] => [
  { title: 'Customer', share: 23, html: showCustomerName },
  { title: 'Listed party', share: 19, html: showListedName },
  { title: 'Risk category', share: 21, html: ({ after }) => (after === null ? noMarkup : showTopics(after, null)) },
  { title: 'Score', html: ({ after }) => (after === null ? noMarkup : `${after.score}${after.isHit ? ', hit' : ''}`) },
  { title: 'Alert', share: 16, html: (change) => showStatus(change, findCode(change), run) },
];

async function toBaselineSection({ baseline, cut, run }: Report, findCode: FindCode): Promise<PageSection | null> {
  if (baseline.length === 0) return null;
  const shown: Markup[] = [];
  for (const group of baseline) {
    shown.push(showFirstScreenings(group, await chooseLines(group, cut.baseline), findCode, run));
  }
  const total = baseline.reduce((sum, group) => sum + group.count, 0);
  const body = html`<p class="sum"><span class="term whole"><b>${formatCount(total)}</b> <i>${total === 1 ? 'match' : 'matches'}</i></span>${baseline.map(
    (group, index) =>
      html` <span class="step"><span class="sign">${index === 0 ? '=' : '+'}</span> <span class="term"><b>${formatCount(group.count)}</b> <i>${codeWords.severity[group.severity].toLowerCase()}</i></span></span>`,
  )}</p>
<p class="muted">These customers were screened for the first time, so there is no earlier answer to compare with. The matches do not count as changes, but reviewers must check them too. Each customer and related party counts separately, also where they share one answer.</p>
${shown}`;
  return { id: 'baseline', title: 'First screenings', body };
}

function showFirstScreenings(
  { severity, count, singleCount }: ChangeGroup,
  lines: readonly MatchChangeFacts[],
  findCode: FindCode,
  run: Report['run'],
): Markup {
  const table = showTable({
    caption: 'One line per match, with the score of the service',
    columns: toBaselineColumns(findCode, run),
    lines,
    name: 'lines',
    timezone: run.timezone,
  });
  return html`
<section class="severity ${severity}" aria-label="First screenings, ${codeWords.severity[severity]}">
<h3><span class="label">${codeWords.severity[severity]}</span> <span class="muted">${countNoun(count, 'match', 'matches')}</span></h3>
${lines.length === 0 ? noMarkup : table}
${showRest(lines.length, singleCount, 'changes.csv')}
</section>`;
}

function showCustomerName({ party }: MatchChangeFacts): Markup {
  return html`${showParty(party)} <small>born ${showBirthDate(party)}, ${showCountries(party.countries)}</small>`;
}

function showListedName({ after }: MatchChangeFacts): Markup {
  if (after === null) return noMarkup;
  return html`${showText(after.name)} <small>born ${showTexts(after.birthDates)}, ${showCountries(after.countries)}</small>`;
}

const asCards: ReadonlySet<string> = new Set(['critical', 'high']);

/** The number of serious changes per severity with a full comparison; each further change has one line. */
const cardsInFull = 20;

/** The changes by severity, the matches of first screenings, and the groups of changes. */
export async function listChangeSections(report: Report): Promise<readonly (PageSection | null)[]> {
  const findCode = toFindCode(report);
  return [
    await toChangesSection(report, findCode),
    await toBaselineSection(report, findCode),
    await toGroupsSection(report),
  ];
}

async function toChangesSection(report: Report, findCode: FindCode): Promise<PageSection | null> {
  const { changes, cut } = report;
  if (changes === null) return null;
  const shown: Markup[] = [];
  for (const group of changes) {
    shown.push(showSeverity(group, await chooseLines(group, cut.changes), findCode, report));
  }
  const single = changes.reduce((sum, group) => sum + group.singleCount, 0);
  const quiet = changes.length === 0 ? showQuiet(report) : noMarkup;
  const body = html`${showTotal(changes, report)}${showCarriedOver(report)}${quiet}${showTools(single)}${shown}`;
  return { id: 'changes', title: 'What changed', body };
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

function showSeverity(
  { severity, count, singleCount }: ChangeGroup,
  first: readonly MatchChangeFacts[],
  findCode: FindCode,
  { details, run }: Report,
): Markup {
  const cards = asCards.has(severity) ? first.slice(0, cardsInFull) : [];
  const lines = first.slice(cards.length);
  const toCard = (change: MatchChangeFacts): Markup => {
    const code = findCode(change);
    const records = listDetailsOf(details.records, change.matchId);
    const card = showChangeCard(change, records, { run, code: code === null ? null : showAlertCode(code) });
    return html`
<article class="change"${showKeys(change)}>
${card}
</article>`;
  };
  const table = showTable({
    caption: 'One line per change, with the current score of the service',
    columns: toLineColumns(findCode, run),
    lines,
    name: 'lines',
    timezone: run.timezone,
    toAttributes: showKeys,
  });
  const grouped = count - singleCount;
  return html`
<section class="severity ${severity}" aria-label="${codeWords.severity[severity]}">
<h3><span class="label">${codeWords.severity[severity]}</span> <span class="muted">${countNoun(count, 'change')}${grouped === 0 ? '' : `, ${formatCount(grouped)} of them under Groups and drift`}</span></h3>
${cards.length === 0 ? noMarkup : html`<div class="cards">${cards.map(toCard)}</div>`}${lines.length === 0 ? noMarkup : table}
${showRest(first.length, singleCount, 'changes.csv')}
</section>`;
}

function showQuiet(report: Report): Markup {
  const { coverage } = report;
  const counts = coverage?.counts;
  if (counts === undefined) return html`<p>No match changed.</p>`;
  if (isHeld(report)) {
    return html`<p class="quiet">The answers of this run are held: they change no state until a person accepts them. The new alerts by them are listed under Open alerts.</p>`;
  }
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

async function toGroupsSection({ changes, watch }: Report): Promise<PageSection | null> {
  const grouped = (changes ?? []).filter(({ clusters }) => clusters.length > 0);
  const rates = watch === null ? [] : describeWatch(watch);
  if (grouped.length === 0 && rates.length === 0) return null;
  const drift = describeDrift(watch);
  const groups: Markup[] = [];
  for (const { severity, clusters } of grouped) {
    groups.push(html`<section class="severity ${severity}" aria-label="Groups, ${codeWords.severity[severity]}">
<h3><span class="label">${codeWords.severity[severity]}</span></h3>
${await showClusters(clusters)}</section>
`);
  }
  const unusual = html`<p class="drift" role="note"><strong>Unusual volume:</strong> ${drift}.</p>\n`;
  const list = html`<ul class="plain">${rates.map((line) => html`<li>${line}</li>`)}</ul>`;
  const body = html`${drift === null ? noMarkup : unusual}${groups}${watch === null ? noMarkup : list}`;
  return { id: 'groups', title: 'Groups and drift', body };
}

async function showClusters(clusters: ChangeGroup['clusters']): Promise<Markup> {
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
<small>Such as ${joinMarkup(examples.map(({ party }) => showParty(party)))}. All ${countNoun(changes, 'change')}: <code>changes.csv</code>, group <code>${name}</code>.</small></li>
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
  if (state === 'open') {
    const due = dueAt === null ? 'open' : `due ${formatDay(dueAt, timezone)}`;
    return replaced === null ? due : `${due}; before: ${describeDisposition(replaced.verdict)} by ${replaced.reviewer}`;
  }
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
