import { randomBytes } from 'node:crypto';
import { usageError } from '../../errors.js';
import type { PublishedList } from '../../lists/published-list.js';
import type { Database, Queryable } from '../../store/database/database.js';
import { toLeaseKey } from '../../store/database/leases.js';
import { finishSearch, insertAssurance, readAssurance, setLeastShare } from '../../store/night/checks.js';
import { ensureRequests } from '../../store/night/controls.js';
import { addUpSearches } from '../../store/night/run-sums.js';
import { closeRun, type RunRow, toRunId } from '../../store/runs.js';
import type { RunMode } from '../../vocabulary.js';
import { findSaidMode, identifyAccount, noteAccount, requireBudget, toAssumedMode } from '../account.js';
import type { AppContext, RunSettings } from '../app-context.js';
import { type RunHalted, requireHalt, toSignalHalt } from '../halt.js';
import { priceCalls } from '../preview.js';
import { describeRunAs } from '../run-reference.js';
import { toExitCode } from '../run-summary.js';
import { searchUnplanned } from '../screening/attempts.js';
import { saveAnswer } from '../screening/commit.js';
import { OutageWatch, retryUntilDeadline, type WaitPolicy } from '../screening/outages.js';
import { watchLedger } from '../screening/plan.js';
import {
  openKeyedOrganisation,
  type ResumeVerdict,
  type RunSession,
  recordKeys,
  withLease,
  withRun,
} from '../session.js';
import { toStoredList } from './because-of.js';
import { drawSample } from './sample.js';

const resumableForMs = 12 * 60 * 60 * 1_000;

type StoredAssurance = NonNullable<Awaited<ReturnType<typeof readAssurance>>>;
type SampleSettings = Parameters<typeof drawSample>[1];

/** The list, the sample and the goal of a recall measurement. */
export interface AssuranceOptions extends Omit<SampleSettings, 'seed'> {
  list: PublishedList;
  /** Undefined: drawn at random and stored. */
  seed: string | undefined;
  atLeast: number | undefined;
}

const drawSeed = (): string => randomBytes(8).toString('hex');

/**
 * Measures how many names of a published list the service finds: draws a sample, stores it, searches for each name, and stores every answer.
 * A stopped measurement of the same list is resumed. Throws ConfigError before anything is spent.
 */
export async function runAssurance(
  app: AppContext,
  options: AssuranceOptions,
  signal: AbortSignal,
): Promise<AssuranceResult> {
  const startedAt = app.clock.now();
  const client = app.client();
  if (client.keyMode === 'live') requireBudget(app, 'live');
  const organisation = await openKeyedOrganisation(app);
  const findBlocker = (open: RunRow) => compareMeasurement(app, open, { ...options, mode: findSaidMode(app) });
  const request = { organisation, kind: 'assure', mode: toAssumedMode(app), findBlocker } as const;
  const runId = await withLease(app, toLeaseKey('assure', organisation.name), signal, (held) =>
    withRun(app, held, request, async (session) => {
      await storeSample(session, options);
      const outage = new OutageWatch(app, client, startedAt);
      const waitPolicy = { clock: app.clock, outage, signal: session.signal };
      const halted = await measure(session, waitPolicy)
        .catch(requireHalt)
        .finally(() => outage.close());
      await closeAssurance(session, halted);
      return session.runId;
    }),
  );
  return showAssurance(app.database, app.settings.organisation, runId);
}

async function compareMeasurement(
  { database, clock }: AppContext,
  open: RunRow,
  wanted: AssuranceOptions & { mode: RunMode | null },
): Promise<ResumeVerdict> {
  const facts = await readAssurance(database, open.runId);
  if (facts === null) return { blocker: 'its sample was not drawn yet', differences: [] };
  const ageMs = clock.now().getTime() - (open.finishedAt ?? open.startedAt).getTime();
  const blocker =
    findOtherMeasurement(open, facts, wanted) ??
    (ageMs > resumableForMs ? 'it stopped more than twelve hours ago' : null) ??
    (isSameSample(facts, wanted) ? null : 'the list now gives another sample, because of --type or another version');
  const atLeast = wanted.atLeast ?? null;
  if (blocker !== null || facts.atLeast === atLeast) return { blocker, differences: [] };
  return { blocker, differences: [`--at-least was ${facts.atLeast ?? 'not given'} and is ${atLeast ?? 'not given'}`] };
}

function findOtherMeasurement(
  open: RunRow,
  facts: StoredAssurance,
  wanted: AssuranceOptions & { mode: RunMode | null },
): string | null {
  if (facts.digest !== wanted.list.digest)
    return `it used the list ${facts.file}, SHA-256 ${facts.digest.slice(0, 12)}`;
  if (wanted.mode !== null && open.mode !== wanted.mode)
    return `it ran with a ${open.mode} key, and this is a ${wanted.mode} key`;
  if (facts.spelling !== wanted.spelling) return `its spelling was ${facts.spelling}, and now is ${wanted.spelling}`;
  if (facts.sampleSize !== wanted.size) return `its sample size was ${facts.sampleSize}, and now is ${wanted.size}`;
  if (wanted.seed !== undefined && facts.seed !== wanted.seed) return `its seed was ${facts.seed}`;
  return null;
}

