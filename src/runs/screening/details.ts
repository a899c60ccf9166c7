import { createHash } from 'node:crypto';
import { toPriority } from '../../changes/change-event.js';
import type { Client } from '../../client/client.js';
import type { Answer, CallOptions } from '../../client/operation.js';
import { ApiError, NightscreenError, ResponseError } from '../../errors.js';
import type { DetailCounts, DetailLookup } from '../../reports/run-facts.js';
import { describeDetails } from '../../reports/words.js';
import { isHalting, isTransient, toFailureReason } from '../../screening/screen.js';
import { countFailedControls } from '../../store/night/controls.js';
import {
  type NewHit,
  readDetailBacklog,
  readDetailLookups,
  readNewHits,
  saveDetailLookup,
} from '../../store/night/match-details.js';
import { updateRun } from '../../store/runs.js';
import type { DetailStop } from '../../vocabulary.js';
import type { RunSettings } from '../app-context.js';
import { abortLater, stopGraceMs } from '../halt.js';
import type { RunSession } from '../session.js';

interface Fetching {
  session: RunSession;
  client: Client;
  accountId: number;
  settings: RunSettings['evidence']['details'];
  stops: DetailStops;
}

/**
 * Stage: fetches the records of a run's new hits as evidence after its control searches passed, then the backlog of
 * earlier runs. A resumed run does not repeat its look-ups. A failure of the service does not fail the run: missing
 * records are counted. Throws only database errors.
 */
export async function fetchDetails(session: RunSession, client: Client, accountId: number): Promise<void> {
  const { app, run, runId } = session;
  const settings = app.settings.evidence.details;
  if (settings.maxPerRun === 0 || (await countFailedControls(app.database, run.runId)) > 0) return;
  const matchIds = orderHits(await readNewHits(app.database, run.runId));
  const backlog = await listBacklog(session, accountId);
  const hasWork = matchIds.length + backlog.length > 0;
  if (hasWork) app.emit({ kind: 'stage_started', runId, stage: 'details' });
  const stops = openDetailStops(session, client);
  try {
    const fetching = { session, client, accountId, settings, stops };
    const own = matchIds.flatMap((id) => toDetailRecord(id) ?? []);
    const ownLeft = await askMissing(fetching, own);
    // The kept activities name the entities.
    const named = await listNamed(session, matchIds);
    const namedLeft = await askMissing(fetching, named);
    const leftOver = ownLeft + namedLeft;
    const ownIds = new Set([...own, ...named].map(({ id }) => id));
    const isEarlier = ({ id }: DetailRecord): boolean => !ownIds.has(id);
    await askMissing(fetching, backlog.filter(isEarlier));
    // Once more, for the entities that the records just kept name.
    const missing = backlog.length === 0 ? [] : await listBacklog(session, accountId);
    const backlogLeft = await askMissing(fetching, missing.filter(isEarlier));
    const lookups = await readDetailLookups(app.database, [run.runId]);
    const kept = lookups.filter(({ reason }) => reason === null).length;
    const counts: DetailCounts = {
      hits: matchIds.length,
      withoutRecord: matchIds.length - own.length,
      asked: lookups.length,
      kept,
      notAvailable: lookups.length - kept,
      leftOver,
      backlogAsked: lookups.filter(isEarlier).length,
      backlogLeft,
      stoppedBecause: leftOver + backlogLeft > 0 ? (stops.because ?? 'limit') : null,
    };
    await session.write((transaction) => updateRun(transaction, run.runId, { details: counts }));
    if (hasWork) emitEnd(session, counts);
  } finally {
    stops.close();
  }
}

function emitEnd({ app, runId }: RunSession, counts: DetailCounts): void {
  const { asked, kept, notAvailable } = counts;
  const missing = counts.leftOver + counts.backlogLeft;
  app.emit({ kind: 'stage_finished', runId, stage: 'details', counts: { asked, kept, notAvailable, missing } });
  if (counts.stoppedBecause === null || counts.stoppedBecause === 'limit') return;
  const message = `the details of ${describeDetails(counts)}; the run itself is not affected`;
  app.emit({ kind: 'warning', runId, code: 'details_left', message });
}

