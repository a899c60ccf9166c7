import type { StoredAnswer } from '../../changes/replay-answers.js';
import { treatAsCut } from '../../matches/treat-as-cut.js';
import {
  type HistoricalAnswer,
  type HistoricalDecision,
  readAnswerHistory,
  readDecisionHistory,
  readHistoricalParties,
} from '../../store/answer-history.js';
import type { Queryable } from '../../store/database.js';
import { readMatchSets } from '../../store/responses.js';
import { gatherBy } from './gather-by.js';

/** All stored answers of one party on one account, in their order; what repeats the answer before is left out. */
export interface PartyHistory {
  reference: string;
  partyId: number;
  answers: readonly (StoredAnswer & Pick<HistoricalAnswer, 'runId' | 'kind' | 'startedAt'>)[];
}

/** The stored answers of these parties, with what was known beside each when it came. */
export async function readStoredAnswers(
  database: Queryable,
  partyIds: readonly number[],
): Promise<readonly PartyHistory[]> {
  const rows = await readAnswerHistory(database, partyIds);
  const matchSets = await readMatchSets(
    database,
    rows.map(({ responseId }) => responseId),
  );
  const facts = new Map(
    (await readHistoricalParties(database, rows)).map((party) => [`${party.partyId}/${party.version}`, party]),
  );
  const decisions = gatherBy(await readDecisionHistory(database, partyIds), toKey);
  const byParty = gatherBy(rows, toKey);
  return [...byParty].map(([key, answers]) => {
    const decided = decisions.get(key) ?? [];
    let reference = '';
    let last: Date | null = null;
    const stored = answers.flatMap((answer) => {
      const matchSet = matchSets.get(answer.responseId);
      const party = facts.get(`${answer.partyId}/${answer.customerVersion}`);
      if (matchSet === undefined || party === undefined) return [];
      const { birthDate, countries } = party.customer;
      const before: Date | null = last;
      ({ reference } = party);
      last = answer.savedAt;
      return [
        {
          ...answer,
          matchSet: treatAsCut(matchSet, answer.cap),
          party: { birthDate, countries, riskTier: party.riskTier },
          customer: party.customer,
          said: party.said,
          confirmedIds: findConfirmed(decided, answer.savedAt),
          decidedIds: findDecided(decided, before, answer.savedAt),
        },
      ];
    });
    return { reference, partyId: answers[0]?.partyId ?? 0, answers: stored };
  });
}

const toKey = ({ partyId, accountId }: { partyId: number; accountId: number }): string => `${partyId}/${accountId}`;

function findDecided(decisions: readonly HistoricalDecision[], after: Date | null, until: Date): ReadonlySet<string> {
  const isBetween = ({ at, kind }: HistoricalDecision): boolean =>
    (kind === 'decided' || kind === 'confirmed_match') && after !== null && at > after && at <= until;
  return new Set(decisions.filter(isBetween).map(({ matchId }) => matchId));
}

/** Whose last decision by then says that they are the customer, unless it fell or the match is away. */
function findConfirmed(decisions: readonly HistoricalDecision[], until: Date): ReadonlySet<string> {
  const standing = new Map<string, { isConfirmed: boolean; isAway: boolean }>();
  for (const { matchId, kind, at } of decisions) {
    if (at > until) break;
    const before = standing.get(matchId) ?? { isConfirmed: false, isAway: false };
    const isAway = kind === 'away' || (before.isAway && kind !== 'back');
    const isMoved = kind === 'away' || kind === 'back';
    standing.set(matchId, { isAway, isConfirmed: isMoved ? before.isConfirmed : kind === 'confirmed_match' });
  }
  return new Set([...standing].flatMap(([id, { isConfirmed, isAway }]) => (isConfirmed && !isAway ? [id] : [])));
}