function isSameSample({ items, seed }: StoredAssurance, { list, ...options }: AssuranceOptions): boolean {
  const names = drawSample(list.parties, { ...options, seed });
  return (
    names.length === items.length &&
    names.every(({ type, sentName }, at) => type === items[at]?.type && sentName === items[at]?.sentName)
  );
}

/** Draws the sample of a list; throws ConfigError when the list has no name of a person or an entity. */
function drawNames({ file, parties }: PublishedList, settings: SampleSettings): ReturnType<typeof drawSample> {
  const names = drawSample(parties, settings);
  if (names.length > 0) return names;
  const message = `${file} has no name of a person or an entity to measure on, among ${parties.length} entries`;
  throw usageError('argument list', message);
}

/** Stage: stores the sample before anything is paid; a resumed measurement keeps its sample and takes the new `atLeast`. */
async function storeSample(session: RunSession, { list, atLeast, ...options }: AssuranceOptions): Promise<void> {
  const { app, organisation, run } = session;
  if (await readAssurance(app.database, run.runId)) {
    return session.write((transaction) => setLeastShare(transaction, run.runId, atLeast ?? null));
  }
  const seed = options.seed ?? drawSeed();
  const names = drawNames(list, { ...options, seed });
  await session.write(async (transaction) => {
    const requests = names.map(({ type, sentName: name }) => ({ type, name }));
    const requestIds = await ensureRequests(transaction, organisation.organisationId, requests);
    const facts = {
      ...toStoredList(list),
      seed,
      spelling: options.spelling,
      sampleSize: options.size,
      atLeast: atLeast ?? null,
    };
    await insertAssurance(transaction, run.runId, facts, names, requestIds);
  });
}

/** The paid part. */
async function measure(session: RunSession, waitPolicy: WaitPolicy): Promise<null> {
  const { app, organisation, run } = session;
  const client = app.client();
  const keys = recordKeys(session, client);
  try {
    const { value: account } = await retryUntilDeadline(waitPolicy, (signal) =>
      identifyAccount(app, organisation, client, signal),
    );
    requireBudget(app, account.isTest ? 'test' : 'live');
    if (run.accountId !== null && run.accountId !== account.accountId) {
      throw usageError('run', 'it began under another account; another --seed begins a new measurement');
    }
    await session.write((transaction) => noteAccount(transaction, session, account.accountId));
    app.emit({ kind: 'stage_started', runId: session.runId, stage: 'screen' });
    await searchSample(session, account.accountId, waitPolicy);
    return null;
  } finally {
    await keys.close();
  }
}

async function closeAssurance(session: RunSession, halted: RunHalted | null): Promise<void> {
  const { app, run, runId } = session;
  const end = await session.write(async (transaction) => {
    const stored = await readAssurance(transaction, run.runId);
    const { items, atLeast } = stored ?? { items: [], atLeast: null };
    const total = measureRecall(items);
    const sums = await addUpSearches(transaction, run.runId, {
      made: items.filter((item) => item.outcome !== 'remaining').length,
      responseIds: items.flatMap(({ responseId }) => responseId ?? []),
    });
    const reasons = halted
      ? [`${halted.message}; ${total.remaining} names remain, and the same command continues with them`]
      : findFaults(total, atLeast);
    const state = halted ? 'stopped' : reasons.length > 0 ? 'incomplete' : 'complete';
    const stage = halted ? null : 'finished';
    await closeRun(transaction, run.runId, {
      state,
      stateReasons: reasons,
      haltedBy: halted?.code ?? null,
      stage,
      finishedAt: app.clock.now(),
      sums,
    });
    return { state, reasons } as const;
  });
  app.emit({ kind: 'run_finished', runId, runKind: run.kind, ...end });
}

function findFaults({ failed, recall }: ReturnType<typeof measureRecall>, atLeast: number | null): readonly string[] {
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  return [
    ...(failed > 0 ? [`${failed} names had no valid answer`] : []),
    ...(recall !== null && atLeast !== null && recall.share < atLeast
      ? [`${percent(recall.share)} of the names were found, less than the required ${percent(atLeast)}`]
      : []),
  ];
}

/**
 * Searches for the remaining names of a sample, as many at once as the settings allow, and stores each answer at once. Throws RunHalted when
 * the account is refused, the budget without its reserve is used up, the service is unreachable for too long, or a stop is requested.
 */
async function searchSample(session: RunSession, accountId: number, waitPolicy: WaitPolicy): Promise<void> {
  const { app, run, runId } = session;
  const { items } = (await readAssurance(app.database, run.runId)) ?? { items: [] };
  const remaining = items.filter((item) => item.outcome === 'remaining');
  // A measurement may spend the budget without its reserve.
  const noReserve = 0;
  const allowed = await watchLedger(session, accountId, noReserve);
  const left = remaining.slice(0, Math.max(0, allowed.affordable));
  const stop = new AbortController();
  const signal = AbortSignal.any([allowed.session.signal, stop.signal]);
  let done = items.length - remaining.length;
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item; item = left.shift()) {
      if (signal.aborted) throw toSignalHalt(signal);
      await searchItem(allowed.session, { ...waitPolicy, signal }, item);
      done += 1;
      app.emit({ kind: 'progress', runId, stage: 'screen', done, total: items.length });
    }
  };
  const { concurrency } = app.settings.service.rate;
  const workers = Array.from({ length: concurrency }, () => work().catch((error: unknown) => stop.abort(error)));
  await Promise.all(workers);
  if (stop.signal.aborted) throw stop.signal.reason;
  if (done < items.length) throw allowed.toHalt();
}

