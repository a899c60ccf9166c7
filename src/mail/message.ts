import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import { z } from 'zod';
import type { Report } from '../reports/report.js';
import { formatDay, toVisibleText } from '../reports/text.js';
import { type FactsOf, instant, texts } from '../vocabulary/facts.js';

/** A complete message to one recipient; the same message always gives the same bytes. */
export const mailMessageSchema = z.object({
  /** With its angle brackets. */
  messageId: z.string(),
  from: z.string(),
  to: z.string(),
  subject: z.string(),
  date: instant,
  text: z.string(),
  html: z.string(),
  /** Each is sent only while its bytes have this SHA-256 (hex). */
  attachments: z.array(z.object({ name: z.string(), path: z.string(), contentType: z.string(), sha256: z.string() })),
  /** The Message-IDs of earlier mail that it follows, the latest last. */
  thread: texts.optional(),
});
export type MailMessage = FactsOf<typeof mailMessageSchema>;
export type MailAttachment = MailMessage['attachments'][number];

/** The content of a message in the order of reading; a closing ends it. */
export interface MessageLines {
  headline: string;
  sentences: readonly string[];
  details: readonly string[];
  actions: readonly string[];
  facts: readonly (readonly [name: string, value: string])[];
  closing: string;
}

/** Says that a test key was used; empty for a live key. */
export const describeMode = (mode: Report['run']['mode']): readonly string[] =>
  mode === 'test' ? ['TEST: not evidence. This run used a test key; its answers are not about real customers.'] : [];

const mostRosterCharacters = 60;

/** The name of an organisation in a subject; nothing for that of a configuration without several. */
export const nameOrganisation = (organisation: string): string =>
  organisation === 'default' ? '' : toVisibleText(organisation);

/** The subject: the state of the run (`COMPLETE`) and its result (`12 to review`) first, then key mode, organisation, roster and day. */
export function formatSubject(
  state: string,
  counts: string,
  { mode, organisation, roster, timezone }: Pick<Report['run'], 'mode' | 'organisation' | 'roster' | 'timezone'>,
  day: Date,
): string {
  const name = toVisibleText(roster ?? '');
  const shown = name.length > mostRosterCharacters ? `${[...name].slice(0, mostRosterCharacters).join('')}…` : name;
  const words = [mode === 'test' ? 'TEST key' : '', nameOrganisation(organisation), shown, formatDay(day, timezone)];
  const context = words.filter((word) => word !== '');
  return `[${state}] ${toVisibleText(counts)} - ${context.join(', ')}`;
}

/** The message of these lines to one recipient; the same `key`, recipient and sender always give the same Message-ID. */
export function toMessage(
  key: readonly unknown[],
  head: Pick<MailMessage, 'from' | 'to' | 'subject' | 'date'>,
  lines: MessageLines,
  attachments: readonly MailAttachment[] = [],
): MailMessage {
  const parts = JSON.stringify([...key, head.to.toLowerCase()]);
  const digest = createHash('sha256').update(parts).digest('hex').slice(0, 40);
  const domain = head.from.slice(head.from.lastIndexOf('@') + 1).toLowerCase();
  const shown = toVisibleLines(lines);
  return {
    messageId: `<nightscreen.${digest}@${domain}>`,
    ...head,
    text: toText(shown),
    html: toHtml(shown),
    attachments,
  };
}

function toText({ headline, sentences, details, actions, facts, closing }: MessageLines): string {
  const list = details.length === 0 ? [] : ['', ...details.map((detail) => `- ${detail}`)];
  const toDo = actions.length === 0 ? [] : ['', actionsTitle, ...actions.map((action) => `- ${action}`)];
  const table = facts.map(([name, value]) => `${`${name}:`.padEnd(14)}${value}`);
  return [headline, '', ...sentences, ...list, ...toDo, '', ...table, '', closing, ''].join('\n');
}

const actionsTitle = 'What to do';
const cell = 'padding:2px 16px 2px 0;vertical-align:top;text-align:left;font-weight:normal';

function toHtml({ headline, sentences, details, actions, facts, closing }: MessageLines): string {
  return String(html`<!doctype html>
<html lang="en"><body style="font:15px/1.5 Georgia,serif;max-width:38em">
<p style="font-size:19px;margin:0 0 12px"><strong>${headline}</strong></p>
${sentences.map((sentence) => html`<p style="margin:0 0 6px">${sentence}</p>\n`)}
${toList(details)}${actions.length === 0 ? '' : html`<p style="margin:16px 0 0"><strong>${actionsTitle}</strong></p>\n`}${toList(actions)}<table style="margin:16px 0;border-collapse:collapse">
${facts.map(([name, value]) => html`<tr><th scope="row" style="${cell}">${name}</th><td style="${cell}">${value}</td></tr>\n`)}
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

/** Invisible characters that could mislead are shown by number. */
const toVisibleLines = ({ headline, sentences, details, actions, facts, closing }: MessageLines): MessageLines => ({
  headline: toVisibleText(headline),
  sentences: sentences.map(toVisibleText),
  details: details.map(toVisibleText),
  actions: actions.map(toVisibleText),
  facts: facts.map(([name, value]) => [name, toVisibleText(value)]),
  closing: toVisibleText(closing),
});
