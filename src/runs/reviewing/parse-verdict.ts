import { type DispositionVerdict, dispositionVerdicts } from '../../matches/review/disposition.js';

/** Reads a verdict in whatever case and spacing it was typed; null where it is none. */
export function parseVerdict(text: string): DispositionVerdict | null {
  const folded = text.toLowerCase().replace(/[\s-]+/g, '_');
  return dispositionVerdicts.find((verdict) => verdict === folded) ?? null;
}
