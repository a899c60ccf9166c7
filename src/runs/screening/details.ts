import { createHash } from 'node:crypto';
import { toPriority } from '../../changes/change-event.js';
import type { Client } from '../../client/client.js';
import type { Answer, CallOptions } from '../../client/operation.js';
import { followSignals } from '../../client/signals.js';
import { ApiError, NightscreenError, ResponseError } from '../../errors.js';
import type { DetailCounts, DetailLookup } from '../../reports/list-facts.js';
import { describeDetails } from '../../reports/words.js';
import { isHalting, isTransient, toFailureReason } from '../../screening/screen.js';
import { countCanaries } from '../../store/canaries.js';
import {
  type NewHit,
  readDetailBacklog,
  readDetailLookups,
  readNewHits,
  saveDetailCounts,
  saveDetailLookup,
} from '../../store/match-details.js';
import type { DetailStop } from '../../vocabulary.js';
import type { EvidenceSettings } from '../details-settings.js';
import { abortLater, stopGraceMs } from '../halt.js';
import type { RunSession } from '../session.js';

interface Fetching {
  session: RunSession;
  client: Client;
  accountId: number;
  settings: EvidenceSettings['details'];
  stops: DetailStops;
}

/**
 * Stage: fetches the records of a run's new hits and keeps them as evidence, when control searches have confirmed its answers; then what
 * earlier runs have left over. What an earlier start of the run has asked for is not asked for again. Whatever the service does, the run
 * goes on: what could not be had is counted and reported. Throws only what the database does.
 */
