import { html } from 'hono/html';
import { toVisibleText } from '../reports/text.js';
import type { MessageFact, MessageLines } from './message-lines.js';

/** The lines of a message as plain text; what could mislead without being seen is shown by its number. */
export function toText(lines: MessageLines): string {
  const { headline, sentences, details, actions, facts, closing } = toVisibleLines(lines);
  const list = details.length === 0 ? [] : ['', ...details.map((detail) => `- ${detail}`)];
  const toDo = actions.length === 0 ? [] : ['', actionsTitle, ...actions.map((action) => `- ${action}`)];
  const table = facts.map(([name, value]) => `${`${name}:`.padEnd(14)}${value}`);
  return [headline, '', ...sentences, ...list, ...toDo, '', ...table, '', closing, ''].join('\n');
}

const actionsTitle = 'What to do';
const cell = 'padding:2px 16px 2px 0;vertical-align:top;text-align:left;font-weight:normal';

/** The same as a page. */
export function toHtml(lines: MessageLines): string {
  const { headline, sentences, details, actions, facts, closing } = toVisibleLines(lines);
  return String(html`<!doctype html>
<html lang="en"><body style="font:15px/1.5 Georgia,serif;max-width:38em">
<p style="font-size:19px;margin:0 0 12px"><strong>${headline}</strong></p>
${sentences.map((sentence) => html`<p style="margin:0 0 6px">${sentence}</p>\n`)}
${toList(details)}${actions.length === 0 ? '' : html`<p style="margin:16px 0 0"><strong>${actionsTitle}</strong></p>\n`}${toList(actions)}<table style="margin:16px 0;border-collapse:collapse">
${facts.map((fact) => html`<tr><th scope="row" style="${cell}">${fact[0]}</th><td style="${cell}">${toValue(fact)}</td></tr>\n`)}
</table>
<p style="margin:0">${closing}</p>
</body></html>
`);
}

const toList = (items: readonly string[]) =>
  items.length === 0
    ? ''
    : html`<ul style="margin:6px 0 12px;padding-left:22px">
${items.map((item) => html`<li>${item}</li>\n`)}</ul>
`;

const toValue = ([, value, href]: MessageFact) => (href === undefined ? value : html`<a href="${href}">${value}</a>`);

function toVisibleLines({
  headline,
  sentences,
  details = [],
  actions = [],
  facts,
  closing,
}: MessageLines): Required<MessageLines> {
  return {
    headline: toVisibleText(headline),
    sentences: sentences.map(toVisibleText),
    details: details.map(toVisibleText),
    actions: actions.map(toVisibleText),
    facts: facts.map(([name, value, ...href]) => [name, toVisibleText(value), ...href]),
    closing: toVisibleText(closing),
  };
}
