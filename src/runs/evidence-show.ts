import { flagError, usageError } from '../errors.js';
import { toPackFolder } from '../evidence/write-pack.js';
import { findFirstInstant, toNextDay } from '../local-time.js';
import { type Queryable, readAtOnce } from '../store/database/database.js';
import {
  type FoundCustomer,
  findCustomers,
  findRecordAt,
  findRunInScope,
  findRunOfParty,
  findStateAt,
  findUnaccepted,
  hadAnswers,
  type Moment,
  readAlertsAt,
  readShownParties,
  readShownRun,
  type ShownParty,
  type ShownRun,
} from '../store/evidence/show.js';
import { digestReference, findErasure } from '../store/operations/erasure.js';
import { readOrganisation } from '../store/organisations.js';
import type { AppContext } from './app-context.js';
import { findPackedRun } from './packed-history.js';

/** What the database proves about a customer at a moment. */
export type CustomerEvidence = Awaited<ReturnType<typeof showEvidence>>;
/** A run of this evidence. */
export type EvidenceRun = CustomerEvidence['runs'][number];

/** The end of a day in a time zone, or an ISO instant as it is. */
export function toMoment(given: { day: string } | Date, timezone: string): Date {
  if (given instanceof Date) return given;
  const end = findFirstInstant({ date: toNextDay(given.day), time: '00:00:00' }, timezone);
  // A zone that moved across the date line skipped the next day.
  return new Date((end ?? new Date(`${toNextDay(given.day)}T00:00:00Z`)).getTime() - 1);
}

/**
 * Gives the newest run that had a customer in scope at a moment (now, unless said otherwise), with the calls, answers, dispositions, reports, mails
 * and packs that prove what became of the customer. Where that run skipped a party, the run that last searched for it follows. Throws ConfigError
 * for an unknown customer, and for one of several rosters.
 */
export function showEvidence(
  app: AppContext,
  { reference, at = null, roster = null }: { reference: string; at?: Date | null; roster?: string | null },
) {
  const { database, settings, clock } = app;
  const now = clock.now();
  return readAtOnce(database, async (snapshot) => {
    const erasure = await findErasureOf(app, snapshot, reference, roster);
    const customer = erasure ?? (await findCustomer(app, snapshot, reference, roster));
    const isNow = at === null || at >= now;
    const moment: Moment = { ...customer, at: isNow ? now : at, isNow };
    const evidence = {
      organisation: settings.organisation,
      roster: customer.roster,
      reference,
      erasure: erasure === null ? null : pickErasure(erasure),
      at: moment.at,
      record: await findRecordAt(snapshot, moment),
    };
    const newest = await findNewest(app, snapshot, moment);
    if (newest === null) {
      const because = (await hadAnswers(snapshot, customer.customerId, moment.at)) ? 'history_gone' : 'not_in_scope';
      return { ...evidence, verdict: 'no_run' as const, because, state: null, runs: [], alerts: [] };
    }
    const { run, parties } = newest;
    const earlier = await readEarlier(app, snapshot, moment, run, parties);
    return {
      ...evidence,
      ...judge(run, parties, earlier),
      state: await findStateAt(snapshot, moment, run.mode),
      runs: [{ run, parties }, ...earlier].map((shown) => toRun(shown, settings.evidence.dir)),
      alerts: await readAlertsAt(snapshot, moment, run.accountId),
    };
  });
}

const pickErasure = ({ erasedAt, erasedBy, reason }: { erasedAt: Date; erasedBy: string; reason: string }) => ({
  erasedAt,
  erasedBy,
  reason,
});

/** The erasure of a customer whose reference nobody has now; null for all others. */
async function findErasureOf({ settings }: AppContext, snapshot: Queryable, reference: string, roster: string | null) {
  const found = await findCustomers(snapshot, settings.organisation, reference, roster);
  if (found.length > 0) return null;
  const { organisationId, digestKey } = await readOrganisation(snapshot, settings.organisation);
  const digest = digestReference(digestKey, reference);
  const erasure = await findErasure(snapshot, organisationId, digest, roster);
  return erasure === null ? null : { ...erasure, reference };
}

