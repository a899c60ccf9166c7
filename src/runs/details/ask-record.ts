import type { Answer, CallOptions } from '../../client/operation.js';
import { ApiError, NightscreenError, ResponseError } from '../../errors.js';
import { isHalting, isTransient, toFailureReason } from '../../screening/screen.js';
import type { DetailStops } from './stop-details.js';

/** What came of one look-up. */
export type RecordOutcome =
  | { kind: 'answered'; status: number; requestId: string | null; received: string; record: KeptRecord }
  /** `isTransient` when the service was out of reach, rather than the record not there. */
  | { kind: 'not_available'; status: number | null; requestId: string | null; reason: string; isTransient: boolean };

// What describes one listed party is small; whatever else comes is not what was asked for.
const mostCharacters = 1_048_576;

/**
 * Looks up one record (interface: Single-record lookups); never throws for what the service or the network does. Null where it was broken
 * off, or where the account may not ask any more, which ends all look-ups, as do three in a row for which the service was out of reach.
 */
export async function askRecord(
  call: (options: CallOptions) => Promise<Answer<unknown>>,
  isNamed: (text: string) => boolean,
  stops: DetailStops,
): Promise<RecordOutcome | null> {
  const { waitSignal, signal } = stops;
  try {
    const { body, status, requestId = null } = await call({ waitSignal, signal });
    stops.note(false);
    if (body.length > mostCharacters) {
      return { kind: 'not_available', status, requestId, reason: 'too_large', isTransient: false };
    }
    return { kind: 'answered', status, requestId, received: body, record: readRecord(body, isNamed) };
  } catch (error) {
    if (signal.aborted || (waitSignal.aborted && error === waitSignal.reason)) return null;
    if (isHalting(error)) {
      stops.stop('refused');
      return null;
    }
    if (!(error instanceof NightscreenError)) throw error;
    stops.note(isTransient(error));
    const status = error instanceof ApiError || error instanceof ResponseError ? error.status : null;
    const requestId = error instanceof ApiError ? (error.requestId ?? null) : null;
    const reason = toFailureReason(error);
    return { kind: 'not_available', status, requestId, reason, isTransient: isTransient(error) };
  }
}

/** Asks for each of these, `concurrency` at once, until there is a reason to stop; `ask` gives whether it came to be asked for. */
export async function askEach<T>(
  wanted: Iterable<T>,
  { concurrency, stops }: { concurrency: number; stops: DetailStops },
  ask: (one: T) => Promise<boolean>,
): Promise<void> {
  const queue = wanted[Symbol.iterator]();
  const work = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      if (stops.waitSignal.aborted || !(await ask(next.value))) return;
    }
  };
  const workers = Array.from({ length: concurrency }, () =>
    work().catch((error: unknown) => {
      stops.stop('signal');
      throw error;
    }),
  );
  // All of them, whatever becomes of one: nothing may be written after this.
  await Promise.allSettled(workers);
  await Promise.all(workers);
}

/** A record's body as it may be kept. */
interface KeptRecord {
  /** JSON as received, each withheld link replaced. */
  body: string;
  withheldLinks: number;
  /** The ids of the wanted form that it names, in order. */
  namedIds: readonly string[];
}

/** What stands in the place of a link that is not kept. */
export const withheldLink = '[link not kept]';

// A string of JSON, and the colon that makes it a name.
const texts = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/gs;

/**
 * Takes from a JSON text what must not be stored: whatever stands under the name `url`, which the interface says is presigned (interface:
 * Dossier detail), and every other link with parameters. All else stays as it came, byte for byte.
 */
export function readRecord(body: string, isNamed: (text: string) => boolean): KeptRecord {
  const namedIds = new Set<string>();
  let withheldLinks = 0;
  let name = '';
  const kept = body.replace(texts, (token: string, raw: string, colon: string | undefined) => {
    const text = raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
    if (colon !== undefined) name = text;
    else if (isNamed(text)) namedIds.add(text);
    const isPresigned = colon === undefined && name.toLowerCase() === 'url' && text !== '';
    const shown = isPresigned ? withheldLink : withholdLinks(text);
    if (shown === text) return token;
    withheldLinks += 1;
    return `${JSON.stringify(shown)}${colon ?? ''}`;
  });
  return { body: kept, withheldLinks, namedIds: [...namedIds] };
}

/** The text with each word replaced that is a link with parameters. */
function withholdLinks(text: string): string {
  if (!text.includes('?')) return text;
  return text
    .split(/(\s+)/)
    .map((word) => (isOpenLink(word) ? withheldLink : word))
    .join('');
}

function isOpenLink(word: string): boolean {
  const question = word.indexOf('?');
  return question > 0 && word.includes('/') && word.indexOf('=', question) > question;
}
