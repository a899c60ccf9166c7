import { type AnswerOrigin, type DetectedChanges, detectChanges } from '../../changes/detect-changes.js';
import { isSameAnswer } from '../../changes/is-same-answer.js';
import type { ChangeSettings } from '../../changes/settings.js';
import { toPartyState } from '../../matches/customer-state.js';
import type { MatchSet } from '../../matches/match.js';
import { treatAsCut } from '../../matches/treat-as-cut.js';
import type { NewChangeEvent } from '../../store/changes.js';
import type { Queryable } from '../../store/database/database.js';
import { readMatchSets } from '../../store/responses.js';
import {
  type ChangedPartyRow,
  type NewPartyState,
  type PartyStateRow,
  readChangedParties,
  readConfirmedMatches,
  readPartiesSaid,
  type SearchTask,
} from '../../store/screenings.js';
import type { RunSession } from '../session/run-session.js';
import type { WatchedAccount } from '../watching/watched-account.js';

/** Parties whose request has been answered. */
export interface AnsweredTask {
  task: Pick<SearchTask, 'requestId' | 'parties'>;
  responseId: number;
  matchSet: MatchSet;
}

type AnsweredParty = Pick<PartyStateRow, 'partyId' | 'responseId' | 'requestId' | 'customerVersion' | 'settingsDigest'>;

/** An answer as it came for one party. */
interface PartyAnswer {
  party: AnsweredParty;
  matchSet: MatchSet;
  known: PartyStateRow | undefined;
}

/** What answers change for their parties, each compared with its own last state on the account. */
export async function judgeAnswers(
  transaction: Queryable,
  session: RunSession,
  account: WatchedAccount,
  { answered, known }: { answered: readonly AnsweredTask[]; known: ReadonlyMap<number, PartyStateRow> },
): Promise<{ events: NewChangeEvent[]; states: NewPartyState[] }> {
  const { settings, settingsDigest } = session.workplace;
  const answers = answered.flatMap(({ task, responseId, matchSet }) =>
    task.parties.map(
      ({ partyId, customerVersion }): PartyAnswer => ({
        party: { partyId, responseId, requestId: task.requestId, customerVersion, settingsDigest },
        matchSet: treatAsCut(matchSet, account.listCap),
        known: known.get(partyId),
      }),
    ),
  );
  // An answer that is the stored one to the letter changes nothing: most of a night.
  const others = answers.filter((answer) => !isSame(answer));
  const [knownSets, parties, confirmed, said] = await Promise.all([
    readMatchSets(
      transaction,
      others.flatMap(({ known }) => known?.responseId ?? []),
    ),
    // Most first screenings find nothing, and then there is nothing to judge.
    readChangedParties(
      transaction,
      account.accountId,
      others.flatMap(({ party, matchSet, known }) => (known || matchSet.matches.length > 0 ? [party] : [])),
    ),
    // Only a customer whose record has changed makes a confirmed match urgent.
    readConfirmedMatches(
      transaction,
      account.accountId,
      others.flatMap(({ party, known }) =>
        known && known.customerVersion !== party.customerVersion ? party.partyId : [],
      ),
    ),
    // Whose record is another one may only be read differently.
    readPartiesSaid(
      transaction,
      others.flatMap(({ party, known }) =>
        known && known.customerVersion !== party.customerVersion ? [party, known] : [],
      ),
    ),
  ]);
  const withSaid = <Origin extends AnsweredParty>(origin: Origin): Origin & Pick<AnswerOrigin, 'said'> => ({
    ...origin,
    said: said.get(`${origin.partyId}/${origin.customerVersion}`),
  });
  const events: NewChangeEvent[] = [];
  const states: NewPartyState[] = [];
  for (const answer of answers) {
    const { party, matchSet } = answer;
    const isUnchanged = isSame(answer);
    const { changes, ...next } = isUnchanged
      ? { changes: [], reportedScores: {}, unreturned: [], ...answer.known }
      : judgeAnswer(
          { ...answer, party: withSaid(party), known: answer.known && withSaid(answer.known) },
          knownSets,
          { facts: parties.get(party.partyId) ?? nobody, confirmed: confirmed.get(party.partyId) },
          settings.changes,
        );
    const { partyId, customerVersion } = party;
    const former = answer.known?.customerVersion ?? customerVersion;
    const formerCustomerVersion = former === customerVersion ? null : former;
    events.push(...changes.map((change) => ({ partyId, customerVersion, formerCustomerVersion, change })));
    const { reportedScores, unreturned } = next;
    const state = { ...party, reportedScores, unreturned, state: toPartyState(matchSet, unreturned) };
    states.push({ ...state, isKnown: isUnchanged && isSameState(state, answer.known) });
  }
  return { events, states };
}

const isSame = ({ known, party, matchSet }: PartyAnswer): boolean =>
  isSameAnswer(known, { responseId: party.responseId, truncated: matchSet.truncated });

/** Whether a party's state says of the same answer what the stored one says. */
const isSameState = (next: PartyStateRow, known: PartyStateRow | undefined): boolean =>
  known !== undefined &&
  next.requestId === known.requestId &&
  next.customerVersion === known.customerVersion &&
  next.settingsDigest === known.settingsDigest &&
  next.state === known.state;

/** What is known of a customer of whom nothing bears on any match. */
const nobody: ChangedPartyRow = { birthDate: null, countries: [], riskTier: null, removed: [] };

function judgeAnswer(
  { party, matchSet, known }: PartyAnswer,
  knownSets: ReadonlyMap<number, MatchSet>,
  { facts: { removed, ...facts }, confirmed }: { facts: ChangedPartyRow; confirmed: ReadonlySet<string> | undefined },
  settings: ChangeSettings,
): DetectedChanges {
  const before = known && knownSets.get(known.responseId);
  const knownAnswer =
    known && before
      ? { ...known, matches: before.matches, removed, origin: known, confirmedIds: confirmed ?? new Set<string>() }
      : null;
  return detectChanges(knownAnswer, { matchSet, origin: party, party: facts }, settings);
}
