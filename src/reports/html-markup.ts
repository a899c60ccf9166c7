import { html, raw } from 'hono/html';
import { formatTime } from './format-time.js';
import type { PartyFacts } from './list-facts.js';

import { toVisibleText } from './visible-text.js';

/** Escaped HTML. */
export type Markup = ReturnType<typeof html>;

/** Nothing at all. */
export const nothing: Markup = raw('');

/** A text that came from outside, set apart so that its direction does not disturb its surroundings. */
export function showText(text: string): Markup {
  return html`<bdi>${toVisibleText(text)}</bdi>`;
}

/** The firm's own reference of a customer. */
export function showReference(reference: string): Markup {
  return html`<bdi class="reference">${toVisibleText(reference)}</bdi>`;
}

/** Several texts with commas between them, or a dash. */
export function showTexts(texts: readonly string[]): Markup {
  if (texts.length === 0) return showNone();
  return html`${texts.map((text, index) => html`${index === 0 ? '' : ', '}${showText(text)}`)}`;
}

/** The mark for a value that is not there. */
export function showNone(): Markup {
  return html`<span class="none" title="none">–</span>`;
}

/** An instant in UTC. */
export function showTime(instant: Date): Markup {
  return html`<time datetime="${instant.toISOString()}">${formatTime(instant)}</time>`;
}

/** Who a line is about: the firm's own reference, the name, and the role when it is not the customer itself. */
export function showParty(party: PartyFacts): Markup {
  const role =
    party.role === 'customer' ? nothing : html` <span class="muted">(${party.role.replaceAll('_', ' ')})</span>`;
  return html`${showReference(party.reference)} ${showText(party.name)}${role}`;
}

/** A section of the page with its heading. */
export function section(id: string, title: string, body: Markup): Markup {
  return html`
<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}
</section>`;
}
