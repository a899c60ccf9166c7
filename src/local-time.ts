const secondMs = 1_000;

const formats = new Map<string, Intl.DateTimeFormat>();

/** How far the wall clocks of an IANA time zone are ahead of UTC at an instant, in milliseconds. */
function toOffsetMs(instantMs: number, timezone: string): number {
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
  // No zone has ever changed its clocks twice within two days.
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
  return new Date(seekChange(beforeMs, afterMs, timezone));
}

/** When a zone changes its clocks between two instants; the later one without a change. */
function seekChange(fromMs: number, untilMs: number, timezone: string): number {
  const offsetMs = toOffsetMs(fromMs, timezone);
  let [lastBeforeMs, firstAfterMs] = [fromMs, untilMs];
  while (firstAfterMs - lastBeforeMs > secondMs) {
    const middleMs = lastBeforeMs + Math.floor((firstAfterMs - lastBeforeMs) / 2 / secondMs) * secondMs;
    if (toOffsetMs(middleMs, timezone) === offsetMs) lastBeforeMs = middleMs;
    else firstAfterMs = middleMs;
  }
  return firstAfterMs;
}

const toShownMs = ({ date, time }: LocalTime): number => Date.parse(`${date}T${time}Z`);
