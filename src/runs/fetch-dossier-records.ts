import type { Client } from '../client/client.js';
import type { CallOptions } from '../client/operation.js';
import { countNoun } from '../reports/text.js';
import { stopWords } from '../reports/words.js';
import { toCountryCode } from '../roster/country.js';
import { parseIsoDate } from '../roster/read-date.js';
import {
  countAskedRecords,
  countRecordsToAsk,
  type DossierRecordId,
  listRecordsToAsk,
  type RecordAsked,
  readDossiers,
  type SweepDetails,
  saveDossierRecord,
  saveMissingRecord,
  saveNamedRecords,
} from '../store/dossiers.js';
import type { DetailStop } from '../vocabulary.js';
import { askEach, askRecord, openDetailStops, type RecordOutcome } from './screening/details.js';
import type { RunSession } from './session.js';

/**
 * Stage: looks up new and changed dossiers, and the applicants and decisions that these name, as many as the settings allow, the last
 * changed ones first; then what earlier sweeps have left over. Whatever the service does, the sweep goes on: what could not be had is
 * counted and told. Null where nothing is to be looked up. Throws only what the database does.
 */
export async function fetchDossierRecords(
  session: RunSession,
  client: Client,
  accountId: number,
): Promise<SweepDetails | null> {
  const { app, run, runId } = session;
  const { database, settings, emit } = app;
  const { maxPerRun } = settings.sweep.details;
  if (maxPerRun === 0) return null;
  let budget = maxPerRun - (await countAskedRecords(database, run.runId)).asked;
  const due = (await listRecordsToAsk(database, accountId, Math.max(0, budget))).values();
  const named: DossierRecordId[] = [];
  let done = 0;
  let outOfReach = 0;
  let because: DetailStop | null = null;
  emit({ kind: 'stage_started', runId, stage: 'details' });
  const stops = openDetailStops(session, client);
  // What a dossier names comes before the next dossier. It can go on after its end: a dossier that is under way may name more.
  const next = (): IteratorResult<DossierRecordId, undefined> => {
    const value = budget > 0 ? (named.shift() ?? due.next().value) : undefined;
    if (value === undefined) return { done: true, value };
    budget -= 1;
    return { done: false, value };
  };
  try {
    const { concurrency } = settings.service.rate;
    await askEach({ [Symbol.iterator]: () => ({ next }) }, { concurrency, stops }, async (record) => {
      const asked = { ...record, accountId, runId: run.runId, askedAt: app.clock.now() };
      const outcome = await askRecord((options) => call(client, record, options), isNamed, stops);
      if (outcome === null) return false;
      if (outcome.kind === 'not_available' && outcome.isTransient) outOfReach += 1;
      else named.push(...(await saveOutcome(session, asked, outcome)));
      done += 1;
      emit({ kind: 'progress', runId, stage: 'details', done, total: maxPerRun });
      return true;
    });
    because = stops.because;
  } finally {
    stops.close();
  }
  const { asked, kept } = await countAskedRecords(database, run.runId);
  const missing = await countRecordsToAsk(database, accountId);
  const notAvailable = asked - kept + outOfReach;
  const details = {
    ...{ asked: asked + outOfReach, kept, notAvailable, missing },
    stoppedBecause: missing > 0 ? (because ?? 'limit') : null,
  };
  emitEnd(session, details);
  return details;
}

function emitEnd({ app, runId }: RunSession, { stoppedBecause, ...counts }: SweepDetails): void {
  app.emit({ kind: 'stage_finished', runId, stage: 'details', counts: { ...counts } });
  if (stoppedBecause === null || stoppedBecause === 'limit') return;
  const left = `${countNoun(counts.missing, 'record')} of dossiers not looked up`;
  const message = `${left}: ${stopWords[stoppedBecause]}; the sweep itself is not affected, and the next one goes on with them`;
  app.emit({ kind: 'warning', runId, code: 'details_left', message });
}

const call = ({ dossiers }: Client, { kind, id }: DossierRecordId, options: CallOptions) =>
  kind === 'dossier' ? dossiers.retrieve(id, options) : dossiers[kind](id, options);

// Letters and digits as they come by chance; `entity_type` and `decision_status` are words.
const namedForm = /^(entity|decision)_(?=[A-Za-z]*[A-Z0-9])[A-Za-z0-9]{6,200}$/;
const isNamed = (text: string): boolean => namedForm.test(text);

/** Saves what came of a look-up; gives what is to be looked up next because of it. */
async function saveOutcome(
  session: RunSession,
  asked: RecordAsked,
  outcome: RecordOutcome,
): Promise<readonly DossierRecordId[]> {
  const { accountId, dossierId, kind } = asked;
  if (outcome.kind === 'not_available') {
    await session.write((transaction) => saveMissingRecord(transaction, asked, outcome.reason));
    return [];
  }
  const { body, withheldLinks, namedIds } = outcome.record;
  const applicant =
    kind === 'entity' ? readApplicant(JSON.parse(body)) : { name: null, birthDate: null, country: null };
  const named =
    kind === 'dossier'
      ? namedIds.map(
          (id): DossierRecordId => ({ dossierId, kind: id.startsWith('entity_') ? 'entity' : 'decision', id }),
        )
      : [];
  await session.write(async (transaction) => {
    const listed = (await readDossiers(transaction, accountId, [dossierId])).get(dossierId);
    const dossierUpdatedAt = listed?.snapshot.updatedAt ?? null;
    await saveDossierRecord(transaction, asked, { dossierUpdatedAt, body, withheldLinks, ...applicant });
    if (kind === 'dossier') await saveNamedRecords(transaction, accountId, dossierId, named);
  });
  return named;
}

/**
 * What an applicant's record says of who it is. The interface names none of its fields: each is read under the names that are usual, from the
 * personal information, the record itself and its address, in this order.
 */
function readApplicant(record: unknown): { name: string | null; birthDate: string | null; country: string | null } {
  const [person, own, address] = [pick(record, 'personal_information'), record, pick(record, 'address')];
  const find = (...names: readonly string[]): string | null =>
    [person, own, address].flatMap((part) => names.flatMap((name) => readText(pick(part, name)) ?? []))[0] ?? null;
  const parts = [find('first_name'), find('last_name')].filter((part) => part !== null);
  const country = find('country', 'country_code', 'nationality');
  return {
    name: find('full_name', 'name', 'company_name', 'legal_name') ?? (parts.length > 0 ? parts.join(' ') : null),
    birthDate: parseIsoDate(find('birth_date', 'date_of_birth', 'dob')?.slice(0, 10) ?? ''),
    country: country === null ? null : toCountryCode(country),
  };
}

const pick = (record: unknown, name: string): unknown =>
  typeof record === 'object' && record !== null ? Reflect.get(record, name) : undefined;

/** A text as the database can hold it, or null. */
const readText = (value: unknown): string | null =>
  typeof value === 'string' ? value.replaceAll('\u0000', '').trim() || null : null;
