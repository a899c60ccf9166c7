import { html } from 'hono/html';
import type { MatchField } from '../changes/change-event.js';
import type { Match } from '../matches/match.js';
import { causeWords, describeChange, fieldWords } from './change-words.js';
import { type FindCode, showAlertCode } from './html-further-hits.js';
import { showKeys } from './html-keys.js';
import { type Markup, nothing, showParty, showText, showTexts } from './html-markup.js';
import { showCountries } from './html-match.js';
import { showTable, type TableColumn } from './html-table.js';
import { describeBriefly } from './item-words.js';
import type { MatchChangeFacts, PartyFacts } from './list-facts.js';

import { describeTopic } from './topic-words.js';

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
      html`${describeChange(change)}${change.cause === 'service_data' ? nothing : html` <small>${causeWords[change.cause]}</small>`}`,
  },
  { title: 'Listed party', cell: showListedNow },
  { title: 'Before and now', cell: showDifferences },
  { title: 'Alert', cell: (change) => showStanding(change, findCode(change)) },
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
  return match === null ? nothing : html`${showText(match.name)} <small>${match.score}</small>`;
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
export function showStanding({ item }: Pick<MatchChangeFacts, 'item'>, code: string | null): Markup {
  const words = item === null ? '' : describeBriefly(item);
  if (code === null) return html`${showText(words)}`;
  return html`${showAlertCode(code)}${words === '' ? nothing : html` <small>${showText(words)}</small>`}`;
}
