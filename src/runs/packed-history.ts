import { join } from 'node:path';
import { z } from 'zod';
import { EvidenceError } from '../errors.js';
import { readLines } from '../evidence/read-file.js';
import { toPackFolder } from '../evidence/write-pack.js';
import type { Queryable } from '../store/database/database.js';
import {
  listPackedRuns,
  type PackedParty,
  readPackedNights,
  readPackedParties,
} from '../store/evidence/packed-parties.js';
import { type PlanOutcome, planOutcomes } from '../store/evidence/population.js';
import { type Moment, readShownRun, type ShownParty, type ShownRun } from '../store/evidence/show.js';
import type { AppContext } from './app-context.js';

const reference = z.tuple([z.number(), z.number()]);

const customerLine = z.object({
  customer: z.number(),
  record: z.tuple([z.number(), z.number().nullable()]),
  parties: z.array(
    z.object({
      party: z.number(),
      ordinal: z.number(),
      request: z.number(),
      reason: z.string(),
      outcome: z.enum(planOutcomes),
      because: z.string().nullish(),
      answer: reference.optional(),
    }),
  ),
});
type CustomerLine = z.infer<typeof customerLine>;

const searchLine = z.object({ search: z.number(), calls: z.array(z.unknown()), answer: reference.optional() });

/** A run whose plan and calls are in its pack only, with the parties of a customer. */
interface PackedRun {
  run: ShownRun;
  parties: readonly ShownParty[];
}

/**
 * The newest run in packs, from one number on, that had a customer in scope at a moment, or searched for one party; null without one. A pack is read to its
 * end: 100,000 customers take about 0.4 s. Throws EvidenceError for a pack that is missing or damaged.
 */
export async function findPackedRun(
  app: AppContext,
  snapshot: Queryable,
  moment: Moment,
  { from, before = null, partyId = null }: { from: number; before?: number | null; partyId?: number | null },
): Promise<PackedRun | null> {
  const isSearched = ({ party, outcome }: CustomerLine['parties'][number]): boolean =>
    partyId === null || (party === partyId && outcome !== 'skipped');
  for (const runId of await listPackedRuns(snapshot, moment, { from, before })) {
    const run = await readShownRun(snapshot, runId, moment);
    const file = findFile(app, run, moment);
    const line = await findCustomer(file, moment.customerId);
    if (line === null || !line.parties.some(isSearched)) continue;
    const packed = await readParties(file, line);
    const partyIds = partyId === null ? null : [partyId];
    return { run, parties: await readPackedParties(snapshot, run, moment, packed, partyIds) };
  }
  return null;
}

/** What a pack says of a customer in scope: the run, and the worst outcome of the parties. */
export interface PackedMember {
  runId: string;
  runNumber: number;
  /** Whether its answers were not too old at the moment. */
  isFresh: boolean;
  outcome: PlanOutcome;
  because: string | null;
  /** Whether each party has an answer that counted, or was not due. */
  isScreened: boolean;
}

/** The customers in scope of rosters at a moment whose plans are in packs only, by their numbers. Throws EvidenceError as `findPackedRun`. */
export async function readPackedMembers(
  app: AppContext,
  rosterIds: readonly number[],
  at: Date,
): Promise<ReadonlyMap<number, PackedMember>> {
  const members = new Map<number, PackedMember>();
  for (const { runId, name, pack, isCounted, isFresh } of await readPackedNights(app.database, rosterIds, at)) {
    await readPack(toCustomersFile(app, name, runId, pack), (line) => {
      if (!line.startsWith('{"customer"')) return;
      const { customer, parties } = customerLine.parse(JSON.parse(line));
      if (!members.has(customer))
        members.set(customer, { ...toMember(parties, isCounted), runId: name, runNumber: runId, isFresh });
    });
  }
  return members;
}

function toMember(parties: CustomerLine['parties'], isCounted: boolean) {
  const worst = parties.toSorted(
    (one, other) => planOutcomes.indexOf(other.outcome) - planOutcomes.indexOf(one.outcome),
  );
  const [{ outcome, because = null }] = [...worst, { outcome: 'skipped' as const, because: null }];
  const isSkipped = parties.every((party) => party.outcome === 'skipped' && party.because === 'not_due');
  const hasAnswers =
    isCounted &&
    parties.every((party) => party.outcome === 'screened' || party.outcome === 'reused' || party.because === 'not_due');
  return {
    outcome,
    because: because ?? (isCounted ? null : 'not_applied'),
    isScreened: parties.length > 0 && (isSkipped || hasAnswers),
  };
}

/** The customers of the pack that a run had at a moment. */
function findFile(app: AppContext, { runId, runNumber, packs }: ShownRun, { at }: Moment): string {
  const pack = packs.findLast(({ queuedAt }) => queuedAt <= at) ?? packs[0];
  return toCustomersFile(app, runId, runNumber, pack?.number ?? 1);
}

function toCustomersFile({ settings }: AppContext, runId: string, runNumber: number, pack: number): string {
  const { dir } = settings.evidence;
  if (dir !== null) return join(toPackFolder(dir, runNumber, pack), 'customers.jsonl.gz');
  const message = `the plan and the calls of ${runId} are in its pack of evidence only, and evidence.dir is null; name the folder of the packs`;
  throw new EvidenceError('evidence_not_read', message);
}

async function findCustomer(file: string, customerId: number): Promise<CustomerLine | null> {
  let found: CustomerLine | null = null;
  await readPack(file, (line) => {
    if (!line.startsWith('{"customer"') || !line.slice(0, 40).includes(`${customerId},`)) return;
    const parsed = customerLine.parse(JSON.parse(line));
    if (parsed.customer === customerId) found = parsed;
  });
  return found;
}

async function readParties(
  file: string,
  { record: [version], parties }: CustomerLine,
): Promise<readonly PackedParty[]> {
  const requests = new Set(parties.filter(({ outcome }) => outcome !== 'reused').map(({ request }) => request));
  const searches = new Map<number, z.infer<typeof searchLine>>();
  await readPack(file, (line) => {
    if (!line.startsWith('{"search"')) return;
    const [, number] = /^\{"search"\s*:\s*(\d+)/.exec(line) ?? [];
    if (!requests.has(Number(number))) return;
    const parsed = searchLine.parse(JSON.parse(line));
    searches.set(parsed.search, parsed);
  });
  return parties.map(({ answer, because = null, ...party }) => {
    const search = party.outcome === 'skipped' ? undefined : searches.get(party.request);
    const [number = null] = answer ?? search?.answer ?? [];
    return { ...party, version, because, answer: number, calls: search?.calls ?? [] };
  });
}

async function readPack(file: string, read: (line: string) => void): Promise<void> {
  const { failure } = await readLines(file, read);
  if (failure === null) return;
  const message = `${file} cannot be read (${failure}), and the database no longer holds what it holds. Restore it from a backup, and check it with \`nightscreen evidence verify\``;
  throw new EvidenceError('evidence_not_read', message);
}
