import type { Client } from '../client/client.js';
import { RosterError, RosterHeldError, RunLockedError } from '../errors.js';
import type { PublishedList } from '../lists/published-list.js';
import { readParties, readRoster } from '../roster/read-roster.js';
import { listPartySources, type RosterSettings } from '../roster/settings.js';
import { forceMarkedCustomers, listMarkedCustomers } from '../store/dossiers/event-marks.js';
import { hasBegun, removePlan } from '../store/night/plan.js';
import { type Account, findLastAccount, readAccountName } from '../store/organisations.js';
import { type RosterHold, readImportOrigin, readRosterHold } from '../store/roster/imports.js';
import { type RunRow, readLastActivity, toRunId } from '../store/runs.js';
import type { PlanSelection, RunMode, ScreeningKind } from '../vocabulary.js';
import { findSaidMode, identifyAccount, noteAccount, requireBudget, toAssumedMode } from './account.js';
import type { AppContext } from './app-context.js';
import { findOtherList, forceListed } from './checks/because-of.js';
import { OtherAccount, RunHalted, requireHalt } from './halt.js';
import { findGivenFile, joinDigests, type RosterScope } from './roster-scope.js';
import { type OutageWatch, retryUntilDeadline, type WaitPolicy } from './screening/outages.js';
import { planScreenings, toMarkedScope, warnOfLongRest } from './screening/plan.js';
import type { ResumeVerdict, RunRequest, RunSession } from './session.js';
import { type Acceptance, nameChangedSettings, toStoredSettings } from './settings-diff.js';

export interface ScreeningOptions {
  kind: ScreeningKind;
  roster: RosterSettings;
  selection: PlanSelection;
  importFirst: boolean;
  writeReport: boolean;
  maxSearches?: number | undefined;
  /** A published list: the customers that it may concern are searched now. */
  becauseOf?: PublishedList | undefined;
  /** Resumes only the run of this number. */
  resumeOnly?: number | undefined;
  /** Accepts the roster although guards would hold it. */
  acceptRoster?: Acceptance | undefined;
}

/** The request of a run, with the rule when an open run is resumed instead. */
export function toRequest(
  app: AppContext,
  options: ScreeningOptions,
  scope: RosterScope,
  known: KnownAccount,
): RunRequest {
  const { kind, selection, resumeOnly } = options;
  const intention = toIntention(options, known);
  const { organisation, rosterId, roster } = scope;
  const findOurs = async (open: RunSession['run']) => {
    if (selection === 'dirty' && open.selection !== 'dirty') {
      throw new RunLockedError(
        `${toRunId(open)} was interrupted and must end first: nightscreen runs resume ${toRunId(open)}`,
        open.owner,
      );
    }
    const otherList = await findOtherList(app, open, options.becauseOf);
    return otherList === null ? findBlocker(app, open, intention) : { blocker: otherList, differences: [] };
  };
  // A resume by number names no file: the file of the run applies.
  const rosterFile =
    resumeOnly === undefined && options.importFirst ? findGivenFile(app.settings.rosters, options.roster) : undefined;
  const mode = known.mode ?? toAssumedMode(app);
  return { organisation, rosterId, roster, kind, selection, mode, rosterFile, resumeOnly, findBlocker: findOurs };
}

export interface ScreeningPart extends ScreeningOptions {
  known: KnownAccount;
  rosterId: number;
  outage: OutageWatch;
}

interface KnownAccount {
  /** By the service, else by the settings or the key; null when unknown. */
  mode: RunMode | null;
  /** The account, or why it is unknown. */
  account: Account | RunHalted;
  /** The account whose screenings count in the plan; while it is unknown, the one last used in this mode. */
  plannedFor: Account | null;
}

