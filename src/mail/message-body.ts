import { html } from 'hono/html';
import type { MessageLines } from './message-lines.js';

/** The lines of a message as plain text. */
export function toText({ headline, sentences, details = [], facts, closing }: MessageLines): string {
  const list = details.length === 0 ? [] : ['', ...details.map((detail) => `- ${detail}`)];
  const table = facts.map(([name, value]) => `${`${name}:`.padEnd(14)}${value}`);
  return [headline, '', ...sentences, ...list, '', ...table, '', closing, ''].join('\n');
}

/** The same as a page. */
export function toHtml({ headline, sentences, details = [], facts, closing }: MessageLines): string {
  const cell = 'padding:2px 16px 2px 0;vertical-align:top;text-align:left;font-weight:normal';
  const list =
    details.length === 0
      ? ''
      : html`<ul style="margin:12px 0">
${details.map((detail) => html`<li>${detail}</li>\n`)}</ul>
`;
  return String(html`<!doctype html>
<html lang="en"><body style="font:15px/1.5 Georgia,serif;max-width:38em">
<p style="font-size:19px;margin:0 0 12px"><strong>${headline}</strong></p>
${sentences.map((sentence) => html`<p style="margin:0 0 6px">${sentence}</p>\n`)}
${list}<table style="margin:16px 0;border-collapse:collapse">
${facts.map(([name, value]) => html`<tr><th scope="row" style="${cell}">${name}</th><td style="${cell}">${value}</td></tr>\n`)}
</table>
<p style="margin:0">${closing}</p>
</body></html>
`);
}
