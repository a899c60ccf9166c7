import { type DossierChange, diffDossier } from '../changes/dossier-changes.js';
import type { Client } from '../client/client.js';
import { walkDossierPages } from '../client/dossiers.js';
import type { CallOptions } from '../client/operation.js';
import { type DossierList, planWindows } from '../dossiers/creation-windows.js';
import { sweepDossiers, type WalkedPage, type WindowWalk } from '../dossiers/sweep-dossiers.js';
import { countNoun } from '../reports/text.js';
import { toCountryCode } from '../roster/country.js';
import { parseIsoDate } from '../roster/read-date.js';
import { toLeaseKey } from '../store/database/leases.js';
import {
  countLost,
  countRecords,
  countSweptDossiers,
  type DossierRecordId,
  dropSweptPages,
  listRecordsToAsk,
  markUnlisted,
  readDossiers,
  readSweepProgress,
  type Sweep,
  saveDossierChanges,
  saveDossierRecord,
  saveDossiers,
  saveSweep,
  saveSweepWindows,
  saveSweptPages,
} from '../store/dossiers/dossiers.js';
import { saveRunHold } from '../store/night/held-runs.js';
import { insertBatch } from '../store/night/ledger.js';
import type { Account } from '../store/organisations.js';
import { type RunRow, readLastActivity } from '../store/runs.js';
import { codeWords } from '../vocabulary/words.js';
import type { DetailStop, RunState } from '../vocabulary.js';
import { identifyAccount, noteAccount, toAssumedMode, toHalt } from './account.js';
import type { AppContext } from './app-context.js';
import { clearSweptMarks } from './dirty-run.js';
import { endRun } from './end-run.js';
import { RunHalted } from './halt.js';
import { followInvitations } from './invitations/invite.js';
import { queueReportOf, reportAndMail } from './mail/deliver.js';
import { queueBrokenRun } from './mail/failures.js';
import type { RunSummary } from './run-summary.js';
import { askEach, askRecord, openDetailStops, type RecordOutcome } from './screening/details.js';
import { readBounds } from './screening/hold-run.js';
import { OutageWatch, retryUntilDeadline, type WaitPolicy } from './screening/outages.js';
import type { ResumeVerdict } from './session.js';
import { openKeyedOrganisation, type RunRequest, type RunSession, recordKeys, withLeasedRun } from './session.js';

/**
 * Sweeps the account's dossiers and stores what changed since the last sweep. The first sweep is the starting point and reports no changes. A
 * sweep that is not proven complete reports no dossier as gone and ends `incomplete`.
 */
export async function runSweep(
  app: AppContext,
  { writeReport }: { writeReport: boolean },
  signal: AbortSignal,
): Promise<RunSummary> {
  const startedAt = app.clock.now();
  const client = app.client();
  const organisation = await openKeyedOrganisation(app);
  const request: RunRequest = {
    organisation,
    kind: 'sweep',
    mode: toAssumedMode(app),
    findBlocker: (open) => findAge(app, open),
  };
  const summary = await withLeasedRun(
    app,
    toLeaseKey('sweep', organisation.name),
    signal,
    async () => request,
    async (session) => {
      const outage = new OutageWatch(app, client, startedAt);
      outage.nameRun(session.runId);
      try {
        const waitPolicy = { clock: app.clock, outage, signal: session.signal };
        const { value: account } = await retryUntilDeadline(waitPolicy, (waiting) =>
          identifyAccount(app, organisation, client, waiting),
        );
        await session.write((transaction) => noteAccount(transaction, session, account.accountId));
        const keys = recordKeys(session, client);
        return await sweepAccount(session, account, waitPolicy, writeReport).finally(() => keys.close());
      } catch (error) {
        const halt = error instanceof RunHalted ? error : toHalt(error, session.signal);
        if (!(halt instanceof RunHalted)) throw error;
        return closeSweep(session, null, { ...nothing, unprovenBecause: halt.message }, 'stopped', writeReport);
      } finally {
        outage.close();
      }
    },
  );
  const hasReport = summary.state !== 'stopped';
  return reportAndMail(app, summary, { hasReport, writeReport }, signal);
}

