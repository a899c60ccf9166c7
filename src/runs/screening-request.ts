import { RosterError, RosterHeldError, RunLockedError } from '../errors.js';
import type { PublishedList } from '../lists/published-list.js';
import { readParties, readRoster } from '../roster/read-roster.js';
import type { RosterSettings } from '../roster/settings.js';
import { type Account, readAccountName } from '../store/organisations.js';
import { hasBegun } from '../store/plan.js';
import { type RosterHold, readImportOrigin, readRosterHold } from '../store/roster-imports.js';
import { type RunRow, readLastActivity, readRunKeys, toRunId } from '../store/runs.js';
import type { PlanSelection, RunKind, RunMode, ScreeningKind } from '../vocabulary.js';
import { type KnownAccount, noteAccount, toAssumedMode } from './account.js';
import type { AppContext } from './app-context.js';
import { findOtherList, forceListed } from './checks/because-of.js';
import { RunHalted } from './halt.js';
import { findGivenFile, joinDigests, type RosterScope } from './roster-scope.js';
import type { OutageWatch } from './screening/outages.js';
import { forceMarked, planScreenings } from './screening/plan.js';
import type { Comparison, RunRequest, RunSession } from './session.js';
import { type Acceptance, nameChangedSettings, toStoredSettings } from './settings-diff.js';

/** What kind of screening run, of which customers. */
export interface ScreeningOptions {
  kind: ScreeningKind;
  roster: RosterSettings;
  selection: PlanSelection;
  importFirst: boolean;
  writeReport: boolean;
  maxSearches?: number | undefined;
  /** A published list: whomever it may mean is asked about now. */
  becauseOf?: PublishedList | undefined;
  /** Goes on with the run of this number or with none. */
  resumeOnly?: number | undefined;
  /** Takes the roster although guards would hold it. */
  acceptRoster?: Acceptance | undefined;
}

/** A roster that is configured is looked at again when its run is resumed; one whose file is not known any more cannot be. */
const isResumedFrom = ({ resumeOnly, roster }: ScreeningOptions): boolean =>
  resumeOnly !== undefined && roster.csv?.path !== '';

/** What is to be run: the kind, and when an open run may be resumed in its place. */
export function toRequest(
  app: AppContext,
  options: ScreeningOptions,
  scope: RosterScope,
  known: KnownAccount,
): RunRequest {
  const { kind, selection, resumeOnly } = options;
  const intention = {
    kind,
    selection,
    mode: known.mode,
    account: known.account instanceof RunHalted ? null : known.account,
    keyFingerprint: app.client().keyFingerprint,
    roster: options.importFirst || isResumedFrom(options) ? options.roster : null,
    isNamed: resumeOnly !== undefined,
    acceptRoster: options.acceptRoster,
  };
  const { organisation, rosterId, roster } = scope;
  const findOurs = async (open: RunSession['run']) => {
    if (selection === 'dirty' && open.selection !== 'dirty') {
      throw new RunLockedError(
        `${toRunId(open)} was broken off and goes first: nightscreen runs resume ${toRunId(open)}`,
        open.owner,
      );
    }
    const otherList = await findOtherList(app, open, options.becauseOf);
    return otherList === null ? findBlocker(app, open, intention) : { blocker: otherList, differences: [] };
  };
  // Whoever resumes a run by its number has given no file: the run's own holds.
  const rosterFile =
    resumeOnly === undefined && options.importFirst ? findGivenFile(app.settings.rosters, options.roster) : undefined;
  const mode = known.mode ?? toAssumedMode(app);
  return { organisation, rosterId, roster, kind, selection, mode, rosterFile, resumeOnly, findBlocker: findOurs };
}

/** What the stages need beside the session. */
export interface ScreeningPart extends ScreeningOptions {
  known: KnownAccount;
  rosterId: number;
  outage: OutageWatch;
}

/** Makes the plan, or keeps the one that an earlier start has made for this account. */
export async function planOrResume(session: RunSession, accountId: number | null, part: ScreeningPart): Promise<void> {
  const { run } = session;
  const { rosterId, selection } = part;
  await session.write((transaction) => noteAccount(transaction, session, accountId));
  // A plan made for another account, or for none, says nothing about who is due under this one.
  const isPlanned = (run.stage === 'planned' || run.stage === 'screened') && run.accountId === accountId;
  if (isPlanned) return;
  if (selection === 'dirty') await forceMarked(session, { rosterId, accountId });
  else await forceListed(session, part.becauseOf, { rosterId, accountId });
  await planScreenings(session, { rosterId, accountId, selection });
}

const resumableForMs = 12 * 60 * 60 * 1_000;

/** What somebody wants to run now. */
interface Intention {
  kind: RunKind;
  selection: PlanSelection;
  /** Null where nothing says it while the service cannot be asked. */
  mode: RunMode | null;
  /** Null while the service cannot be asked. */
  account: Account | null;
  keyFingerprint: string;
  /** The roster to be read first, or null when it is not. */
  roster: RosterSettings | null;
  /** Somebody named the run to go on with: neither its age nor the roster of today matters. */
  isNamed: boolean;
  /** Whoever lets a run that somebody named go on with the roster as it was imported although it has been edited since. */
  acceptRoster: Acceptance | undefined;
}

