import { createHmac } from 'node:crypto';
import { type AnswerOrigin, detectChanges, isSameAnswer } from '../../changes/match-changes.js';
import type { AmlSearchResult } from '../../client/aml.js';
import type { Answer } from '../../client/operation.js';
import { type MatchSet, toMatchSet, toPartyState, treatAsTruncated } from '../../matches/match.js';
import type { ScreeningOutcome } from '../../screening/screen.js';
import { type Queryable, requireFound, type Transaction } from '../../store/database/database.js';
import { saveChanges } from '../../store/night/changes.js';
import { insertBatch, isBatchSaved, type SearchAttempts, saveAttempts } from '../../store/night/ledger.js';
import { noteReused } from '../../store/night/plan.js';
import { readReusable } from '../../store/night/plan-sql.js';
import { readMatchSets, saveResponses } from '../../store/night/responses.js';
import {
  type PartyStateRow,
  readAssessedParties,
  readPartyStates,
  type SearchTask,
  saveFailures,
  saveNextStates,
} from '../../store/night/screenings.js';
import type { Organisation } from '../../store/organisations.js';
import type { RunSettings } from '../app-context.js';
import { toSignalHalt } from '../halt.js';
import type { RunSession } from '../session.js';
import type { WatchedAccount } from './monitoring.js';
import { toReuseScope } from './plan.js';

/** The keyed digest of an answer in hex: HMAC-SHA-256 over its bytes as received. */
export const digestAnswer = (digestKey: Buffer, body: string | Buffer): string =>
  createHmac('sha256', digestKey).update(body).digest('hex');

/** Stores an answer; gives its id and its matches. */
export async function saveAnswer(
  transaction: Queryable,
  { organisationId, digestKey }: Organisation,
  { body, data }: Answer<AmlSearchResult>,
  now: Date,
): Promise<{ responseId: number; matchSet: MatchSet }> {
  const digest = digestAnswer(digestKey, body);
  const matchSet = toMatchSet(data);
  const ids = await saveResponses(transaction, organisationId, [{ digest, body, matchSet }], now);
  return { responseId: requireFound(ids, digest, 'response'), matchSet };
}

interface AnsweredTask {
  task: Pick<SearchTask, 'requestId' | 'parties'>;
  responseId: number;
  matchSet: MatchSet;
}

type AnsweredParty = Pick<PartyStateRow, 'partyId' | 'responseId' | 'requestId' | 'customerVersion' | 'settingsDigest'>;

interface PartyAnswer {
  party: AnsweredParty;
  matchSet: MatchSet;
  known: PartyStateRow | undefined;
}

/**
 * Computes the changes of these answers, and what they make of states where that is more than a new date. Each party is compared with its own
 * last state on the account.
 */
async function assessAnswers(
  transaction: Queryable,
  { app }: RunSession,
  account: WatchedAccount,
  { answered, known }: { answered: readonly AnsweredTask[]; known: ReadonlyMap<number, PartyStateRow> },
) {
  const { settings, settingsDigest } = app;
  const answers = answered.flatMap(({ task, responseId, matchSet }) =>
    task.parties.map(
      ({ partyId, customerVersion }): PartyAnswer => ({
        party: { partyId, responseId, requestId: task.requestId, customerVersion, settingsDigest },
        matchSet: treatAsTruncated(matchSet, account.listCap),
        known: known.get(partyId),
      }),
    ),
  );
  // An answer identical to the stored one changes nothing. Most answers are.
  const others = answers.filter((answer) => !isSame(answer));
  const facts = await readComparisonFacts(transaction, account, others);
  const assessed = answers.map((answer) =>
    isSame(answer)
      ? { answer, changes: [], reportedScores: {}, unreturned: [], ...answer.known }
      : { answer, ...compareAnswer(answer, facts, settings.changes) },
  );
  return {
    events: assessed.flatMap(({ answer, changes }) => {
      const { partyId, customerVersion } = answer.party;
      const former = answer.known?.customerVersion ?? customerVersion;
      const formerCustomerVersion = former === customerVersion ? null : former;
      return changes.map((change) => ({ partyId, customerVersion, formerCustomerVersion, change }));
    }),
    states: assessed.flatMap(({ answer, reportedScores, unreturned }) => {
      const { party, matchSet, known } = answer;
      const state = { ...party, reportedScores, unreturned, state: toPartyState(matchSet, unreturned) };
      return isSame(answer) && isSameState(state, known) ? [] : [state];
    }),
  };
}