/** Reads the account of the key unless `found` is given. While the service is out of reach the run starts with what is known. */
export async function findKnownAccount(
  app: AppContext,
  scope: RosterScope,
  client: Client,
  { outage, signal }: Pick<WaitPolicy, 'outage' | 'signal'>,
  found: Account | null,
): Promise<KnownAccount> {
  if (found) return toKnownAccount(found);
  const either = AbortSignal.any([signal, outage.signal]);
  const account = await identifyAccount(app, scope.organisation, client, either).catch(requireHalt);
  if (!(account instanceof RunHalted)) {
    requireBudget(app, account.isTest ? 'test' : 'live');
    return toKnownAccount(account);
  }
  const mode = findSaidMode(app);
  return { mode, account, plannedFor: await findLastAccount(app.database, scope.rosterId, mode ?? undefined) };
}

const toKnownAccount = (account: Account): KnownAccount => ({
  mode: account.isTest ? 'test' : 'live',
  account,
  plannedFor: account,
});

/**
 * Returns the account, after a wait for the service if necessary; it can differ from the planned one. Throws OtherAccount when the run has
 * already done work, RunHalted when the account is refused.
 */
export async function awaitAccount(
  session: RunSession,
  client: Client,
  { known, plannedFor, isBegun }: { known: KnownAccount; plannedFor: number | null; isBegun: boolean },
  waitPolicy: WaitPolicy,
): Promise<Account> {
  const { account } = known;
  if (!(account instanceof RunHalted)) return account;
  if (account.code !== 'outage') throw account;
  const { value: found } = await retryUntilDeadline(waitPolicy, (signal) =>
    identifyAccount(session.app, session.organisation, client, signal),
  );
  requireBudget(session.app, found.isTest ? 'test' : 'live');
  if (found.accountId !== plannedFor && isBegun) throw new OtherAccount(found);
  return found;
}

/** Stores the plan, or keeps the plan that an earlier start made for this account. */
export async function planOrResume(session: RunSession, accountId: number | null, part: ScreeningPart): Promise<void> {
  const { run } = session;
  const { rosterId, selection } = part;
  // Who is due depends on the account, so a plan for another account is replaced.
  const isPlanned = (run.stage === 'planned' || run.stage === 'screened') && run.accountId === accountId;
  await session.write(async (transaction) => {
    await noteAccount(transaction, session, accountId);
    // At once: after a kill in between, the next start would keep the plan that was made for the other account.
    if (!isPlanned) await removePlan(transaction, run.runId);
  });
  if (isPlanned) return warnOfLongRest(session);
  if (selection === 'dirty') await forceMarked(session, { rosterId, accountId });
  else await forceListed(session, part.becauseOf, { rosterId, accountId });
  await planScreenings(session, { rosterId, accountId, selection });
}

/** Adds the marked customers of a roster to this run, which plans no others. */
async function forceMarked(
  { app, run, write }: RunSession,
  { rosterId, accountId }: { rosterId: number; accountId: number | null },
): Promise<void> {
  if (accountId === null) return;
  const scope = toMarkedScope(app, rosterId, accountId);
  await write(async (transaction) => {
    const customerIds = await listMarkedCustomers(transaction, scope);
    await forceMarkedCustomers(transaction, { runId: run.runId, accountId }, customerIds, scope.now);
  });
}

const resumableForMs = 12 * 60 * 60 * 1_000;

type Intention = ReturnType<typeof toIntention>;

/** What an open run is compared with. While the service is out of reach, the account is null and the mode may be. */
function toIntention(options: ScreeningOptions, { mode, account }: KnownAccount) {
  const { roster, importFirst, resumeOnly } = options;
  /** A person named the run to resume: its age and the roster of today do not block it. */
  const isNamed = resumeOnly !== undefined;
  // A named run reads its roster again, if that has a file to read.
  const isRead = importFirst || (isNamed && roster.csv?.path !== '');
  return {
    ...options,
    mode,
    account: account instanceof RunHalted ? null : account,
    isNamed,
    roster: isRead ? roster : null,
  };
}

