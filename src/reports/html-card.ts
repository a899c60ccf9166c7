import { html } from 'hono/html';
import type { Corroboration } from '../changes/corroboration.js';
import type { Match } from '../matches/match.js';
import { codeWords, toWords } from '../vocabulary/words.js';
import {
  comparedFields,
  noMarkup,
  showAgreement,
  showCode,
  showDigest,
  showHead,
  showParty,
  showRemark,
  showText,
  showTime,
} from './html-markup.js';
import { describeReason } from './reasons.js';
import type { Report } from './report.js';
import type { ChangeAlertFacts, DetailLookup, MatchChangeFacts, PartyFacts } from './run-facts.js';
import type { Markup } from './section.js';
import { countNoun, formatDay, formatMinute } from './text.js';
import { describeChange, describeReopening, describeReplaced, describeSaid } from './words.js';

/** One change in full: the facts of the customer and of the listed party, before and now, with marked changes, and the state of the alert. */
export function showChangeCard(
  change: MatchChangeFacts,
  details: readonly DetailLookup[],
  { run, code }: { run: Report['run']; code: Markup | null },
): Markup {
  const { party, formerParty, before, after } = change;
  return html`<h4>${describeChange(change)} <span class="who">${showParty(party)} <span class="muted">risk ${party.riskTier ?? 'not given'}</span></span></h4>
<table class="compare">
<caption class="unseen">Customer and listed party compared</caption>
<thead><tr><td></td>${comparedFields.map((column) => showHead(column.title, column))}</tr></thead>
<tbody>
${formerParty === null ? noMarkup : showCustomer('Customer before', formerParty, party, null)}${showCustomer(formerParty === null ? 'Customer' : 'Customer now', party, formerParty, change.corroboration)}${before === null ? noMarkup : showListed('before', before, after, change)}${showListed('now', after, before, change)}</tbody>
</table>
${showAlert(change, run, code)}<p class="why">Why: ${showText(describeRule(change))}; ${codeWords.cause[change.cause]}. Match <code>${showText(change.matchId)}</code>, found by run ${showCode(change.runId)}</p>${details.map((lookup) => showDetail(lookup, run))}`;
}

function showAlert({ alert }: MatchChangeFacts, run: Report['run'], code: Markup | null): Markup {
  if (alert === null) return noMarkup;
  const said = [
    ...alert.said.map((one) => describeSaid(one, run.timezone)),
    ...(alert.replaced === null ? [] : [`Before: ${describeReplaced(alert.replaced, run.timezone)}`]),
  ];
  return html`<p class="alert">${showRemark(describeAlert(alert, run))}${code === null ? noMarkup : html`, ${code}`}.${said.map((words) => html`<br><span class="muted">${showRemark(words)}</span>`)}</p>
`;
}

/** The state of an alert when the run closed: `Open since 2026-11-21 (4 days), overdue since 2026-11-22 .., assigned to bea`. */
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
  return html`<tr><th scope="row">${title}</th>${comparedFields.map((column) => {
    const isChanged = other !== null && String(column.customer(party)) !== String(column.customer(other));
    return html`<td data-label="${column.title}"${isChanged ? html` class="marked"` : noMarkup}>${column.customer(party)}${showAgreement(column.corroborates && agreements?.[column.corroborates])}</td>`;
  })}</tr>
`;
}

function showListed(
  when: 'before' | 'now',
  match: Match | null,
  other: Match | null,
  { fields }: MatchChangeFacts,
): Markup {
  const title = html`<th scope="row">Listed ${when}</th>`;
  if (match === null) {
    return html`<tr>${title}<td class="absent" colspan="${comparedFields.length}">not in the answer</td></tr>
`;
  }
  const changed = when === 'now' ? html` <span class="unseen">changed</span>` : noMarkup;
  return html`<tr>${title}${comparedFields.map(({ title: label, field, listed, note }) => {
    const more = note ? html` <span class="note">${note(match)}</span>` : noMarkup;
    return fields.includes(field)
      ? html`<td data-label="${label}" class="marked ${when}">${listed(match, other)}${more}${changed}</td>`
      : html`<td data-label="${label}">${listed(match, other)}${more}</td>`;
  })}</tr>
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