const resumableForMs = 6 * 60 * 60 * 1_000;

/** A stopped sweep continues after its last page unless that page is older than six hours. */
async function findAge({ database, clock }: AppContext, open: RunRow): Promise<ResumeVerdict> {
  const last = await readLastActivity(database, open);
  const isOld = clock.now().getTime() - last.getTime() > resumableForMs;
  const blocker = isOld ? `its last page was saved more than six hours ago, at ${last.toISOString()}` : null;
  return { blocker, differences: [] };
}

const nothing: Sweep = {
  pages: 0,
  dossiers: 0,
  appeared: 0,
  changed: 0,
  gone: 0,
  proven: false,
  unprovenBecause: null,
  details: null,
};

async function sweepAccount(
  session: RunSession,
  account: Account,
  waitPolicy: WaitPolicy,
  writeReport: boolean,
): Promise<RunSummary> {
  const { app, run, runId } = session;
  const { database, settings } = app;
  app.emit({ kind: 'stage_started', runId, stage: 'sweep' });
  // Pages of another account are not valid for this one.
  const isOther = run.accountId !== null && run.accountId !== account.accountId;
  if (isOther) await session.write((transaction) => dropSweptPages(transaction, run.runId));
  const list = toRetryingList(app.client(), waitPolicy);
  const progress = await readSweepProgress(database, account.accountId, run.runId);
  const { isStart } = progress;
  const walks = progress.walks.length > 0 ? progress.walks : await openWalks(session, list);
  const walk = sweepDossiers(list, settings.sweep, walks);
  let done = walks.reduce((sum, { walked }) => sum + walked.length, 0);
  let next = await walk.next();
  for (; !next.done; next = await walk.next()) {
    await savePages(session, account, next.value, isStart);
    done += countDossiers(next.value);
    app.emit({ kind: 'progress', runId, stage: 'sweep', done, total: null });
  }
  const { pages, dossiers, proven: isWhole, because, isListed } = next.value;
  const { accountId } = account;
  const loss = isWhole && !isStart ? await findLoss(session, accountId, isListed) : null;
  if (isWhole) await saveUnlisted(session, { accountId, isListed, isHeld: loss !== null });
  const proven = isWhole && loss === null;
  const counts = await session.write((transaction) =>
    countSweptDossiers(transaction, { accountId, runId: run.runId, isStart }),
  );
  const details = await fetchDossierRecords(session, app.client(), accountId);
  await followInvitations(session, app.client(), accountId);
  const sweep = { pages, dossiers, ...counts, proven, unprovenBecause: loss?.because ?? because, details };
  return closeSweep(session, account, sweep, proven ? 'complete' : 'incomplete', writeReport, loss);
}

const countDossiers = (pages: readonly WalkedPage[]): number =>
  pages.reduce((sum, { dossiers }) => sum + dossiers.length, 0);

async function openWalks(session: RunSession, list: DossierList): Promise<readonly WindowWalk[]> {
  const { app, run, runId } = session;
  const { settings, emit } = app;
  const { windows, oneWalkBecause } = await planWindows(list, settings.sweep);
  if (oneWalkBecause !== null) {
    const message = `the dossiers are read in one walk, not in ${settings.sweep.windows} windows: ${oneWalkBecause}; if this stays so, set sweep.windows to 1`;
    emit({ kind: 'warning', runId, code: 'sweep_one_walk', message });
  }
  await session.write((transaction) => saveSweepWindows(transaction, run.runId, windows));
  return windows.map((window) => ({ ...window, walked: [], hasEnded: false }));
}

/** The dossier list; each page is repeated while the service is unreachable and the run's deadline allows. */
function toRetryingList(client: Client, waitPolicy: WaitPolicy): DossierList {
  const page: DossierList['page'] = async (query) => {
    const call = (signal: AbortSignal): ReturnType<DossierList['page']> =>
      client.dossiers.page(query, { signal }).catch((error: unknown) => {
        throw toHalt(error, signal);
      });
    return (await retryUntilDeadline(waitPolicy, call)).value;
  };
  return { page, pages: (query = {}) => walkDossierPages(page, query) };
}

