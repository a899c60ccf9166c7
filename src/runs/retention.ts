import { ConfigError, RunLockedError, readMessage, usageError } from '../errors.js';
import { verifyEvidence } from '../evidence/verify.js';
import { readManifest } from '../evidence/verify-pack.js';
import { toRetentionYears } from '../roster/duration.js';
import type { RosterSettings } from '../roster/settings.js';
import type { FoundCustomer } from '../store/evidence/show.js';
import {
  type DueCustomer,
  type OldRun,
  readDueCustomers,
  readOldRuns,
  releaseHold,
  removeHistory,
  saveHold,
} from '../store/operations/retention.js';
import type { AppContext } from './app-context.js';
import { type ErasureResult, eraseCustomers, listBlockers } from './erasure.js';
import type { Reviewer } from './review/people.js';
import { openOrganisation } from './session.js';

/** Puts a customer under legal hold, which forbids the erasure. Throws ConfigError where one is in force. */
export async function holdCustomer(
  { database, clock }: AppContext,
  { customerId, reference }: FoundCustomer,
  said: { reviewer: Reviewer; reason: string },
): Promise<void> {
  if (await saveHold(database, customerId, { ...said, now: clock.now() })) return;
  const message = `${reference} is under legal hold already (release it first to change its reason), or is erased`;
  throw usageError('argument customer', message);
}

/** Releases the legal hold of a customer. Throws ConfigError without one. */
export async function releaseCustomer(
  { database, clock }: AppContext,
  { customerId, reference }: FoundCustomer,
  said: { reviewer: Reviewer; reason: string },
): Promise<void> {
  if (await releaseHold(database, customerId, { ...said, now: clock.now() })) return;
  throw usageError('argument customer', `${reference} is not under legal hold`);
}

/** What became of a roster: customers who left long enough ago, who of them were erased, and why others were not. */
export interface RosterRetention {
  roster: string;
  years: number;
  due: number;
  /** Those under legal hold. */
  held: readonly string[];
  erased: readonly ErasureResult[];
  withheld: readonly { references: readonly string[]; because: string }[];
}

/** What became of the nights that are older than `database.keepRuns`. */
export interface NightRetention {
  runs: readonly string[];
  rows: number;
  kept: readonly { run: string; because: string }[];
}

/**
 * Erases the customers who left so many years ago as `retention` of their roster says, and removes the nights from the database that are older
 * than `database.keepRuns` and whose packs verify. A preview changes nothing. What is refused is in the result, and is tried again the next time.
 */
export async function applyRetention(
  app: AppContext,
  isPreview: boolean,
  signal: AbortSignal,
): Promise<{ rosters: readonly RosterRetention[]; nights: NightRetention }> {
  const rosters: RosterRetention[] = [];
  for (const roster of app.settings.rosters) {
    const years = toRetentionYears(roster.retention);
    if (years !== null) rosters.push(await eraseDue(app, roster, years, isPreview, signal));
  }
  return { rosters, nights: await removeOldNights(app, isPreview) };
}

/** So many are found, searched for in files and erased at once. */
const batchSize = 200;

async function eraseDue(
  app: AppContext,
  { name: roster }: RosterSettings,
  years: number,
  isPreview: boolean,
  signal: AbortSignal,
): Promise<RosterRetention> {
  const leftBefore = app.clock.now();
  leftBefore.setUTCFullYear(leftBefore.getUTCFullYear() - years);
  const due = await readDueCustomers(app.database, app.settings.organisation, roster, leftBefore);
  const free: DueCustomer[] = [];
  const withheld: { references: readonly string[]; because: string }[] = [];
  const held = due.filter(({ isHeld }) => isHeld).map(({ reference }) => reference);
  for (const customer of due.filter(({ isHeld }) => !isHeld)) {
    const blockers = await listBlockers(app.database, customer.customerId);
    if (blockers.length === 0) free.push(customer);
    else withheld.push({ references: [customer.reference], because: blockers.join('; ') });
  }
  const erased: ErasureResult[] = [];
  const reviewer = { name: 'retention', isAttested: true };
  const reason = `retention of ${years} years after the customer left`;
  for (let at = 0; at < free.length && !signal.aborted; at += batchSize) {
    const batch = free.slice(at, at + batchSize);
    try {
      erased.push(await eraseCustomers(app, batch, { reason, reviewer, isPreview }, signal));
    } catch (error) {
      if (!(error instanceof ConfigError || error instanceof RunLockedError)) throw error;
      withheld.push({ references: batch.map(({ reference }) => reference), because: readMessage(error) });
    }
  }
  return { roster, years, due: due.length, held, erased, withheld };
}

async function removeOldNights(app: AppContext, isPreview: boolean): Promise<NightRetention> {
  const { database, clock, keepRunsMs } = app;
  if (keepRunsMs === undefined) return { runs: [], rows: 0, kept: [] };
  const before = new Date(clock.now().getTime() - keepRunsMs);
  const { organisationId } = await openOrganisation(app);
  const old = await readOldRuns(database, organisationId, before);
  const findReason = old.length === 0 ? null : await checkPacks(app);
  const kept: { run: string; because: string }[] = [];
  const runs: string[] = [];
  let rows = 0;
  for (const run of old) {
    const because = (await findReason?.(run)) ?? null;
    if (because !== null) kept.push({ run: run.name, because });
    else {
      runs.push(run.name);
      if (isPreview) continue;
      rows += await database.transaction((transaction) => removeHistory(transaction, run.runId, clock.now()));
    }
  }
  return { runs, rows, kept };
}

/** Verifies all packs once. Gives what says why the history of a run stays: its packs do not prove it. */
async function checkPacks({ settings }: AppContext): Promise<(run: OldRun) => Promise<string | null>> {
  const { dir } = settings.evidence;
  if (dir === null) return async () => 'it has no pack: evidence is off';
  const { problems } = await verifyEvidence(dir);
  const ofFolder = problems.find(({ pack }) => pack === null);
  return async ({ runId, packs, isHeld }) => {
    if (isHeld) return 'it is held, and may still be accepted';
    if (packs.length === 0) return 'it has no pack';
    const problem = ofFolder ?? problems.find(({ pack }) => pack?.startsWith(`${runId}/`));
    if (problem !== undefined) return `evidence verify: ${problem.what}`;
    for (const { number, sha256 } of packs) {
      if (sha256 === null) return `pack ${number} waits to be written`;
      const found = await readManifest(dir, `${runId}/${number}`).catch(() => null);
      if (found?.sha256 !== sha256) return `pack ${number} is missing, or is another one`;
    }
    return null;
  };
}
