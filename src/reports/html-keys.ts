import { html } from 'hono/html';
import type { Markup } from './html-markup.js';
import type { MatchChangeFacts } from './list-facts.js';

/** What the page's script filters and sorts a change by: cause, score, and since when its item waits. */
export function showKeys({ cause, after, before, item }: MatchChangeFacts): Markup {
  const since = item === null ? '' : html` data-since="${item.openedAt.toISOString().slice(0, 16)}"`;
  return html` data-cause="${cause}" data-score="${(after ?? before)?.score ?? 0}"${since}`;
}
