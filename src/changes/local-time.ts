/** A date (`yyyy-mm-dd`) and a time (`hh:mm:ss`) as a clock on a wall shows them. */
export interface LocalTime {
  date: string;
  time: string;
}

const dayMs = 86_400_000;

/** The day after a date (`yyyy-mm-dd`). */
export const toNextDay = (date: string): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + dayMs).toISOString().slice(0, 10);

const formats = new Map<string, Intl.DateTimeFormat>();

/** What a wall clock in an IANA time zone shows at an instant. */
export function toLocalTime(instant: Date, timezone: string): LocalTime {
  const parts = new Map(
    formatFor(timezone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  );
  const pick = (...types: Intl.DateTimeFormatPartTypes[]): string[] => types.map((type) => parts.get(type) ?? '00');
  return { date: pick('year', 'month', 'day').join('-'), time: pick('hour', 'minute', 'second').join(':') };
}

/**
 * When a wall clock in an IANA time zone shows a date and time: the first of two such instants where clocks are put back, and as much
 * later as clocks are put forward where the time does not exist.
 */
export function toInstant({ date, time }: LocalTime, timezone: string): Date {
  const shown = Date.parse(`${date}T${time}Z`);
  const offsetAt = (ms: number): number => {
    const local = toLocalTime(new Date(ms), timezone);
    return Date.parse(`${local.date}T${local.time}Z`) - Math.floor(ms / 1_000) * 1_000;
  };
  const offsets = [offsetAt(shown - dayMs), offsetAt(shown + dayMs)];
  const candidates = offsets.map((offset) => shown - offset).filter((ms) => shown - offsetAt(ms) === ms);
  return new Date(candidates.length > 0 ? Math.min(...candidates) : shown - (offsets[0] ?? 0));
}

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-GB', {
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
