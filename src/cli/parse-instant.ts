import { InvalidArgumentError } from 'commander';

/** A day (its beginning in UTC) or a moment in ISO 8601; throws InvalidArgumentError for anything else. */
export function parseInstant(text: string): Date {
  const isIso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text);
  const date = new Date(text);
  const isReal =
    isIso && !Number.isNaN(date.getTime()) && new Date(text.slice(0, 10)).toISOString().startsWith(text.slice(0, 10));
  if (isReal) return date;
  throw new InvalidArgumentError('It must be a day such as 2026-03-01, or a moment such as 2026-03-01T02:00Z.');
}
