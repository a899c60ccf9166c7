import type { Report } from '../reports/report.js';
import { formatDay, toVisibleText } from '../reports/text.js';

/** What a subject is made of. */
export interface SubjectParts {
  /** How the run stands: `COMPLETE`. */
  state: string;
  /** What it comes to, with counts: `12 to review`. */
  counts: string;
  mode: 'test' | 'live';
  roster: string | null;
  day: Date;
}

const mostRosterCharacters = 60;

/** The subject: how the run stands and its counts first, then key mode, roster and day. */
export function formatSubject({ state, counts, mode, roster, day }: SubjectParts): string {
  const name = toVisibleText(roster ?? '');
  const cut = name.length > mostRosterCharacters ? `${[...name].slice(0, mostRosterCharacters).join('')}…` : name;
  const context = [mode === 'test' ? 'TEST key' : '', cut, formatDay(day)].filter((word) => word !== '');
  return `[${state}] ${toVisibleText(counts)} - ${context.join(', ')}`;
}

/** The subject of mail about a report. */
export const toSubject = ({ run, verdict }: Report): string =>
  formatSubject({
    state: verdict.level.toUpperCase(),
    counts: verdict.short,
    mode: run.mode,
    roster: run.roster,
    day: run.finishedAt,
  });
