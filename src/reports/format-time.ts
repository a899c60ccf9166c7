/** An instant as `2026-11-21 02:04:11 UTC`, whatever the machine's time zone. */
export function formatTime(instant: Date): string {
  return `${instant.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** The UTC day of an instant as `2026-11-21`. */
export function formatDay(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}

/** The time between two instants in words: `48 s`, `4 min 12 s`, `3 h 5 min`. */
export function formatDuration(from: Date, until: Date): string {
  return formatSeconds(Math.max(0, Math.round((until.getTime() - from.getTime()) / 1000)));
}

/** So many whole seconds in the same words. */
export function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