async function searchItem(
  session: RunSession,
  waitPolicy: WaitPolicy,
  item: StoredAssurance['items'][number],
): Promise<void> {
  const { app, organisation, run } = session;
  const request = { type: item.type, name: item.sentName };
  const { value: outcome } = await retryUntilDeadline(waitPolicy, (signal) =>
    searchUnplanned({ ...session, signal }, app.client(), request, 'a search of the sample'),
  );
  const now = app.clock.now();
  const search = { runId: run.runId, ordinal: item.ordinal };
  await session.write(async (transaction) => {
    if (outcome.kind === 'failed') return finishSearch(transaction, search, { reason: outcome.reason }, now);
    const { responseId } = await saveAnswer(transaction, organisation, outcome.answer, now);
    await finishSearch(transaction, search, { responseId }, now);
  });
}

/** A stored measurement of the service's recall. */
export type AssuranceResult = NonNullable<Awaited<ReturnType<typeof describeAssurance>>>;

/** Gives an organisation's measurement by the name of its run; throws ConfigError for any other run. */
export const showAssurance = (database: Database, organisation: string, text: string): Promise<AssuranceResult> =>
  describeRunAs(database, organisation, text, { what: 'a recall measurement', describe: describeAssurance });

/** The measurement of a run; null for other runs. */
export async function describeAssurance(database: Queryable, run: RunRow) {
  const stored = await readAssurance(database, run.runId);
  if (stored === null) return null;
  const { items, ...facts } = stored;
  return {
    ...facts,
    runId: toRunId(run),
    state: run.state,
    reasons: run.stateReasons,
    exitCode: toExitCode(run.state),
    mode: run.mode,
    keyFingerprints: run.keys,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    attempts: run.sums?.counts.attempts ?? 0,
    total: measureRecall(items),
    byTypeAndScript: measureStrata(items, ({ type, script }) => `${type}, ${script}`),
    byVariant: measureStrata(items, ({ variant }) => variant),
    /** Listed names that the service answered without a hit. */
    missed: items.filter((item) => item.outcome === 'answered' && item.hits === 0),
    failed: items.filter((item) => item.outcome === 'failed'),
  };
}

/** Previews a measurement, without storing or calling anything; with a given seed it is the exact sample. Throws ConfigError for an empty sample. */
export function previewAssurance(settings: RunSettings, options: AssuranceOptions) {
  const { list } = options;
  const seed = options.seed ?? drawSeed();
  const names = drawNames(list, { ...options, seed });
  const strata: Record<string, number> = {};
  for (const { type, script } of names) strata[`${type}, ${script}`] = (strata[`${type}, ${script}`] ?? 0) + 1;
  return {
    file: list.file,
    digest: list.digest,
    listed: list.parties.length,
    seed,
    /** Without retries. */
    ...priceCalls(settings, names.length),
    /** Names of the sample by type and script. */
    strata,
  };
}

/** Counts the names of a sample by outcome. `found` ones have a hit; the recall is their share of those with a valid answer. */
function measureRecall(items: StoredAssurance['items']) {
  const answered = items.filter((item) => item.outcome === 'answered');
  const found = answered.filter((item) => item.hits > 0).length;
  return {
    sample: items.length,
    answered: answered.length,
    failed: items.filter((item) => item.outcome === 'failed').length,
    remaining: items.filter((item) => item.outcome === 'remaining').length,
    found,
    withResults: answered.filter((item) => item.results > 0).length,
    recall: toShare(found, answered.length),
  };
}

function measureStrata(items: StoredAssurance['items'], toStratum: (item: StoredAssurance['items'][number]) => string) {
  const strata = [...new Set(items.map(toStratum))].sort();
  return strata.map((stratum) => ({
    stratum,
    ...measureRecall(items.filter((item) => toStratum(item) === stratum)),
  }));
}

// The normal quantile that leaves 2.5 % on either side.
const quantile = 1.959964;

/** The share of `successes` in `trials` with its 95 % confidence bounds (Wilson's score interval); null without any trial. */
export function toShare(successes: number, trials: number) {
  if (trials === 0) return null;
  const share = successes / trials;
  const square = quantile ** 2 / trials;
  const centre = share + square / 2;
  const spread = quantile * Math.sqrt((share * (1 - share)) / trials + square / (4 * trials));
  const bound = (value: number): number => Math.min(1, Math.max(0, value / (1 + square)));
  return { share, low: Math.min(share, bound(centre - spread)), high: Math.max(share, bound(centre + spread)) };
}