/**
 * Compares an open run with what is wanted now and names what differs, with old and new value. Throws RosterError when the roster cannot
 * be read, and RosterHeldError when the roster of a run that somebody named was edited since and they have not accepted that.
 */
async function findBlocker(app: AppContext, open: RunRow, intention: Intention): Promise<Comparison> {
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
    const message = `${rosterChange.words}; once that is accepted, ${toRunId(open)} goes on with the roster as it was imported`;
    const override = `nightscreen runs resume ${toRunId(open)} --accept-roster --by NAME --reason TEXT`;
    throw new RosterHeldError(
      `roster ${intention.roster?.name ?? ''}`,
      [{ guard: 'edited', message, look: 'check whether the file was meant to be changed while the run was stopped' }],
      override,
    );
  }
  const differences = [
    ...changed.map(({ words }) => words),
    ...(await findOtherKey(app, open, intention)),
    ...(rosterChange === null ? [] : [`${rosterChange.words}; it goes on with the roster as it was imported`]),
  ];
  const overridden =
    rosterChange?.isEdited && intention.acceptRoster
      ? { acceptance: intention.acceptRoster, heldBy: [{ guard: 'edited', message: rosterChange.words }] }
      : undefined;
  return { blocker: null, differences, overridden };
}

function findOtherRequest(open: RunRow, { kind, selection, mode }: Intention): string | null {
  if (open.kind !== kind) return `it was a run of kind ${open.kind}, and a run of kind ${kind} is wanted`;
  if (open.selection !== selection) return `it asked about ${open.selection} customers, and ${selection} are wanted`;
  return mode === null || open.mode === mode ? null : `it ran with a ${open.mode} key, and this key is a ${mode} one`;
}

function findOtherSettings(
  { settingsDigest }: AppContext,
  open: RunRow,
  changed: ReturnType<typeof nameChangedSettings>,
): string | null {
  if (open.settingsDigest === settingsDigest) return null;
  const named = changed.filter(({ isShaping }) => isShaping).map(({ words }) => words);
  return `the settings have changed since${named.length === 0 ? '' : `: ${named.join(', ')}`}`;
}

async function findOtherAccount(
  { database }: AppContext,
  open: RunRow,
  { account }: Intention,
): Promise<string | null> {
  if (!account || account.accountId === open.accountId || !(await hasBegun(database, open.runId))) return null;
  const before = open.accountId === null ? 'none' : await readAccountName(database, open.accountId);
  return `it ran under another account: ${before}, and this key is of ${await readAccountName(database, account.accountId)}`;
}

async function findAge({ database, clock }: AppContext, open: RunRow, { isNamed }: Intention): Promise<string | null> {
  if (isNamed) return null;
  const last = await readLastActivity(database, open);
  const isOld = clock.now().getTime() - last.getTime() > resumableForMs;
  return isOld ? `nothing has been saved by it for twelve hours, since ${last.toISOString()}` : null;
}

/**
 * A run whose roster guards held has imported nothing: another roster, or an acceptance of the held one, needs a new run. Throws RosterError where
 * somebody named the run and accepts the roster with it.
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
      `the roster of ${toRunId(open)} was held, so it goes on with the last accepted roster; a new run takes the held one: ${hold.command}`,
    );
  }
  if (isNamed) return null;
  if (acceptRoster) return 'its roster was held, and is accepted now';
  return (await isOtherThanHeld(app, hold, roster)) ? 'its roster was held, and is another now' : null;
}

/** A run that somebody named goes on also when its roster cannot be read any more. */
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
    if (isNamed && error instanceof RosterError) {
      return { words: `the roster cannot be read now (${error.message})`, isEdited: false };
    }
    throw error;
  }
}

/** Another key of the same account hinders nothing. */
async function findOtherKey(
  { database }: AppContext,
  open: RunRow,
  { keyFingerprint }: Intention,
): Promise<readonly string[]> {
  const last = (await readRunKeys(database, open.runId)).at(-1);
  if (last === undefined || last === keyFingerprint) return [];
  return [`the key had the fingerprint ${last} and has ${keyFingerprint}`];
}

/**
 * Reads a roster and says, with both figures, how it differs from what a run imported; null when it is the same to the byte, and for a run
 * that imported nothing. Throws RosterError when it cannot be read.
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
  const from = source === now.source ? '' : `read from ${source} then and from ${now.source} now, `;
  return `the roster has changed since: ${from}rows ${imported.rows} then and ${now.rows} now, rejected ${imported.rejected} then and ${now.rejected} now, digest ${shorten(imported.digest)} then and ${shorten(now.digest)} now`;
}

/** Whether a roster is another, or reads otherwise, than the one that guards held in a run. Throws RosterError when it cannot be read. */
async function isOtherThanHeld({ secret }: AppContext, hold: RosterHold, roster: RosterSettings): Promise<boolean> {
  const { source, digest } = await readFigures(roster, secret);
  return source !== hold.source || digest !== hold.sourceDigest;
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
  for (const settings of roster.parties ?? []) {
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