/**
 * Compares an open run with the requested one and describes the differences with both values. Throws RosterError when the roster cannot be
 * read, RosterHeldError when the roster of a named run was edited since and that is not accepted.
 */
async function findBlocker(app: AppContext, open: RunRow, intention: Intention): Promise<ResumeVerdict> {
  const changed = open.settings ? nameChangedSettings(open.settings, toStoredSettings(app.settings)) : [];
  const blocker =
    findOtherRequest(open, intention) ??
    findOtherSettings(app, open, changed) ??
    (await findOtherAccount(app, open, intention)) ??
    (await findAge(app, open, intention)) ??
    (await findMendedRoster(app, open, intention));
  if (blocker !== null) return { blocker, differences: [] };
  const rosterChange = open.stage === 'started' ? null : await findOtherRoster(app, open, intention);
  if (rosterChange !== null && !intention.isNamed) return { blocker: rosterChange.words, differences: [] };
  if (rosterChange?.isEdited && !intention.acceptRoster) {
    const message = `${rosterChange.words}; once this is accepted, ${toRunId(open)} continues with the imported roster`;
    const override = `nightscreen runs resume ${toRunId(open)} --accept-roster --by NAME --reason TEXT`;
    throw new RosterHeldError(
      `roster ${intention.roster?.name ?? ''}`,
      [{ guard: 'edited', message, look: 'check whether the file was meant to be changed while the run was stopped' }],
      override,
    );
  }
  const differences = [
    ...changed.map(({ words }) => words),
    ...findOtherKey(app, open),
    ...(rosterChange === null ? [] : [`${rosterChange.words}; the run continues with the imported roster`]),
  ];
  const overridden =
    rosterChange?.isEdited && intention.acceptRoster
      ? { acceptance: intention.acceptRoster, heldBy: [{ guard: 'edited', message: rosterChange.words }] }
      : undefined;
  return { blocker: null, differences, overridden };
}

function findOtherRequest(open: RunRow, { kind, selection, mode }: Intention): string | null {
  if (open.kind !== kind) return `it is a run of kind ${open.kind}, and the command starts a run of kind ${kind}`;
  if (open.selection !== selection)
    return `it screens ${open.selection} customers, and the command screens ${selection}`;
  return mode === null || open.mode === mode ? null : `it used a ${open.mode} key, and this is a ${mode} key`;
}

function findOtherSettings(
  { settingsDigest }: AppContext,
  open: RunRow,
  changed: ReturnType<typeof nameChangedSettings>,
): string | null {
  if (open.settingsDigest === settingsDigest) return null;
  const named = changed.filter(({ isShaping }) => isShaping).map(({ words }) => words);
  return `the settings have changed${named.length === 0 ? '' : `: ${named.join(', ')}`}`;
}

async function findOtherAccount(
  { database }: AppContext,
  open: RunRow,
  { account, isNamed }: Intention,
): Promise<string | null> {
  if (!account || account.accountId === open.accountId || !(await hasBegun(database, open.runId))) return null;
  const before = open.accountId === null ? 'no account' : await readAccountName(database, open.accountId);
  const differ = `it used ${before}, and this key belongs to ${await readAccountName(database, account.accountId)}`;
  return isNamed
    ? `${differ}. A key of the first account continues it; for this account all customers are new`
    : differ;
}

async function findAge({ database, clock }: AppContext, open: RunRow, { isNamed }: Intention): Promise<string | null> {
  if (isNamed) return null;
  const last = await readLastActivity(database, open);
  const isOld = clock.now().getTime() - last.getTime() > resumableForMs;
  return isOld ? `it has saved nothing for twelve hours, since ${last.toISOString()}` : null;
}

/**
 * A run with a held roster imported nothing: another roster, or its acceptance, needs a new run. Throws RosterError when the run is named
 * and its roster accepted.
 */