/** Saves pages, their changes and the progress of their windows. */
async function savePages(
  session: RunSession,
  account: Account,
  pages: readonly WalkedPage[],
  isStart: boolean,
): Promise<void> {
  const { app } = session;
  const { runId } = session.run;
  const now = app.clock.now();
  const batch = session.numbers.nextBatch();
  await session.write(async (transaction) => {
    // The batch records the activity of the run.
    await insertBatch(transaction, session.numbers, batch, now);
    const ids = pages.flatMap(({ dossiers }) => dossiers.map(({ id }) => id));
    const known = await readDossiers(transaction, account.accountId, ids);
    const compared = pages.map((page) => {
      const changes = page.dossiers.flatMap((dossier) => diffDossier(known.get(dossier.id) ?? null, dossier) ?? []);
      const appeared = changes.filter(isAppearance).length;
      return { ...page, changes, appeared, changed: changes.length - appeared };
    });
    await saveSweptPages(transaction, runId, compared);
    const changes = compared.flatMap((page) => page.changes);
    const toSave = changes.flatMap(({ after }) => after ?? []);
    await saveDossiers(transaction, account.accountId, runId, toSave);
    // A resumed starting point knows some dossiers already; their changes since are reported.
    const toReport = isStart ? changes.filter((change) => !isAppearance(change)) : changes;
    await saveDossierChanges(transaction, runId, toReport, now);
  });
}

const isAppearance = ({ kind }: DossierChange): boolean => kind === 'dossier_appeared';

/** Whether so many dossiers are missing from a whole list that a person must accept it before they are removed. */
async function findLoss(
  { app, runId }: RunSession,
  accountId: number,
  isListed: (id: string) => boolean,
): Promise<{ lost: number; because: string } | null> {
  const { known, lost } = await countLost(app.database, accountId, isListed);
  const share = readBounds(app.settings).lostDossierShare;
  const isFew = lost <= fewLost && 2 * lost <= known;
  if (lost <= share * known || lost < leastLost || isFew) return null;
  const because = `the list no longer holds ${lost} of ${countNoun(known, 'known dossier')} (at most ${Number((share * 100).toFixed(1))} %), so none is removed. If that is right: nightscreen runs accept ${runId}; the next sweep then removes them`;
  return { lost, because };
}

/** So many may always go, unless they are most of the known ones. */
const fewLost = 5;
const leastLost = 2;

/** Marks known dossiers that are no longer listed as gone, or as missing by a held sweep. */
async function saveUnlisted(
  { app, run, write }: RunSession,
  { accountId, isListed, isHeld }: { accountId: number; isListed: (id: string) => boolean; isHeld: boolean },
): Promise<void> {
  const now = app.clock.now();
  const heldRunId = isHeld ? run.runId : null;
  await markUnlisted(app.database, { accountId, isListed, heldRunId, now }, (work) =>
    write(async (transaction) => {
      const gone = await work(transaction);
      const changes = gone.map((before): DossierChange => ({ kind: 'dossier_gone', before, after: null, fields: [] }));
      await saveDossierChanges(transaction, run.runId, changes, now);
    }),
  );
}

async function closeSweep(
  session: RunSession,
  account: Account | null,
  sweep: Sweep,
  state: RunState,
  writeReport: boolean,
  loss: Awaited<ReturnType<typeof findLoss>> = null,
): Promise<RunSummary> {
  const { app, run, runId } = session;
  const { unprovenBecause, details: _, ...counts } = sweep;
  const reasons = unprovenBecause === null ? [] : [unprovenBecause];
  const { proven: __, ...shown } = counts;
  app.emit({ kind: 'stage_finished', runId, stage: 'sweep', counts: shown });
  return endRun(session, { state, reasons, counts }, async (transaction) => {
    if (state !== 'stopped') {
      await saveSweep(transaction, run.runId, sweep);
      await dropSweptPages(transaction, run.runId);
    }
    if (loss !== null) {
      const hold = { kind: 'dossiers', reasons: [loss.because], customers: loss.lost } as const;
      await saveRunHold(transaction, run, { ...hold, heldAt: app.clock.now() });
    }
    if (account !== null && state === 'complete') {
      await clearSweptMarks(transaction, app, session.organisation, { ...account, before: run.startedAt });
    }
    if (state === 'stopped') await queueBrokenRun(session, transaction, { outcome: 'stopped', reasons });
    else if (writeReport) await queueReportOf(app, transaction, run);
  });
}

