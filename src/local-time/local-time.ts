import { findChange, toOffsetMs } from './zone-offset.js';

/** A date (`yyyy-mm-dd`) and a time (`hh:mm:ss`) as a clock on a wall shows them. */
export interface LocalTime {
  date: string;
  time: string;
}

const dayMs = 86_400_000;

/** The number of the date that a wall clock in an IANA time zone shows, counted from 1970-01-01. */
export const toDayNumber = (instant: Date, timezone: string): number =>
  Math.floor((instant.getTime() + toOffsetMs(instant.getTime(), timezone)) / dayMs);

/** The date (`yyyy-mm-dd`) of a number that `toDayNumber` gives. */
export const toDate = (dayNumber: number): string => new Date(dayNumber * dayMs).toISOString().slice(0, 10);

/** The number of a date (`yyyy-mm-dd`). */
export const toDayNumberOf = (date: string): number => Date.parse(`${date}T00:00:00Z`) / dayMs;

/** The day after a date (`yyyy-mm-dd`). */
export const toNextDay = (date: string): string => toDate(toDayNumberOf(date) + 1);

/** What a wall clock in an IANA time zone shows at an instant. */
export function toLocalTime(instant: Date, timezone: string): LocalTime {
  const shown = new Date(instant.getTime() + toOffsetMs(instant.getTime(), timezone)).toISOString();
  return { date: shown.slice(0, 10), time: shown.slice(11, 19) };
}

/**
 * When a wall clock in an IANA time zone shows a date and time: the first of two such instants where clocks are put back, and as much
 * later as clocks are put forward where the time does not exist.
 */
export function toInstant(local: LocalTime, timezone: string): Date {
  const [first] = listInstants(local, timezone);
  if (first) return first;
  const shownMs = toShownMs(local);
  return new Date(shownMs - toOffsetMs(shownMs - dayMs, timezone));
}

/** Every instant at which a wall clock in an IANA time zone shows a date and time, in order: one, two where clocks are put back, or none. */
export function listInstants(local: LocalTime, timezone: string): Date[] {
  const shownMs = toShownMs(local);
  const offsets = new Set([toOffsetMs(shownMs - dayMs, timezone), toOffsetMs(shownMs + dayMs, timezone)]);
  const instants = [...offsets].map((offsetMs) => shownMs - offsetMs);
  return instants
    .filter((ms) => shownMs - toOffsetMs(ms, timezone) === ms)
    .toSorted((one, other) => one - other)
    .map((ms) => new Date(ms));
}

/** The first instant at which a wall clock in an IANA time zone shows a date and time, or, where clocks are put forward past it, a later one. */
export function toFirstInstant(local: LocalTime, timezone: string): Date {
  const [first] = listInstants(local, timezone);
  if (first) return first;
  const shownMs = toShownMs(local);
  const beforeMs = shownMs - toOffsetMs(shownMs + dayMs, timezone);
  const afterMs = shownMs - toOffsetMs(shownMs - dayMs, timezone);
  return new Date(findChange(beforeMs, afterMs, timezone) ?? afterMs);
}

/** Whether there is such a date in an IANA time zone: zones that moved across the date line have left one out. */
export const hasDate = (date: string, timezone: string): boolean =>
  toLocalTime(toFirstInstant({ date, time: '12:00:00' }, timezone), timezone).date === date;

const toShownMs = ({ date, time }: LocalTime): number => Date.parse(`${date}T${time}Z`);
