import { html } from 'hono/html';
import type { Match } from '../matches/match.js';
import { type Markup, showNone, showTexts } from './html-markup.js';
import { describeTopic } from './topic-words.js';
import { toVisibleText } from './visible-text.js';

/** The topics of a match as chips; those that the other side of the comparison lacks are marked. */
export function showTopics(match: Match, other: Match | null): Markup {
  if (match.topics.length === 0) return showNone();
  return html`${match.topics.map((topic) => {
    const differs = other !== null && !other.topics.includes(topic);
    return html`<span class="chip${differs ? ' differs' : ''}" title="${toVisibleText(topic)}"><bdi>${toVisibleText(describeTopic(topic))}</bdi></span> `;
  })}`;
}

/** Country codes in capitals. */
export function showCountries(countries: readonly string[]): Markup {
  return showTexts(countries.map((country) => country.toUpperCase()));
}