async function listNamed({ app, run }: RunSession, matchIds: readonly string[]): Promise<DetailRecord[]> {
  const lookups = await readDetailLookups(app.database, [run.runId]);
  const named = new Map(lookups.map(({ id, entityIds }) => [id, entityIds]));
  const ids = new Set(matchIds.flatMap((id) => named.get(id) ?? []));
  return [...ids].flatMap((id) => toDetailRecord(id) ?? []);
}

/** The records that earlier runs left and no run has looked up since. */
async function listBacklog({ app, run }: RunSession, accountId: number): Promise<DetailRecord[]> {
  if (run.rosterId === null) return [];
  const ids = await readDetailBacklog(app.database, { runId: run.runId, rosterId: run.rosterId, accountId });
  return ids.flatMap((id) => toDetailRecord(id) ?? []);
}

/** Looks up the records that this run has not looked up yet, within its limit. Returns how many are left. */
async function askMissing(fetching: Fetching, records: readonly DetailRecord[]): Promise<number> {
  const { session, settings } = fetching;
  const { app, run, runId } = session;
  const lookups = await readDetailLookups(app.database, [run.runId]);
  const asked = new Set(lookups.map(({ id }) => id));
  const missing = records.filter(({ id }) => !asked.has(id));
  const queue = missing.slice(0, Math.max(0, settings.maxPerRun - asked.size)).values();
  let done = 0;
  const { concurrency } = app.settings.service.rate;
  await askEach(queue, { concurrency, stops: fetching.stops }, async (record) => {
    if (!(await askOne(fetching, record))) return false;
    done += 1;
    app.emit({ kind: 'progress', runId, stage: 'details', done, total: missing.length });
    return true;
  });
  return missing.length - done;
}

/** Looks up one record and saves the result. Returns false when it was not looked up. */
async function askOne({ session, client, accountId, stops }: Fetching, record: DetailRecord): Promise<boolean> {
  const askedAt = session.app.clock.now();
  const { kind, id } = record;
  const outcome = await askRecord((options) => client.aml[kind](id, options), isNamedEntity, stops);
  if (outcome === null) return false;
  const { status, requestId } = outcome;
  const lookup = { accountId, runId: session.run.runId, ...record, askedAt, status, requestId, ...toKept(outcome) };
  await session.write((transaction) => saveDetailLookup(transaction, lookup));
  return true;
}

