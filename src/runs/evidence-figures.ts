import { flagError } from '../errors.js';
import { findFirstInstant, toDate, toDayNumber, toDayNumberOf, toLocalTime, toNextDay } from '../local-time.js';
import { readAtOnce } from '../store/database/database.js';
import { type RunFigures, readFirstNights, readRunFigures } from '../store/evidence/figures.js';
import { readRostersOf } from '../store/organisations.js';
import type { AppContext } from './app-context.js';
import { openOrganisation } from './session.js';

/** A line of the figures: a run, or a day without a run over all due customers (`run` is null). */
export interface FiguresLine {
  /** In the configured time zone. */
  date: string;
  roster: string;
  run: (RunFigures & { shareScreened: number | null }) | null;
}

/** The lines of a span, and all its days. */
export interface NightFigures {
  timezone: string;
  since: string;
  until: string;
  days: readonly string[];
  lines: readonly FiguresLine[];
}

/**
 * The figures of the screening runs that began on these days, both included. A day of a roster without a run over all due customers has a line as
 * well, from its first night to yesterday. Throws ConfigError for an unknown roster, and for days in the wrong order.
 */
export async function readFigures(
  app: AppContext,
  { since, until, roster = null }: { since: string; until: string; roster?: string | null },
): Promise<NightFigures> {
  const { timezone } = app.settings;
  const span = { ...toSpan({ since, until }, timezone), roster };
  const { organisationId } = await openOrganisation(app);
  return readAtOnce(app.database, async (snapshot) => {
    const rosters = await readRostersOf(snapshot, organisationId);
    if (roster !== null && !rosters.includes(roster)) {
      throw flagError('--roster', `roster ${roster} was never imported; these were: ${rosters.join(', ')}`);
    }
    const runs = (await readRunFigures(snapshot, organisationId, span)).map((run) => toLine(run, timezone));
    const nights = new Set(runs.filter(({ run }) => run?.isNight).map(toKey));
    const today = toDayNumber(app.clock.now(), timezone);
    const missing = (await readFirstNights(snapshot, organisationId, roster)).flatMap((first) => {
      const from = Math.max(toDayNumberOf(since), toDayNumber(first.startedAt, timezone));
      const last = Math.min(toDayNumberOf(until), today - 1);
      return listDays(from, last).map((date): FiguresLine => ({ date, roster: first.roster, run: null }));
    });
    const lines = [...runs, ...missing.filter((line) => !nights.has(toKey(line)))];
    const days = listDays(toDayNumberOf(since), toDayNumberOf(until));
    return { timezone, since, until, days, lines: lines.toSorted(compareLines) };
  });
}

/** The days from `since` to `until`, both included, as moments; throws ConfigError for days in the wrong order. */
export function toSpan({ since, until }: { since: string; until: string }, timezone: string) {
  if (until < since) throw flagError('--until', `${until} is before ${since}`);
  return { from: toStart(since, timezone), until: toStart(toNextDay(until), timezone) };
}

const toStart = (date: string, timezone: string): Date =>
  findFirstInstant({ date, time: '00:00:00' }, timezone) ?? new Date(`${date}T00:00:00Z`);

const toKey = ({ date, roster }: FiguresLine): string => JSON.stringify([date, roster]);

const listDays = (from: number, last: number): readonly string[] =>
  Array.from({ length: Math.max(0, last - from + 1) }, (_, day) => toDate(from + day));

function toLine(run: RunFigures, timezone: string): FiguresLine {
  const { inScope, screened, reused } = run;
  const isKnown = inScope !== null && inScope > 0 && screened !== null && reused !== null;
  // Rounded down: 1 means all.
  const shareScreened = isKnown ? Math.floor(((screened + reused) / inScope) * 10_000) / 10_000 : null;
  return { date: toLocalTime(run.startedAt, timezone).date, roster: run.roster, run: { ...run, shareScreened } };
}

/** By roster, then by day; a stable sort keeps the runs of a day in order. */
function compareLines(one: FiguresLine, other: FiguresLine): number {
  if (one.roster !== other.roster) return one.roster < other.roster ? -1 : 1;
  if (one.date === other.date) return 0;
  return one.date < other.date ? -1 : 1;
}
