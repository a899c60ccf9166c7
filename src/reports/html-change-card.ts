import { html } from 'hono/html';
import type { MatchField } from '../changes/change-event.js';
import type { Corroboration } from '../changes/corroboration.js';
import type { Match } from '../matches/match.js';
import { adjustmentWords, agreementWords, causeWords, describeChange, describeRule } from './change-words.js';
import type { DetailLookup } from './detail-facts.js';
import { detailWords } from './detail-words.js';
import { showAlertCode } from './html-further-hits.js';
import { showKeys } from './html-keys.js';
import { type Markup, nothing, showNone, showParty, showText, showTexts, showTime } from './html-markup.js';
import { showCountries, showTopics } from './html-match.js';
import { describeItem, describeReplaced, describeSaid } from './item-words.js';
import type { MatchChangeFacts, PartyFacts } from './list-facts.js';
import { describeReason } from './reason-words.js';

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
${formerParty === null ? nothing : showCustomer('Customer before', formerParty, party, null)}${showCustomer(formerParty === null ? 'Customer' : 'Customer now', party, formerParty, change.corroboration)}${before === null ? nothing : showListed('before', before, after, change)}${showListed('now', after, before, change)}</tbody>
</table>
${showItem(change, now, code)}<p class="why">Why: ${showText([describeRule(change), ...change.adjustments.map((each) => adjustmentWords[each])].join(', '))}; ${causeWords[change.cause]}. Match <code>${showText(change.matchId)}</code>, found by run <code>${change.runId}</code></p>${details.map(showDetail)}
</article>`;
}

/** How the item stood when the run closed, what was said about it last, and what about the match that it seems to replace. */
function showItem({ item }: MatchChangeFacts, now: Date, code: string | null): Markup {
  if (item === null) return nothing;
  const said = [
    ...item.said.map(describeSaid),
    ...(item.replaced === null ? [] : [`Before: ${describeReplaced(item.replaced)}`]),
  ];
  return html`<p class="item">${showText(describeItem(item, now))}${code === null ? nothing : html`, ${showAlertCode(code)}`}.${said.map((words) => html`<br><span class="muted">${showText(words)}</span>`)}</p>
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
    return html`<td data-label="${column.title}"${isChanged ? html` class="marked"` : nothing}>${column.customer(party)}${showAgreement(column, agreements)}</td>`;
  })}</tr>
`;
}

function showAgreement({ corroborates }: Column, agreements: Corroboration | null): Markup {
  if (corroborates === undefined || agreements === null) return nothing;
  const agreement = agreements[corroborates];
  if (agreement === 'unknown') return nothing;
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
      ? html`<td data-label="${label}" class="marked ${when}">${listed(match, other)}${when === 'now' ? html` <span class="unseen">changed</span>` : nothing}</td>`
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
