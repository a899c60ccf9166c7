import { formatCount } from '../reports/text.js';
import type { Mail } from '../runs/mail/manage.js';

/** A row of a table; false is left out. */
export type Row = readonly (string | number)[] | false;

/** Rows as aligned columns, two spaces apart; cells that are numbers are aligned to the right. */
export function formatTable(given: readonly Row[]): string {
  const rows = given.filter((row) => row !== false);
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, String(cell).length);
  }
  const lines = rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return typeof cell === 'number' ? String(cell).padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
  return lines.map((line) => `${line}\n`).join('');
}

const toWords = (name: string): string => name.replaceAll(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);

/** Counts as one line, `rows 512, customers 505`, in the order given. */
export const describeCounts = (counts: Readonly<Record<string, number | boolean>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${toWords(name)} ${typeof count === 'number' ? formatCount(count) : count ? 'yes' : 'no'}`)
    .join(', ');

/** Why a coverage check fails independently of single customers: a roster or all customers are missing; null otherwise. */
export function describeGap(neverImported: readonly string[], inScope: number): string | null {
  if (neverImported.length > 0) {
    const names = neverImported.join(', ');
    return `never imported: ${names}. Their customers are unknown. Import each with nightscreen import --roster NAME, or remove it from the configuration.`;
  }
  return inScope === 0 ? 'No customer is in scope: no roster was imported, or all customers are offboarded.' : null;
}

/** A moment in UTC to the minute, as `2026-03-01 02:00`. */
export const toMinute = (at: Date): string => at.toISOString().slice(0, 16).replace('T', ' ');

const formatMinute = (time: Date): string => `${toMinute(time)} UTC`;

/** The state of a mail in words. */
export function describeMailState(mail: Mail): string {
  const { id, state, attempts, nextAttemptAt, lastError, sentAt, dropped } = mail;
  const because = lastError === null ? '' : `: ${lastError}`;
  switch (state) {
    case 'sent':
      return `sent ${sentAt ? formatMinute(sentAt) : ''}, ${attempts.at(-1)?.said ?? ''}`;
    case 'queued': {
      const next = nextAttemptAt ? `, next attempt not before ${formatMinute(nextAttemptAt)}` : '';
      return attempts.length === 0 && lastError === null ? 'waits' : `waits${next}${because}`;
    }
    case 'dropped':
      return `dropped by ${dropped?.by ?? ''} on ${dropped ? formatMinute(dropped.at) : ''}: ${dropped?.reason ?? ''}`;
    case 'refused':
    case 'given_up': {
      const next = `nightscreen outbox retry ${id} tries again, nightscreen outbox drop ${id} drops it`;
      return `${state === 'refused' ? state : 'given up'} (${next})${because}`;
    }
  }
}
