import { html } from 'hono/html';
import type { MatchField } from '../changes/change-event.js';
import type { Corroboration } from '../changes/corroboration.js';
import type { Match } from '../matches/match.js';
import { adjustmentWords, agreementWords, causeWords, describeChange } from './change-words.js';
import type { DetailLookup } from './detail-facts.js';
import { detailWords } from './detail-words.js';
import { showKeys } from './html-keys.js';
import { type Markup, nothing, showNone, showParty, showText, showTexts, showTime } from './html-markup.js';
import { showCountries, showTopics } from './html-match.js';
import { describeItem, describeSaid } from './item-words.js';
import { describeReason } from './reason-words.js';
import type { MatchChangeFacts, PartyFacts } from './run-facts.js';

/** A row of the comparison; `field` is the compared field whose change it shows. */
interface Row {
  title: string;
  field: MatchField;
  customer: (party: PartyFacts) => Markup;
  /** Which fact of the customer bears the match out. */
  corroborates?: keyof Corroboration;
  listed: (match: Match, other: Match | null) => Markup;
}

const rows: readonly Row[] = [
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
  {
    title: 'Flagged as hit',
    field: 'match',
    customer: showNone,
    listed: (match) => html`${match.isHit ? 'yes' : 'no'}`,
  },
  {
    title: 'Score',
    field: 'score',
    customer: showNone,
    listed: (match) => html`${match.score} <span class="note">rank ${match.rank}</span>`,
  },
];

/** One change in full: the customer's facts beside the listed party's, before and now, with what changed marked, and how its item stood at `now`. */
export function showChangeCard(change: MatchChangeFacts, details: readonly DetailLookup[], now: Date): Markup {
  const { party } = change;
  return html`
<article class="change"${showKeys(change)}>
<h4>${describeChange(change)}</h4>
<p class="who">${showParty(party)} <span class="muted">risk ${party.riskTier ?? 'not given'}</span></p>
<table class="compare">
<caption class="unseen">Customer and listed party compared</caption>
<thead><tr><td></td><th scope="col">Customer</th><th scope="col">Listed party before</th><th scope="col">Listed party now</th></tr></thead>
<tbody>
${rows.map((row, index) => showRow(row, change, index === 0))}</tbody>
</table>
<p class="why">Why: ${showText([change.rule.replaceAll('_', ' '), ...change.adjustments.map((each) => adjustmentWords[each])].join(', '))}; ${causeWords[change.cause]}. Match <code>${showText(change.matchId)}</code>, found by run <code>${change.runId}</code></p>${details.map(showDetail)}${showItem(change, now)}
</article>`;
}

/** How the item stood when the run closed, and what was said about it last. */
function showItem({ item }: MatchChangeFacts, now: Date): Markup {
  if (item === null) return nothing;
  return html`
<p class="item">${showText(describeItem(item, now))}.${item.said.map((said) => html`<br><span class="muted">${showText(describeSaid(said))}</span>`)}</p>`;
}

function showRow(row: Row, change: MatchChangeFacts, isFirst: boolean): Markup {
  const { before, after } = change;
  const changed = change.fields.includes(row.field);
  return html`<tr${changed ? html` class="changed"` : nothing}><th scope="row">${row.title}</th><td>${row.customer(change.party)}${showAgreement(row, change)}</td>${showListed(row, before, after, isFirst, changed, 'before')}${showListed(row, after, before, isFirst, changed, 'now')}</tr>
`;
}

function showAgreement({ corroborates }: Row, { corroboration }: MatchChangeFacts): Markup {
  if (corroborates === undefined || corroboration === null) return nothing;
  const agreement = corroboration[corroborates];
  if (agreement === 'unknown') return nothing;
  return html` <span class="agreement ${agreement}">${agreementWords[agreement]}</span>`;
}

function showListed(
  row: Row,
  match: Match | null,
  other: Match | null,
  isFirst: boolean,
  changed: boolean,
  when: 'before' | 'now',
): Markup {
  if (match === null)
    return isFirst ? html`<td class="absent" rowspan="${rows.length}">not in the answer</td>` : nothing;
  if (!changed) return html`<td>${row.listed(match, other)}</td>`;
  return html`<td class="marked ${when}">${row.listed(match, other)}${when === 'now' ? html` <span class="note">changed</span>` : nothing}</td>`;
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