/** The customer of a reference. Throws ConfigError for an unknown one, and for one of several rosters. */
export async function findCustomer(
  { settings }: AppContext,
  snapshot: Queryable,
  reference: string,
  roster: string | null,
): Promise<FoundCustomer> {
  const [customer, ...others] = await findCustomers(snapshot, settings.organisation, reference, roster);
  if (customer !== undefined && others.length === 0) return customer;
  if (customer !== undefined) {
    const names = [customer, ...others].map((one) => one.roster).join(', ');
    throw flagError('--roster', `several rosters have a customer ${reference}; name one of them: ${names}`);
  }
  const [unaccepted] = await findUnaccepted(snapshot, settings.organisation, reference);
  if (unaccepted !== undefined) {
    const since = unaccepted.since.toISOString();
    const message = `${reference} has no accepted record in roster ${unaccepted.roster} since ${since}, so no run could search for this customer; \`nightscreen coverage\` counts such customers`;
    throw usageError('argument customer', message);
  }
  const where = roster === null ? 'no roster' : `roster ${roster} never`;
  throw usageError(
    'argument customer',
    `${where} had a customer ${reference}; \`nightscreen status\` lists the customers`,
  );
}

interface SearchedRun {
  run: ShownRun;
  parties: readonly ShownParty[];
}

/** The newest run that had the customer in scope; its plan and calls may be in its pack only. Null without one. */
async function findNewest(app: AppContext, snapshot: Queryable, moment: Moment): Promise<SearchedRun | null> {
  const newest = await findRunInScope(snapshot, moment, moment.at);
  const packed = await findPackedRun(app, snapshot, moment, { from: newest ?? 0 });
  if (packed !== null) return packed;
  if (newest === null) return null;
  const run = await readShownRun(snapshot, newest, moment);
  return { run, parties: await readShownParties(snapshot, run, moment, null) };
}

/** The runs that last searched for the parties that a run skipped, newest first. */
async function readEarlier(
  app: AppContext,
  snapshot: Queryable,
  moment: Moment,
  { runNumber }: ShownRun,
  parties: readonly ShownParty[],
): Promise<readonly SearchedRun[]> {
  const found = new Map<number, SearchedRun>();
  for (const { partyId, outcome } of parties) {
    if (outcome !== 'skipped') continue;
    const searched = await findRunOfParty(snapshot, moment.rosterId, partyId, runNumber);
    const packed = await findPackedRun(app, snapshot, moment, { from: searched ?? 0, before: runNumber, partyId });
    const one = packed ?? (searched === null ? null : await readParty(snapshot, moment, searched, partyId));
    if (one === null) continue;
    const others = found.get(one.run.runNumber)?.parties ?? [];
    found.set(one.run.runNumber, { run: one.run, parties: [...others, ...one.parties] });
  }
  return [...found.values()].toSorted((one, other) => other.run.runNumber - one.run.runNumber);
}

async function readParty(snapshot: Queryable, moment: Moment, runId: number, partyId: number): Promise<SearchedRun> {
  const run = await readShownRun(snapshot, runId, moment);
  return { run, parties: await readShownParties(snapshot, run, moment, [partyId]) };
}

/** Whether the newest run screened all parties, an earlier one did so for those that it skipped, or neither; never more than that. */
function judge(run: ShownRun, parties: readonly ShownParty[], earlier: readonly SearchedRun[]) {
  if (run.gap !== null) return { verdict: 'not_screened' as const, because: run.gap };
  const searched = [...earlier, { run, parties }];
  // Nobody relies on a run whose sums do not hold.
  if (searched.some((one) => one.run.state === 'unbalanced')) {
    return { verdict: 'not_screened' as const, because: 'unbalanced' };
  }
  const answered = new Set(searched.flatMap((one) => one.parties.filter(isScreened).map(({ partyId }) => partyId)));
  const missing = searched.flatMap((one) => one.parties).find(({ partyId }) => !answered.has(partyId));
  if (missing !== undefined) return { verdict: 'not_screened' as const, because: missing.because };
  if (parties.length === 0) return { verdict: 'not_screened' as const, because: null };
  const skipped = parties.find(({ outcome }) => outcome === 'skipped');
  if (skipped === undefined) return { verdict: 'screened' as const, because: null };
  return { verdict: 'screened_earlier' as const, because: skipped.because };
}

/** Whether a party has an answer that counts. */
export const isScreened = ({ outcome }: ShownParty): boolean => outcome === 'screened' || outcome === 'reused';

/** A run with the folders of its packs. */
const toRun = ({ run, parties }: SearchedRun, dir: string | null) => ({
  ...run,
  packs: run.packs.map((pack) => ({
    ...pack,
    folder: toPackFolder(dir ?? '', run.runNumber, pack.number),
  })),
  parties,
});
