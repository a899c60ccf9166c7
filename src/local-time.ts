/** A period in which a zone changes its offset at most once; `changesAtMs` is infinite without a change. */
interface Stretch {
  beforeMs: number;
  changesAtMs: number;
  afterMs: number;
}

// No zone has ever changed its clocks twice within two days.
const stretchMs = 2 * 86_400_000;
const secondMs = 1_000;

const knownStretches = new Map<string, Map<number, Stretch>>();

/** How far the wall clocks of an IANA time zone are ahead of UTC at an instant, in milliseconds. */
function toOffsetMs(instantMs: number, timezone: string): number {
  const { beforeMs, changesAtMs, afterMs } = findStretch(instantMs, timezone);
  return instantMs < changesAtMs ? beforeMs : afterMs;
}

/** When a zone changes its clocks between two instants that are less than two days apart; null without a change. */
function findChange(fromMs: number, untilMs: number, timezone: string): number | null {
  for (const instantMs of [fromMs, untilMs]) {
    const { changesAtMs } = findStretch(instantMs, timezone);
    if (changesAtMs > fromMs && changesAtMs <= untilMs) return changesAtMs;
  }
  return null;
}

function findStretch(instantMs: number, timezone: string): Stretch {
  const number = Math.floor(instantMs / stretchMs);
  const stretches = knownStretches.get(timezone) ?? new Map<number, Stretch>();
  const known = stretches.get(number);
  if (known) return known;
  // The offsets at both ends may be known from the neighbours.
  const beforeMs = stretches.get(number - 1)?.afterMs ?? readOffset(number * stretchMs, timezone);
  const afterMs = stretches.get(number + 1)?.beforeMs ?? readOffset((number + 1) * stretchMs, timezone);
  const changesAtMs =
    beforeMs === afterMs ? Number.POSITIVE_INFINITY : seekChange(number * stretchMs, beforeMs, timezone);
  const stretch = { beforeMs, changesAtMs, afterMs };
  knownStretches.set(timezone, stretches.set(number, stretch));
  return stretch;
}

function seekChange(startMs: number, beforeMs: number, timezone: string): number {
  let [lastBeforeMs, firstAfterMs] = [startMs, startMs + stretchMs];
  while (firstAfterMs - lastBeforeMs > secondMs) {
    const middleMs = lastBeforeMs + Math.floor((firstAfterMs - lastBeforeMs) / 2 / secondMs) * secondMs;
    if (readOffset(middleMs, timezone) === beforeMs) lastBeforeMs = middleMs;
    else firstAfterMs = middleMs;
  }
  return firstAfterMs;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function readOffset(instantMs: number, timezone: string): number {
  // As `11/22/2026, 02:00:00`.
  const shown = formatFor(timezone).format(instantMs).match(/\d+/g) ?? [];
  const [month = 1, day = 1, year = 0, hour = 0, minute = 0, second = 0] = shown.map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instantMs / secondMs) * secondMs;
}

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  formats.set(timeZone, format);
  return format;
}

/** A date (`yyyy-mm-dd`) and a time (`hh:mm:ss`) of a wall clock. */
interface LocalTime {
  date: string;
  time: string;
}

const dayMs = 86_400_000;

/** The number of a wall clock's date in an IANA time zone, counted from 1970-01-01. */
export const toDayNumber = (instant: Date, timezone: string): number =>
  Math.floor((instant.getTime() + toOffsetMs(instant.getTime(), timezone)) / dayMs);

/** The date (`yyyy-mm-dd`) of a number from `toDayNumber`. */
export const toDate = (dayNumber: number): string => new Date(dayNumber * dayMs).toISOString().slice(0, 10);

export const toDayNumberOf = (date: string): number => Date.parse(`${date}T00:00:00Z`) / dayMs;

export const toNextDay = (date: string): string => toDate(toDayNumberOf(date) + 1);

/** The date and time of a wall clock in an IANA time zone at an instant. */
export function toLocalTime(instant: Date, timezone: string): LocalTime {
  const shown = new Date(instant.getTime() + toOffsetMs(instant.getTime(), timezone)).toISOString();
  return { date: shown.slice(0, 10), time: shown.slice(11, 19) };
}

/**
 * The instant at which a wall clock in an IANA time zone shows a date and time. When clocks are put back, the first of two; a time that clocks
 * skip moves later by the skipped span.
 */
export function toInstant(local: LocalTime, timezone: string): Date {
  const [first] = listInstants(local, timezone);
  if (first) return first;
  const shownMs = toShownMs(local);
  return new Date(shownMs - toOffsetMs(shownMs - dayMs, timezone));
}

/** All instants at which a wall clock in an IANA time zone shows a date and time, in order: one, two when clocks are put back, or none. */
export function listInstants(local: LocalTime, timezone: string): Date[] {
  const shownMs = toShownMs(local);
  const offsets = new Set([toOffsetMs(shownMs - dayMs, timezone), toOffsetMs(shownMs + dayMs, timezone)]);
  const instants = [...offsets].map((offsetMs) => shownMs - offsetMs);
  return instants
    .filter((ms) => shownMs - toOffsetMs(ms, timezone) === ms)
    .toSorted((one, other) => one - other)
    .map((ms) => new Date(ms));
}

/**
 * The first instant at which a wall clock in an IANA time zone shows a date and time, or a later time when clocks skip it; null for a date that
 * does not exist: zones that moved across the date line skipped one.
 */
export function findFirstInstant(local: LocalTime, timezone: string): Date | null {
  const [first] = listInstants(local, timezone);
  if (first) return first;
  const noon = { date: local.date, time: '12:00:00' };
  return toLocalTime(toFirstInstant(noon, timezone), timezone).date === local.date
    ? toFirstInstant(local, timezone)
    : null;
}

function toFirstInstant(local: LocalTime, timezone: string): Date {
  const [first] = listInstants(local, timezone);
  if (first) return first;
  const shownMs = toShownMs(local);
  const beforeMs = shownMs - toOffsetMs(shownMs + dayMs, timezone);
  const afterMs = shownMs - toOffsetMs(shownMs - dayMs, timezone);
  return new Date(findChange(beforeMs, afterMs, timezone) ?? afterMs);
}

const toShownMs = ({ date, time }: LocalTime): number => Date.parse(`${date}T${time}Z`);