function toKept(outcome: RecordOutcome) {
  if (outcome.kind === 'not_available') return { reason: outcome.reason, kept: null };
  const { received, record } = outcome;
  const { body, withheldLinks, namedIds: entityIds } = record;
  return {
    reason: null,
    kept: { body, withheldLinks, entityIds, digest: digest(body), receivedDigest: digest(received) },
  };
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The distinct ids of matches in the order of review: sanctions, then non-baseline hits, then by priority. */
export function orderHits(hits: readonly NewHit[]): readonly string[] {
  const ranked = hits.map((hit) => ({ ...hit, priority: toPriority({ ...hit, isHit: true }) }));
  const ordered = ranked.toSorted(
    (one, other) =>
      Number(other.isSanctionHit) - Number(one.isSanctionHit) ||
      Number(one.isBaseline) - Number(other.isBaseline) ||
      other.priority - one.priority ||
      (one.matchId < other.matchId ? -1 : 1),
  );
  return [...new Set(ordered.map(({ matchId }) => matchId))];
}

interface DetailRecord {
  kind: DetailLookup['kind'];
  id: string;
}

const forms: readonly [DetailLookup['kind'], RegExp][] = [
  ['activity', /^amla_\w{1,200}$/],
  ['entity', /^aml_\w{1,200}$/],
];

/** The record of an id by its form (interface: Identifier forms); undefined for every other id. */
export function toDetailRecord(id: string): DetailRecord | undefined {
  const kind = forms.find(([, form]) => form.test(id))?.[0];
  return kind === undefined ? undefined : { kind, id };
}

// Random letters and digits; `aml_entity` and `aml_match` are words.
const namedForm = /^aml_(?=[A-Za-z]*[A-Z0-9])[A-Za-z0-9]{6,200}$/;

/** Whether a text in a record is the id of an AML entity. */
export const isNamedEntity = (text: string): boolean => namedForm.test(text);

/** The result of one look-up. */
export type RecordOutcome =
  | {
      kind: 'answered';
      status: number;
      requestId: string | null;
      received: string;
      record: ReturnType<typeof readRecord>;
    }
  /** `isTransient`: the service was out of reach. */
  | { kind: 'not_available'; status: number | null; requestId: string | null; reason: string; isTransient: boolean };

// A record of one listed party is small. A larger body is not one.
const mostCharacters = 1_048_576;

/**
 * Looks up one record (interface: Single-record lookups). Never throws for an error of the service or the network.
 * Returns null when it was aborted, or when the account is refused. A refused account ends all look-ups, as do three in
 * a row with the service out of reach.
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

/** Calls `ask` for each of these, `concurrency` at once, until a stop. `ask` returns false to end its worker. */
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
  // Waits for all workers, so that no write follows.
  await Promise.allSettled(workers);
  await Promise.all(workers);
}

/** The replacement for a link that is not kept. */
export const withheldLink = '[link not kept]';

// A JSON string, and the colon after it when it is a name.
const texts = /(?<!\\)"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/gs;

/**
 * Removes from a JSON text what must not be stored: each value under the name `url`, which is presigned (interface:
 * Dossier detail), and every other link with parameters. The rest is unchanged, byte for byte. Also returns the wanted
 * ids in the text, in order.
 */
export function readRecord(body: string, isNamed: (text: string) => boolean) {
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

/** Replaces each word that is a link with parameters. */
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

type DetailStops = ReturnType<typeof openDetailStops>;

/** Limits the look-ups to minutes of a night. */
const mostMs = 10 * 60_000;
// A service that asks for a pause of a minute or more is not waited for.
const longPauseMs = 60_000;
const mostFailuresInARow = 3;

/** Stops the look-ups after an outage, a long pause, ten minutes, or a stop request. */
export function openDetailStops({ app, signal }: RunSession, client: Client) {
  const own = new AbortController();
  const waitSignal = AbortSignal.any([own.signal, signal]);
  const calls = abortLater(waitSignal, stopGraceMs);
  let because: DetailStop | null = null;
  let failures = 0;
  const stop = (why: DetailStop): void => {
    if (waitSignal.aborted) return;
    because = why;
    own.abort();
  };
  const leave = client.listen((event) => {
    if (event.kind === 'outage_began') stop('out_of_reach');
    if (event.kind === 'paused' && event.pauseMs >= longPauseMs) stop('out_of_reach');
  });
  const closing = new AbortController();
  app.clock.sleep(mostMs, closing.signal).then(
    () => stop('time'),
    () => undefined,
  );
  return {
    /** Ends waiting: no further request is sent. */
    waitSignal,
    /** Aborts running requests 5 seconds later. */
    signal: calls.signal,
    get because(): DetailStop | null {
      return because ?? (signal.aborted ? 'signal' : null);
    },
    stop,
    /** Notes whether a look-up found the service out of reach; three in a row stop the look-ups. */
    note: (wasOutOfReach: boolean): void => {
      failures = wasOutOfReach ? failures + 1 : 0;
      if (failures >= mostFailuresInARow) stop('out_of_reach');
    },
    close: (): void => {
      closing.abort();
      leave();
      calls.clear();
    },
  };
}