export async function fetchDetails(session: RunSession, client: Client, accountId: number): Promise<void> {
  const { app, run, runId } = session;
  const settings = app.settings.evidence.details;
  const isOff = settings.maxPerRun === 0 || !(settings.activity || settings.entity);
  if (isOff || (await countCanaries(app.database, run.runId)).failed > 0) return;
  const matchIds = orderHits(await readNewHits(app.database, run.runId));
  const backlog = await listBacklog(session, accountId);
  const hasWork = matchIds.length + backlog.length > 0;
  if (hasWork) app.emit({ kind: 'stage_started', runId, stage: 'details' });
  const stops = openDetailStops(session, client);
  try {
    const fetching = { session, client, accountId, settings, stops };
    const own = matchIds.flatMap((id) => toDetailRecord(id) ?? []);
    const ownLeft = await askMissing(fetching, own);
    // Only now is it known whom the matches belong to.
    const named = await listNamed(session, matchIds);
    const namedLeft = await askMissing(fetching, named);
    const leftOver = ownLeft + namedLeft;
    const ownIds = new Set([...own, ...named].map(({ id }) => id));
    const isEarlier = ({ id }: DetailRecord): boolean => !ownIds.has(id);
    await askMissing(fetching, backlog.filter(isEarlier));
    // Again, with the entities that what was just kept names.
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
    await session.write((transaction) => saveDetailCounts(transaction, run.runId, counts));
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

/** The entities that the matches' kept activities name, in the order of the matches. */
async function listNamed({ app, run }: RunSession, matchIds: readonly string[]): Promise<DetailRecord[]> {
  const lookups = await readDetailLookups(app.database, [run.runId]);
  const named = new Map(lookups.map(({ id, entityIds }) => [id, entityIds]));
  const ids = new Set(matchIds.flatMap((id) => named.get(id) ?? []));
  return [...ids].flatMap((id) => toDetailRecord(id) ?? []);
}

/** What earlier runs have left over and no run has asked for since. */
async function listBacklog({ app, run }: RunSession, accountId: number): Promise<DetailRecord[]> {
  if (run.rosterId === null) return [];
  const ids = await readDetailBacklog(app.database, { rosterId: run.rosterId, accountId });
  return ids.flatMap((id) => toDetailRecord(id) ?? []);
}

/** Asks for those records that the run has not asked for, as many as it may; gives how many are left. */
async function askMissing(fetching: Fetching, records: readonly DetailRecord[]): Promise<number> {
  const { session, settings } = fetching;
  const { app, run, runId } = session;
  const lookups = await readDetailLookups(app.database, [run.runId]);
  const asked = new Set(lookups.map(({ id }) => id));
  const missing = records.filter(({ kind, id }) => settings[kind] && !asked.has(id));
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

/** Asks for one record and saves what came of it; false when it was not asked for after all. */
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

/** The ids of matches in the order in which reviewers need them, each once: sanctions, then what is new tonight, then by priority. */
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

/** A record that can be looked up. */
interface DetailRecord {
  kind: DetailLookup['kind'];
  id: string;
}

const forms: readonly [DetailLookup['kind'], RegExp][] = [
  ['activity', /^amla_\w{1,200}$/],
  ['entity', /^aml_\w{1,200}$/],
];

/** The record that an id names by its form (interface: Identifier forms); undefined for every other id, which is not asked for. */
export function toDetailRecord(id: string): DetailRecord | undefined {
  const kind = forms.find(([, form]) => form.test(id))?.[0];
  return kind === undefined ? undefined : { kind, id };
}

// Letters and digits as they come by chance; `aml_entity` and `aml_match` are words.
const namedForm = /^aml_(?=[A-Za-z]*[A-Z0-9])[A-Za-z0-9]{6,200}$/;

/** Whether a text within a record is the id of an AML entity, and no word that begins like one. */
export const isNamedEntity = (text: string): boolean => namedForm.test(text);

/** What came of one look-up. */
export type RecordOutcome =
  | {
      kind: 'answered';
      status: number;
      requestId: string | null;
      received: string;
      record: ReturnType<typeof readRecord>;
    }
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

/** What stands in the place of a link that is not kept. */
export const withheldLink = '[link not kept]';

// A string of JSON, and the colon that makes it a name.
const texts = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/gs;

/**
 * Takes from a JSON text what must not be stored: whatever stands under the name `url`, which the interface says is presigned (interface:
 * Dossier detail), and every other link with parameters. All else stays as it came, byte for byte. Gives the ids of the wanted form that it names
 * as well, in order.
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

/** Details are worth minutes of a night, not hours. */
const mostMs = 10 * 60_000;
// Whoever is asked to come back in a minute is asked to come back another time.
const longPauseMs = 60_000;
const mostFailuresInARow = 3;

/** What ends the fetching of details: nothing that is fetched may hold a run up. */
interface DetailStops {
  /** Ends waiting: nothing more is sent. */
  readonly waitSignal: AbortSignal;
  /** Ends what is under way, 5 seconds later. */
  readonly signal: AbortSignal;
  readonly because: DetailStop | null;
  stop(because: DetailStop): void;
  /** Whether the service was out of reach for a look-up; after three in a row nothing more is asked. */
  note(wasOutOfReach: boolean): void;
  close(): void;
}

/** Begins to watch for an outage of the look-ups, a long pause, ten minutes, and a request to stop. */
export function openDetailStops({ app, signal }: RunSession, client: Client): DetailStops {
  const own = new AbortController();
  const waiting = followSignals(own.signal, [signal]);
  const calls = abortLater(waiting.signal, stopGraceMs);
  let because: DetailStop | null = null;
  let failures = 0;
  const stop = (why: DetailStop): void => {
    if (waiting.signal.aborted) return;
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
    waitSignal: waiting.signal,
    signal: calls.signal,
    get because() {
      return because ?? (signal.aborted ? 'signal' : null);
    },
    stop,
    note: (wasOutOfReach) => {
      failures = wasOutOfReach ? failures + 1 : 0;
      if (failures >= mostFailuresInARow) stop('out_of_reach');
    },
    close: () => {
      closing.abort();
      leave();
      calls.clear();
      waiting.clear();
    },
  };
}
