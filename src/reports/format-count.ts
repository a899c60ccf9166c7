/** A whole number with commas between the thousands, the same in every locale: `12,345`. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A count with its noun in the right number: `1 customer`, `2 customers`; `plural` where an s is not enough. */
export function countNoun(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`;
}

/** A size in words, with one decimal from a million bytes on: `812 bytes`, `47 kB`, `12.3 MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1_000) return countNoun(bytes, 'byte');
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