async function findMendedRoster(
  app: AppContext,
  open: RunRow,
  { roster, isNamed, acceptRoster }: Intention,
): Promise<string | null> {
  const hold = roster === null || open.stage === 'started' ? null : await readRosterHold(app.database, open.runId);
  if (hold === null || roster === null) return null;
  if (isNamed && acceptRoster) {
    throw new RosterError(
      'roster_was_held',
      `the roster of ${toRunId(open)} was held, so the run continues with the last accepted roster; accept the held one for a new run: ${hold.command}`,
    );
  }
  if (isNamed) return null;
  if (acceptRoster) return 'its roster was held and is now accepted';
  return (await isOtherThanHeld(app, hold, roster)) ? 'its roster was held and has changed' : null;
}

/** A roster that cannot be read: a named run continues, and else a new run screens the last accepted one. A given file may be mistyped. */
async function findOtherRoster(
  app: AppContext,
  open: RunRow,
  { roster, isNamed }: Intention,
): Promise<{ words: string; isEdited: boolean } | null> {
  if (roster === null) return null;
  try {
    const words = await describeRosterChange(app, open.runId, roster);
    return words === null ? null : { words, isEdited: true };
  } catch (error) {
    if (error instanceof RosterError && (isNamed || findGivenFile(app.settings.rosters, roster) === null)) {
      return { words: `the roster cannot be read (${error.message})`, isEdited: false };
    }
    throw error;
  }
}

/** Another key of the same account does not block a resume. */
function findOtherKey({ client }: AppContext, open: RunRow): readonly string[] {
  const { keyFingerprint } = client();
  const last = open.keys.at(-1);
  if (last === undefined || last === keyFingerprint) return [];
  return [`the key fingerprint was ${last} and is ${keyFingerprint}`];
}

/**
 * Reads a roster and describes with both figures how it differs from the import of a run; null when it is identical, or the run imported
 * nothing. Throws RosterError when it cannot be read.
 */
async function describeRosterChange(
  { database, secret }: AppContext,
  runId: number,
  roster: RosterSettings,
): Promise<string | null> {
  const imported = await readImportOrigin(database, runId);
  if (imported === null) return null;
  const now = await readFigures(roster, secret);
  const { source } = imported;
  if (source === now.source && imported.digest === now.digest) return null;
  const from = source === now.source ? '' : `source ${source} then and ${now.source} now, `;
  return `the roster has changed: ${from}rows ${imported.rows} then and ${now.rows} now, rejected ${imported.rejected} then and ${now.rejected} now, digest ${shorten(imported.digest)} then and ${shorten(now.digest)} now`;
}

/** Whether a roster differs from the one that a run held; one that cannot be read does not. */
async function isOtherThanHeld({ secret }: AppContext, hold: RosterHold, roster: RosterSettings): Promise<boolean> {
  try {
    const { source, digest } = await readFigures(roster, secret);
    return source !== hold.source || digest !== hold.sourceDigest;
  } catch (error) {
    if (error instanceof RosterError) return false;
    throw error;
  }
}

async function readFigures(roster: RosterSettings, secret: AppContext['secret']) {
  const reading = await readRoster(roster, secret);
  try {
    const now = { rows: 0, rejected: 0 };
    for await (const rows of reading.rows) {
      now.rows += rows.length;
      now.rejected += rows.filter((row) => row.kind === 'rejected').length;
    }
    const digest = joinDigests([reading.digest(), ...(await digestParties(roster, secret))]);
    return { ...now, source: reading.source, digest };
  } finally {
    await reading.close();
  }
}

const shorten = (digest: string): string => digest.slice(0, 12);

async function digestParties(roster: RosterSettings, secret: AppContext['secret']): Promise<readonly string[]> {
  const digests: string[] = [];
  for (const settings of listPartySources(roster)) {
    const reading = await readParties(settings, secret);
    try {
      for await (const _ of reading.rows);
      digests.push(reading.digest());
    } finally {
      await reading.close();
    }
  }
  return digests;
}
