import { html } from 'hono/html';
import type { MatchField } from '../changes/change-event.js';
import type { Match } from '../matches/match.js';
import { causeWords, describeChange, fieldWords } from './change-words.js';
import { showKeys } from './html-keys.js';
import { type Markup, nothing, showParty, showText, showTexts } from './html-markup.js';
import { showCountries, showTopics } from './html-match.js';
import { showTable, type TableColumn } from './html-table.js';
import type { MatchChangeFacts } from './run-facts.js';

const values: Readonly<Record<MatchField, (match: Match, other: Match) => Markup>> = {
  birth_date: (match) => showTexts(match.birthDates),
  country: (match) => showCountries(match.countries),
  match: (match) => html`${match.isHit ? 'yes' : 'no'}`,
  name: (match) => showText(match.name),
  schema: (match) => showText(match.schema),
  score: (match) => html`${match.score}`,
  topics: (match, other) => showTopics(match, other),
};

const columns: readonly TableColumn<MatchChangeFacts>[] = [
  { title: 'Customer', cell: (change) => showParty(change.party) },
  { title: 'What', cell: (change) => html`${describeChange(change)}<br><small>${causeWords[change.cause]}</small>` },
  { title: 'Listed party', cell: (change) => showListed(change) },
  { title: 'Before and now', cell: (change) => showDifferences(change) },
];

/** Changes one line each, all of them. */
export function showChangeList(changes: readonly MatchChangeFacts[]): Markup {
  return showTable('One line per change; score and rank as the service gives them now', columns, changes, null, {
    toAttributes: showKeys,
  });
}

function showListed(change: MatchChangeFacts): Markup {
  const match = change.after ?? change.before;
  if (match === null) return nothing;
  return html`${showText(match.name)}<br><small>score ${match.score}, rank ${match.rank}</small>`;
}

function showDifferences({ before, after, fields }: MatchChangeFacts): Markup {
  if (before === null || after === null) {
    const only = after ?? before;
    return only === null || only.topics.length === 0 ? nothing : showTopics(only, null);
  }
  return html`${fields.map(
    (field) =>
      html`<div><span class="muted">${fieldWords[field]}</span> ${values[field](before, after)} <span aria-label="became">→</span> <strong>${values[field](after, before)}</strong></div>`,
  )}`;
}