/** Reads what a comparison needs: the former matches, the facts of the parties, and the matches that people have confirmed. */
async function readComparisonFacts(
  transaction: Queryable,
  { accountId }: WatchedAccount,
  answers: readonly PartyAnswer[],
) {
  // A confirmed match is urgent, and the record may be read differently, only after a change of the customer's record.
  const ofChanged = answers.filter(({ party, known }) => known && known.customerVersion !== party.customerVersion);
  const knownIds = answers.flatMap(({ known }) => known?.responseId ?? []);
  const [knownSets, assessed] = await Promise.all([
    readMatchSets(transaction, knownIds),
    readAssessedParties(transaction, accountId, {
      // Most first screenings have no match, so no facts are needed.
      parties: answers.flatMap(({ party, matchSet, known }) => (known || matchSet.matches.length > 0 ? [party] : [])),
      confirmed: ofChanged.map(({ party }) => party.partyId),
      said: ofChanged.flatMap(({ party, known }) => (known ? [party, known] : [])),
    }),
  ]);
  return { knownSets, ...assessed };
}

/** Compares the answer of a party with its known one, if it has one. */
function compareAnswer(
  { party, matchSet, known }: PartyAnswer,
  { knownSets, parties, confirmed, said }: Awaited<ReturnType<typeof readComparisonFacts>>,
  settings: RunSettings['changes'],
) {
  const withSaid = <Origin extends AnsweredParty>(origin: Origin): Origin & Pick<AnswerOrigin, 'said'> => ({
    ...origin,
    said: said.get(`${origin.partyId}/${origin.customerVersion}`),
  });
  const { removed, ...facts } = parties.get(party.partyId) ?? nobody;
  const trueMatchIds = confirmed.get(party.partyId) ?? new Set<string>();
  const before = known && knownSets.get(known.responseId);
  const knownAnswer =
    known && before ? { ...known, matches: before.matches, removed, origin: withSaid(known), trueMatchIds } : null;
  return detectChanges(knownAnswer, { matchSet, origin: withSaid(party), party: facts }, settings);
}

const isSame = ({ known, party, matchSet }: PartyAnswer): boolean =>
  isSameAnswer(known, { responseId: party.responseId, truncated: matchSet.truncated });

const isSameState = (next: PartyStateRow, known: PartyStateRow | undefined): boolean =>
  known !== undefined &&
  next.requestId === known.requestId &&
  next.customerVersion === known.customerVersion &&
  next.settingsDigest === known.settingsDigest &&
  next.state === known.state;

/** The facts of a customer that has none that affect a match. */
const nobody = { birthDate: null, countries: [], riskTier: null, removed: [] };

/** A search that has ended, with all its attempts. */
export interface FinishedSearch {
  task: SearchTask;
  attempts: SearchAttempts;
  outcome: ScreeningOutcome;
  /** The known answer of the task, if the service has given it again. */
  known: SearchTask['known'];
  /** Its answer broke the contract; it stays planned for another attempt. */
  isMadeAgain: boolean;
}

/**
 * Saves searches in one transaction: ledger, answers, match sets, and the changes and states that the answers will make. A search that failed
 * because of the service, or is made again, stays planned.
 */
export async function commitScreenings(
  session: RunSession,
  account: WatchedAccount,
  finished: readonly FinishedSearch[],
): Promise<void> {
  const { app, numbers } = session;
  await writeBatch(session, async (transaction, batch) => {
    const now = app.clock.now();
    const ended = finished.filter(isAnswered);
    const others = ended.filter(({ known }) => known === null);
    // Independent statements are sent together: each wait costs a turn of a busy event loop.
    const [known, answered] = await Promise.all([
      readKnownStates(transaction, account, others),
      storeAnswers(transaction, session, others, now),
    ]);
    const { events, states } = await assessAnswers(transaction, session, account, { answered, known });
    const responses = new Map(ended.flatMap(({ task, known }) => (known ? [[task.requestId, known.responseId]] : [])));
    for (const { task, responseId } of answered) responses.set(task.requestId, responseId);
    const attempts = finished.map((search) => search.attempts);
    await Promise.all([
      saveAttempts(transaction, numbers, attempts, { batch, responses }),
      saveNextStates(transaction, { accountId: account.accountId, runId: numbers.runId }, states),
      saveChanges(transaction, numbers, events),
      saveFailures(transaction, numbers, finished.flatMap(toFailure)),
    ]);
  });
}

