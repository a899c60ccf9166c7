import stringWidth from 'string-width';
import { describeReason } from '../reports/reasons.js';
import { formatCount, formatMinute, formatTime, replaceInstants, toVisibleText } from '../reports/text.js';
import type { Mail } from '../runs/mail/manage.js';

/** A row of a table; false is left out. */
export type Row = readonly (string | number)[] | false;

/** The columns that a text takes on a screen, characters that are made visible included. */
export const measureWidth = (text: string): number =>
  /^[ -~]*$/.test(text) ? text.length : stringWidth(toVisibleText(text));

const pad = (text: string, width: number, isNumber: boolean): string => {
  const space = ' '.repeat(Math.max(0, width - measureWidth(text)));
  return isNumber ? `${space}${text}` : `${text}${space}`;
};

/** The words of a cell. A command to type is one word up to the end of its clause, so that it can be copied. */
function toTokens(text: string): readonly string[] {
  const tokens: string[] = [];
  let isCommand = false;
  for (const word of text.split(' ')) {
    if (isCommand) tokens.push(`${tokens.pop() ?? ''} ${word}`);
    else tokens.push(word);
    isCommand = (isCommand || /^[(`]?nightscreen$/.test(word)) && !/[.;,:)`]$/.test(word);
  }
  return tokens;
}

const isCommandToken = (token: string): boolean => /^[(`]?nightscreen /.test(token);
const continued = ' \\';

/** A command in lines of at most `width` columns, broken before its options, so that a shell reads it as one. */
function breakCommand(command: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const part of command.split(/ (?=--)/)) {
    const longer = `${lines.at(-1) ?? ''} ${part}`;
    if (lines.length === 0) lines.push(part);
    else if (measureWidth(longer) + continued.length <= width) lines[lines.length - 1] = longer;
    else lines.push(`  ${part}`);
  }
  return lines.map((line, at) => (at === lines.length - 1 ? line : `${line}${continued}`));
}

/** A text in lines of at most `width` columns; a longer word has a line of its own. Items of a list are indented. */
export const wrap = (text: string, width: number): readonly string[] =>
  text.split('\n').flatMap((line) => {
    if (!line.startsWith(bullet)) return wrapLine(line, width);
    const lines = wrapLine(line.slice(bullet.length), width - bullet.length);
    return lines.map((part, index) => `${index === 0 ? bullet : ' '.repeat(bullet.length)}${part}`);
  });

const bullet = '- ';

function wrapLine(text: string, width: number): readonly string[] {
  if (measureWidth(text) <= width) return [text];
  const lines: string[] = [];
  for (const token of toTokens(text)) {
    const line = lines.at(-1);
    const longer = `${line ?? ''} ${token}`;
    if (isCommandToken(token) && measureWidth(token) > width) lines.push(...breakCommand(token, width));
    else if (line === undefined || measureWidth(longer) > width) lines.push(token);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

const gap = 2;
const leastLastWidth = 24;
const indentBelow = 4;

const sumWidths = (widths: readonly number[]): number =>
  widths.reduce((sum, each) => sum + each, gap * (widths.length - 1));

/** The widths of columns that together fit `width`, if words stay whole; else `mins`, the narrowest. */
function shrink(natural: readonly number[], mins: readonly number[], width: number): number[] {
  const widths = [...natural];
  while (sumWidths(widths) > width) {
    const slack = widths.map((each, column) => each - (mins[column] ?? 0));
    const most = Math.max(...slack);
    if (most <= 0) break;
    widths[slack.indexOf(most)] = (widths[slack.indexOf(most)] ?? 0) - 1;
  }
  return widths;
}

/** A text for people with its instants as `2026-03-01 02:00:00 UTC`. */
export const showTimes = (text: string): string => replaceInstants(text, (instant) => formatTime(instant));

const toCellText = (cell: string | number): string => (typeof cell === 'number' ? formatCount(cell) : showTimes(cell));

interface Columns {
  widths: readonly number[];
  /** Columns with a number; their heads are aligned to the right too. */
  numeric: ReadonlySet<number>;
}

function renderRow(row: readonly (string | number)[], { widths, numeric }: Columns): string {
  const cells = row.map((cell, column) => wrap(toCellText(cell), widths[column] ?? 0));
  const height = Math.max(1, ...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) => {
    const line = cells.map((lines, column) => pad(lines[at] ?? '', widths[column] ?? 0, numeric.has(column)));
    return `${line.join(' '.repeat(gap)).trimEnd()}\n`;
  }).join('');
}

/** Whether data goes to a terminal. Elsewhere a log or a mail may keep it, so customers and their values are left out. */
export const isForTerminal = (): boolean => process.stdout.isTTY === true;

/** The columns of the screen for data; unlimited where it goes to a file or another program. */
const screenWidth = (): number => (isForTerminal() ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY);

/**
 * Rows as aligned columns, two spaces apart; columns with a number are aligned to the right. On a narrower screen long
 * cells are wrapped within their column; a last column without room is written below its row.
 */
export function formatTable(given: readonly Row[], width = screenWidth()): string {
  const rows = given.filter((row) => row !== false);
  const count = Math.max(0, ...rows.map((row) => row.length));
  const measure = (of: (cell: string) => number): number[] =>
    Array.from({ length: count }, (_, column) =>
      rows.reduce((most, row) => Math.max(most, of(toCellText(row[column] ?? ''))), 0),
    );
  const natural = measure((cell) => Math.max(...cell.split('\n').map(measureWidth)));
  const numeric = new Set(rows.flatMap((row) => row.flatMap((cell, at) => (typeof cell === 'number' ? [at] : []))));
  if (sumWidths(natural) <= width) return rows.map((row) => renderRow(row, { widths: natural, numeric })).join('');
  const mins = measure((cell) =>
    cell
      .split('\n')
      .flatMap(toTokens)
      .reduce((most, token) => Math.max(most, measureWidth(token)), 0),
  );
  // Prose needs more room than its longest word.
  const isProse = (natural.at(-1) ?? 0) > 2 * leastLastWidth;
  const last = isProse ? leastLastWidth : Math.min(mins.at(-1) ?? 0, leastLastWidth);
  const fitting = shrink(natural, [...mins.slice(0, -1), last], width);
  if (sumWidths(fitting) <= width || count === 1) {
    return rows.map((row) => renderRow(row, { widths: fitting, numeric })).join('');
  }
  const widths = shrink(natural.slice(0, -1), mins.slice(0, -1), width);
  return rows
    .map((row) => {
      const rest = row.slice(count - 1).flatMap((cell) => wrap(toCellText(cell), width - indentBelow));
      const below = rest.filter((line) => line !== '').map((line) => `${' '.repeat(indentBelow)}${line}\n`);
      return `${renderRow(row.slice(0, count - 1), { widths, numeric })}${below.join('')}`;
    })
    .join('');
}

const countWords: ReadonlyMap<string, string> = new Map([
  ['gone', 'removed'],
  ['leavers', 'offboarded'],
  ['leaversByRow', 'offboarded by their rows'],
  ['otherRoles', 'without a known role'],
  ['unreadableIds', 'rows without a readable id'],
]);

const toPlainName = (name: string): string =>
  countWords.get(name) ?? name.replaceAll(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);

/** Counts as one line, `rows 512, customers 505`, in the order given. */
export const describeCounts = (counts: Readonly<Record<string, number | boolean>>): string =>
  Object.entries(counts)
    .map(
      ([name, count]) =>
        `${toPlainName(name)} ${typeof count === 'number' ? formatCount(count) : count ? 'yes' : 'no'}`,
    )
    .join(', ');

/** The counts that are not zero. */
export const omitZeros = (counts: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));

/** Counts by reason, `never screened: 12; due again: 480`. */
export const describeReasons = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([code, count]) => `${describeReason(code)}: ${formatCount(count)}`)
    .join('; ');

/** Why coverage fails independently of single customers: a roster or all customers are missing; null otherwise. */
export function describeGap(neverImported: readonly string[], inScope: number): string | null {
  if (neverImported.length > 0) {
    const names = neverImported.join(', ');
    return `never imported: ${names}. Their customers are unknown. Import each with nightscreen import --roster NAME, or remove it from the configuration.`;
  }
  return inScope === 0 ? 'No customer is in scope: no roster was imported, or all customers are offboarded.' : null;
}

/** A moment in UTC to the minute, as `2026-03-01 02:00`. */
export const toMinute = (at: Date): string => formatMinute(at, 'UTC');

export function describeMailState(mail: Mail): string {
  const { id, state, attempts, nextAttemptAt, lastError, sentAt, dropped } = mail;
  const because = lastError === null ? '' : `: ${lastError}`;
  switch (state) {
    case 'sent':
      return `sent ${sentAt ? `${toMinute(sentAt)} UTC` : ''}, ${attempts.at(-1)?.said ?? ''}`;
    case 'queued': {
      const next = nextAttemptAt ? `, next attempt not before ${toMinute(nextAttemptAt)} UTC` : '';
      return attempts.length === 0 && lastError === null ? 'waits' : `waits${next}${because}`;
    }
    case 'dropped':
      return `dropped by ${dropped?.by ?? ''} on ${dropped ? `${toMinute(dropped.at)} UTC` : ''}: ${dropped?.reason ?? ''}`;
    case 'refused':
    case 'given_up': {
      const next = `nightscreen outbox retry ${id} tries again, nightscreen outbox drop ${id} drops it`;
      return `${state === 'refused' ? state : 'given up'} (${next})${because}`;
    }
  }
}

/** A document with these fields, then `customers`, one on a line, then the fields that are known once all batches are read. */
export async function* renderJsonBatches(
  head: { schema: string },
  batches: AsyncIterable<readonly object[]>,
  finish: () => object,
): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"customers":[`;
  let separator = '\n';
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    yield separator + batch.map((line) => JSON.stringify(line)).join(',\n');
    separator = ',\n';
  }
  yield `\n],${JSON.stringify(finish()).slice(1)}\n`;
}
