import { createHash } from 'node:crypto';
import { type PrioritySubject, toPriority } from '../../changes/priority.js';
import type { Client } from '../../client/create-client.js';
import type { DetailCounts, DetailKind } from '../../reports/detail-facts.js';
import { describeDetails } from '../../reports/detail-words.js';
import { hasFailedCanary } from '../../store/canaries.js';
import {
  type NewDetailLookup,
  readDetailBacklog,
  readDetailLookups,
  readNewHits,
  saveDetailCounts,
  saveDetailLookup,
} from '../../store/match-details.js';
import type { RunSession } from '../session/run-session.js';
import { askEach, askRecord, type RecordOutcome } from './ask-record.js';
import type { EvidenceSettings } from './settings.js';
import { type DetailStops, openDetailStops } from './stop-details.js';

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
 * goes on: what could not be had is counted and told. Throws only what the database does.
 */
export async function fetchDetails(session: RunSession, client: Client, accountId: number): Promise<void> {
  const { workplace, run, runId } = session;
  const settings = workplace.settings.evidence.details;
  const isOff = settings.maxPerRun === 0 || !(settings.activity || settings.entity);
  if (isOff || (await hasFailedCanary(workplace.database, run.runId))) return;
  const matchIds = orderHits(await readNewHits(workplace.database, run.runId));
  const backlog = await listBacklog(session, accountId);
  const hasWork = matchIds.length + backlog.length > 0;
  if (hasWork) workplace.tell({ kind: 'stage_started', runId, stage: 'details' });
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
    const lookups = await readDetailLookups(workplace.database, [run.runId]);
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
    if (hasWork) tellEnd(session, counts);
  } finally {
    stops.close();
  }
}

function tellEnd({ workplace, runId }: RunSession, counts: DetailCounts): void {
  const { asked, kept, notAvailable } = counts;
  const missing = counts.leftOver + counts.backlogLeft;
  workplace.tell({ kind: 'stage_finished', runId, stage: 'details', counts: { asked, kept, notAvailable, missing } });
  if (counts.stoppedBecause === null || counts.stoppedBecause === 'limit') return;
  const message = `the details of ${describeDetails(counts)}; the run itself is not affected`;
  workplace.tell({ kind: 'warning', runId, code: 'details_left', message });
}

/** The entities that the matches' kept activities name, in the order of the matches. */
async function listNamed({ workplace, run }: RunSession, matchIds: readonly string[]): Promise<DetailRecord[]> {
  const lookups = await readDetailLookups(workplace.database, [run.runId]);
  const named = new Map(lookups.map(({ id, entityIds }) => [id, entityIds]));
  const ids = new Set(matchIds.flatMap((id) => named.get(id) ?? []));
  return [...ids].flatMap((id) => toDetailRecord(id) ?? []);
}

/** What earlier runs have left over and no run has asked for since. */
async function listBacklog({ workplace, run }: RunSession, accountId: number): Promise<DetailRecord[]> {
  if (run.rosterId === null) return [];
  const ids = await readDetailBacklog(workplace.database, { rosterId: run.rosterId, accountId });
  return ids.flatMap((id) => toDetailRecord(id) ?? []);
}

/** Asks for those records that the run has not asked for, as many as it may; gives how many are left. */
async function askMissing(fetching: Fetching, records: readonly DetailRecord[]): Promise<number> {
  const { session, settings } = fetching;
  const { workplace, run, runId } = session;
  const lookups = await readDetailLookups(workplace.database, [run.runId]);
  const asked = new Set(lookups.map(({ id }) => id));
  const missing = records.filter(({ kind, id }) => settings[kind] && !asked.has(id));
  const queue = missing.slice(0, Math.max(0, settings.maxPerRun - asked.size)).values();
  let done = 0;
  const { concurrency } = workplace.settings.service.rate;
  await askEach(queue, { concurrency, stops: fetching.stops }, async (record) => {
    if (!(await askOne(fetching, record))) return false;
    done += 1;
    workplace.tell({ kind: 'progress', runId, stage: 'details', done, total: missing.length });
    return true;
  });
  return missing.length - done;
}

/** Asks for one record and saves what came of it; false when it was not asked for after all. */
async function askOne({ session, client, accountId, stops }: Fetching, record: DetailRecord): Promise<boolean> {
  const askedAt = session.workplace.clock.now();
  const { kind, id } = record;
  const outcome = await askRecord((options) => client.aml[kind](id, options), isNamedEntity, stops);
  if (outcome === null) return false;
  const { status, requestId } = outcome;
  const lookup = { accountId, runId: session.run.runId, ...record, askedAt, status, requestId, ...toKept(outcome) };
  await session.write((transaction) => saveDetailLookup(transaction, lookup));
  return true;
}

function toKept(outcome: RecordOutcome): Pick<NewDetailLookup, 'reason' | 'kept'> {
  if (outcome.kind === 'not_available') return { reason: outcome.reason, kept: null };
  const { received, record } = outcome;
  const { body, withheldLinks, namedIds: entityIds } = record;
  return {
    reason: null,
    kept: { body, withheldLinks, entityIds, digest: digest(body), receivedDigest: digest(received) },
  };
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** How a match became a hit in a run; a match that is listed for several customers has one for each way. */
export interface NewHit extends Omit<PrioritySubject, 'isHit'> {
  matchId: string;
  isSanctionHit: boolean;
  /** Of a first screening. */
  isBaseline: boolean;
}

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
  kind: DetailKind;
  id: string;
}

const forms: readonly [DetailKind, RegExp][] = [
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