/**
 * Stage: looks up new and changed dossiers, and the applicants and decisions that they name, as many as the settings allow, the last changed
 * ones first; then the remaining ones of earlier sweeps. A failure of the service does not end the sweep: missing records are counted and
 * reported. Null if look-ups are off. Throws only errors of the database.
 */
async function fetchDossierRecords(session: RunSession, client: Client, accountId: number) {
  const { app, run, runId } = session;
  const { database, settings, emit } = app;
  const { maxPerRun } = settings.sweep.details;
  if (maxPerRun === 0) return null;
  const begun = await listRecordsToAsk(database, { accountId, runId: run.runId, most: maxPerRun });
  let budget = begun.left;
  const due = begun.due.values();
  const named: DossierRecordId[] = [];
  let done = 0;
  let outOfReach = 0;
  let because: DetailStop | null = null;
  emit({ kind: 'stage_started', runId, stage: 'details' });
  const stops = openDetailStops(session, client);
  // The records that a dossier names come before the next dossier. After its end it may continue: a dossier in flight can name more.
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
  const { asked, kept, missing } = await countRecords(database, accountId, run.runId);
  const counts = { asked: asked + outOfReach, kept, notAvailable: asked - kept + outOfReach, missing };
  const stoppedBecause = missing > 0 ? (because ?? 'limit') : null;
  emit({ kind: 'stage_finished', runId, stage: 'details', counts });
  if (stoppedBecause !== null && stoppedBecause !== 'limit') {
    const left = `${countNoun(missing, 'record')} of dossiers not looked up`;
    const message = `${left}: ${codeWords.stop[stoppedBecause]}; the sweep itself is not affected, and the next one continues with them`;
    emit({ kind: 'warning', runId, code: 'details_left', message });
  }
  return { ...counts, stoppedBecause };
}

const call = ({ dossiers }: Client, { kind, id }: DossierRecordId, options: CallOptions) =>
  kind === 'dossier' ? dossiers.retrieve(id, options) : dossiers[kind](id, options);

// Ids have capitals or digits; `entity_type` and `decision_status` are words.
const namedForm = /^(entity|decision)_(?=[A-Za-z]*[A-Z0-9])[A-Za-z0-9]{6,200}$/;
const isNamed = (text: string): boolean => namedForm.test(text);

/** Saves the outcome of a look-up; gives the records that it names. */
async function saveOutcome(
  { write }: RunSession,
  asked: Parameters<typeof saveDossierRecord>[1],
  outcome: RecordOutcome,
): Promise<readonly DossierRecordId[]> {
  const { dossierId, kind } = asked;
  if (outcome.kind === 'not_available') {
    await write((transaction) => saveDossierRecord(transaction, asked, { reason: outcome.reason }));
    return [];
  }
  const { body, withheldLinks, namedIds } = outcome.record;
  const applicant =
    kind === 'entity' ? readApplicant(JSON.parse(body)) : { name: null, birthDate: null, country: null };
  const toNamed = (id: string): DossierRecordId => ({
    dossierId,
    kind: id.startsWith('entity_') ? 'entity' : 'decision',
    id,
  });
  const named = kind === 'dossier' ? namedIds.map(toNamed) : [];
  await write((transaction) => saveDossierRecord(transaction, asked, { body, withheldLinks, applicant, named }));
  return named;
}

/**
 * Reads the identity of an applicant. The interface does not name the fields of the record, so each is read under its usual names, from the
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

/** A text without null characters, which the database cannot store. */
const readText = (value: unknown): string | null =>
  typeof value === 'string' ? value.replaceAll('\u0000', '').trim() || null : null;