/** Writes a batch once, also when the answer to its commit was lost and the transaction is repeated. */
async function writeBatch(
  { app, numbers, write }: RunSession,
  work: (transaction: Transaction, batch: number) => Promise<void>,
): Promise<void> {
  const batch = numbers.nextBatch();
  let isRepeat = false;
  await write(async (transaction) => {
    if (isRepeat && (await isBatchSaved(transaction, numbers, batch))) return;
    isRepeat = true;
    await insertBatch(transaction, numbers, batch, app.clock.now());
    await work(transaction, batch);
  });
}

async function storeAnswers(
  transaction: Queryable,
  session: RunSession,
  finished: readonly FinishedSearch[],
  now: Date,
): Promise<readonly AnsweredTask[]> {
  const { organisationId, digestKey } = session.organisation;
  const answers = finished.flatMap(({ task, outcome }) => {
    if (outcome.kind !== 'screened') return [];
    const { body, data } = outcome.answer;
    return [{ task, body, digest: digestAnswer(digestKey, body), matchSet: toMatchSet(data) }];
  });
  const ids = await saveResponses(transaction, organisationId, answers, now);
  return answers.map(({ task, digest, matchSet }) => ({
    task,
    responseId: requireFound(ids, digest, 'response'),
    matchSet,
  }));
}

const isAnswered = ({ outcome }: FinishedSearch): boolean => outcome.kind === 'screened';

const readKnownStates = (
  transaction: Queryable,
  { accountId }: WatchedAccount,
  tasks: readonly Pick<AnsweredTask, 'task'>[],
): Promise<ReadonlyMap<number, PartyStateRow>> =>
  readPartyStates(
    transaction,
    accountId,
    tasks.flatMap(({ task }) => task.parties.map(({ partyId }) => partyId)),
  );

function toFailure({ task, outcome, isMadeAgain }: FinishedSearch) {
  if (outcome.kind !== 'failed' || outcome.isTransient || isMadeAgain) return [];
  return [{ requestId: task.requestId, reason: outcome.reason }];
}

/** Fails searches that found the service out of reach twice; each keeps its own reason. */
export async function commitFailures(
  session: RunSession,
  failures: readonly { task: SearchTask; reason: string }[],
): Promise<void> {
  if (failures.length === 0) return;
  await writeBatch(session, (transaction) =>
    saveFailures(
      transaction,
      session.numbers,
      failures.map(({ task, reason }) => ({ requestId: task.requestId, reason })),
    ),
  );
}

const chunkSize = 256;

/**
 * Stage: gives an outcome without a search to the parties whose request is already answered. Each is compared with its
 * own last state. An answer that is too old by now, or no longer the newest, is skipped and searched later. Throws
 * RunHalted when a stop is requested.
 */
export async function reuseAnswers(session: RunSession, account: WatchedAccount): Promise<void> {
  const { app, run, signal } = session;
  const { clock, database } = app;
  const { reuse, tiers } = toReuseScope(app, clock.now());
  if (reuse === null) return;
  const ours = { runId: run.runId, accountId: account.accountId };
  for await (const chunk of readReusable(database, ours, { reuse, tiers }, chunkSize)) {
    if (signal.aborted) throw toSignalHalt(signal);
    await commitReuse(session, account, chunk);
  }
}

async function commitReuse(
  session: RunSession,
  account: WatchedAccount,
  reusable: readonly { partyId: number; requestId: number; customerVersion: number; responseId: number }[],
): Promise<void> {
  const { numbers } = session;
  await writeBatch(session, async (transaction) => {
    const matchSets = await readMatchSets(
      transaction,
      reusable.map(({ responseId }) => responseId),
    );
    const answered = reusable.map(({ partyId, requestId, customerVersion, responseId }) => ({
      task: { requestId, parties: [{ partyId, customerVersion }] },
      responseId,
      matchSet: requireFound(matchSets, responseId, 'response'),
    }));
    const known = await readKnownStates(transaction, account, answered);
    const { events, states } = await assessAnswers(transaction, session, account, { answered, known });
    await saveChanges(transaction, numbers, events);
    await saveNextStates(transaction, { accountId: account.accountId, runId: numbers.runId }, states);
    await noteReused(
      transaction,
      numbers,
      reusable.map(({ partyId }) => partyId),
    );
  });
}
