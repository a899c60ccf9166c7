import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import type { Report } from '../reports/report.js';
import { formatDay, toVisibleText } from '../reports/text.js';
import type { RunMode } from '../vocabulary.js';

/** A file of a message; it is sent only while its bytes have this SHA-256 (hex). */
export interface MailAttachment {
  name: string;
  path: string;
  contentType: string;
  sha256: string;
}

interface MailBody {
  text: string;
  html: string;
}

/** A complete message to one recipient; the same message always gives the same bytes. */
export interface MailMessage extends MailBody {
  /** With its angle brackets. */
  messageId: string;
  from: string;
  to: string;
  subject: string;
  date: Date;
  attachments: readonly MailAttachment[];
  /** The Message-IDs of earlier mail that it follows, the latest last. */
  thread?: readonly string[] | undefined;
  /** Its text without attachments, for a server that refuses the size; default: the same text and their digests. */
  reduced?: MailBody | undefined;
  /** Its text without attachments, when their files are missing; default: the same text and their digests. */
  attachmentMissing?: MailBody | undefined;
}

type MessageFact = readonly [name: string, value: string, href?: string];

/** The content of a message in the order of reading; a closing ends it. */
export interface MessageLines {
  headline: string;
  sentences: readonly string[];
  details?: readonly string[];
  actions?: readonly string[];
  facts: readonly MessageFact[];
  closing: string;
}

/** Says that a test key was used; empty for a live key. */
export const describeMode = (mode: Report['run']['mode']): readonly string[] =>
  mode === 'test' ? ['TEST: not evidence. This run used a test key; its answers are not about real customers.'] : [];

const mostRosterCharacters = 60;

/** The subject: the state of the run (`COMPLETE`) and its result (`12 to review`) first, then key mode, roster and day. */
export function formatSubject({
  state,
  counts,
  mode,
  roster,
  day,
  timezone,
}: {
  state: string;
  counts: string;
  mode: RunMode;
  roster: string | null;
  day: Date;
  timezone: string;
}): string {
  const name = toVisibleText(roster ?? '');
  const shown = name.length > mostRosterCharacters ? `${[...name].slice(0, mostRosterCharacters).join('')}…` : name;
  const context = [mode === 'test' ? 'TEST key' : '', shown, formatDay(day, timezone)].filter((word) => word !== '');
  return `[${state}] ${toVisibleText(counts)} - ${context.join(', ')}`;
}

/** The content as plain text and as a page; invisible characters that could mislead are shown by number. */
export const toBody = (lines: MessageLines): MailBody => ({ text: toText(lines), html: toHtml(lines) });

function toText(lines: MessageLines): string {
  const { headline, sentences, details, actions, facts, closing } = toVisibleLines(lines);
  const list = details.length === 0 ? [] : ['', ...details.map((detail) => `- ${detail}`)];
  const toDo = actions.length === 0 ? [] : ['', actionsTitle, ...actions.map((action) => `- ${action}`)];
  const table = facts.map(([name, value]) => `${`${name}:`.padEnd(14)}${value}`);
  return [headline, '', ...sentences, ...list, ...toDo, '', ...table, '', closing, ''].join('\n');
}

const actionsTitle = 'What to do';
const cell = 'padding:2px 16px 2px 0;vertical-align:top;text-align:left;font-weight:normal';

function toHtml(lines: MessageLines): string {
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

/** The Message-ID of these parts; it never changes. */
export function digestMessageId(parts: readonly unknown[], from: string): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const domain = from.slice(from.lastIndexOf('@') + 1).toLowerCase();
  return `<nightscreen.${digest.slice(0, 40)}@${domain}>`;
}
