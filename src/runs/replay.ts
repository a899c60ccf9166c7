import type { MatchChange } from '../changes/match-changes.js';
import { replayAnswers, type StoredAnswer } from '../changes/replay-answers.js';
import type { ChangeSettings } from '../changes/severity.js';
import { gatherBy } from '../gather-by.js';
import { type Match, treatAsTruncated } from '../matches/match.js';
import { countStoredChanges, readHistory } from '../store/night/responses.js';
import { toRunId } from '../store/runs.js';
import { type MatchChangeKind, matchChangeKinds, type Severity, severities } from '../vocabulary.js';
import type { AppContext } from './app-context.js';
import { compareSettings } from './settings-acceptance.js';

const partiesAtOnce = 250;
const mostExamples = 10;

/** The settings in force, or the others that are compared with them. */
type Side = 'present' | 'other';

/**
 * Assesses all stored answers again under the settings in force and under others, and counts the differences in runs begun since `since`.
 * Reads in one read-only transaction, some parties at a time, and makes no calls.
 */
export async function replaySettings(
  { database, settings }: AppContext,
  other: Parameters<typeof compareSettings>[1],
  since: Date | null,
) {
  const differences = compareSettings(settings, other);
  const counts = openCounts({ present: settings.changes, other: other.changes }, since);
  // A repeat after a lost connection would count twice.
  const once = { runsOnce: true };
  const stored = await database.transaction(async (transaction) => {
    await transaction.execute('set transaction isolation level repeatable read, read only');
    for (let after = 0; ; ) {
      const histories = await readHistory(transaction, settings.organisation, after, partiesAtOnce);
      if (histories === null) break;
      for (const history of toPartyHistories(histories)) counts.add(history);
      after = histories.last;
    }
    return countStoredChanges(transaction, settings.organisation, since);
  }, once);
  const isEvaluated = (words: string): boolean => words.startsWith('changes.');
  return {
    since,
    evaluated: differences.filter(isEvaluated),
    notEvaluated: differences.filter((words) => !isEvaluated(words)),
    stored,
    ...counts.read(),
  };
}

/** Counts the parties and answers of histories, and what two settings make of them; `read` returns the counts so far. */
function openCounts(settings: Readonly<Record<Side, ChangeSettings>>, since: Date | null) {
  const tallies = { changes: openTally(), baseline: openTally() };
  const alerts = { present: 0, other: 0, onlyOther: 0, onlyPresent: 0 };
  const examples: ReturnType<typeof toExample>[] = [];
  let [parties, answers] = [0, 0];
  const addPair = (answer: HistoryAnswer, reference: string, pair: EventPair): void => {
    const isBaseline = pair.present?.isBaseline ?? pair.other?.isBaseline ?? false;
    (isBaseline ? tallies.baseline : tallies.changes).add(pair);
    const match = toMatch(pair.present ?? pair.other);
    if (match === null || !hasOtherSeverity(pair) || examples.length >= mostExamples) return;
    examples.push(toExample(toRunId(answer), reference, match, pair));
  };
  return {
    add: (history: PartyHistory): void => {
      const replayed = {
        present: replayAnswers(history.answers, settings.present),
        other: replayAnswers(history.answers, settings.other),
      };
      parties += 1;
      for (const [index, answer] of history.answers.entries()) {
        if (since !== null && answer.startedAt < since) continue;
        answers += 1;
        const pairs = pairEvents(replayed.present[index]?.changes ?? [], replayed.other[index]?.changes ?? []);
        for (const pair of pairs) addPair(answer, history.reference, pair);
      }
      countAlerts(alerts, history, replayed, since);
    },
    read: () => ({
      parties,
      answers,
      changes: tallies.changes.read(),
      baseline: tallies.baseline.read(),
      alerts,
      examples,
    }),
  };
}

/** Counts a party's alerts by their match: an alert that one side opens some nights later counts as opened under both. */
function countAlerts(
  alerts: Both & Record<'onlyOther' | 'onlyPresent', number>,
  { answers }: PartyHistory,
  replayed: Readonly<Record<Side, ReturnType<typeof replayAnswers>>>,
  since: Date | null,
): void {
  const listOpened = (side: Side): readonly string[] =>
    answers.flatMap(({ startedAt }, index) => {
      if (since !== null && startedAt < since) return [];
      return (replayed[side][index]?.opened ?? []).map(({ id }) => id);
    });
  const [present, other] = [listOpened('present'), listOpened('other')];
  // A match can open several alerts. Each alert of one side is paired with one of the other side, if it has one.
  const unpaired = [...other];
  for (const id of present) {
    const index = unpaired.indexOf(id);
    if (index === -1) alerts.onlyPresent += 1;
    else unpaired.splice(index, 1);
  }
  alerts.present += present.length;
  alerts.other += other.length;
  alerts.onlyOther += unpaired.length;
}

/** A change that would differ; `present` or `other` is null when that side has none. */
const toExample = (runId: string, reference: string, { id, name }: Match, { present, other }: EventPair) => ({
  runId,
  reference,
  listed: { id, name },
  present: toAssessed(present),
  other: toAssessed(other),
});

const toMatch = (change: MatchChange | null): Match | null =>
  change && (change.difference.after ?? change.difference.before);

const toAssessed = (change: MatchChange | null) =>
  change && { kind: change.difference.kind, severity: change.severity, rule: change.rule };

type HistoryAnswer = StoredAnswer & Parameters<typeof toRunId>[0];

/** All stored answers of one party on one account in order, without repeated answers. */
interface PartyHistory {
  reference: string;
  answers: readonly HistoryAnswer[];
}

type Histories = NonNullable<Awaited<ReturnType<typeof readHistory>>>;

/** The stored answers of these parties with the facts known at their time. */
function toPartyHistories({ answers: rows, matchSets, parties, decisions: said }: Histories): readonly PartyHistory[] {
  const facts = new Map(parties.map((party) => [`${party.partyId}/${party.version}`, party]));
  const decisions = gatherBy(said, toKey);
  const byParty = gatherBy(rows, toKey);
  return [...byParty].map(([key, rowsOfParty]) => {
    const decided = decisions.get(key) ?? [];
    const answers: HistoryAnswer[] = [];
    let reference = '';
    let previousSavedAt: Date | null = null;
    for (const row of rowsOfParty) {
      const matchSet = matchSets.get(row.responseId);
      const party = facts.get(`${row.partyId}/${row.customerVersion}`);
      if (matchSet === undefined || party === undefined) continue;
      const { birthDate, countries } = party.customer;
      answers.push({
        ...row,
        matchSet: treatAsTruncated(matchSet, row.cap),
        party: { birthDate, countries, riskTier: party.riskTier },
        customer: party.customer,
        said: party.said,
        trueMatchIds: findConfirmed(decided, row.savedAt),
        decidedIds: findDecided(decided, previousSavedAt, row.savedAt),
      });
      ({ reference } = party);
      previousSavedAt = row.savedAt;
    }
    return { reference, answers };
  });
}

const toKey = ({ partyId, accountId }: { partyId: number; accountId: number }): string => `${partyId}/${accountId}`;

/** The matches that were decided between two answers. Before the first answer (`after` is null) there are none to decide. */
function findDecided(decisions: Histories['decisions'], after: Date | null, until: Date): ReadonlySet<string> {
  if (after === null) return new Set();
  const between = decisions.filter(({ at }) => at > after && at <= until);
  const decided = between.filter(({ kind }) => kind === 'decided' || kind === 'true_match');
  return new Set(decided.map(({ matchId }) => matchId));
}

/** The matches whose last disposition by then is a true match, unless it was reversed or the match is absent. */
function findConfirmed(decisions: Histories['decisions'], until: Date): ReadonlySet<string> {
  const current = new Map<string, { isTrueMatch: boolean; isAway: boolean }>();
  for (const { matchId, kind, at } of decisions) {
    // The decisions are in the order of their times.
    if (at > until) break;
    const before = current.get(matchId) ?? { isTrueMatch: false, isAway: false };
    const isAway = kind === 'away' || (before.isAway && kind !== 'back');
    const isMoved = kind === 'away' || kind === 'back';
    current.set(matchId, { isAway, isTrueMatch: isMoved ? before.isTrueMatch : kind === 'true_match' });
  }
  return new Set([...current].flatMap(([id, { isTrueMatch, isAway }]) => (isTrueMatch && !isAway ? [id] : [])));
}

/** Counts under the present settings and under the others. */
type Both = Record<Side, number>;

type EventPair = Record<Side, MatchChange | null>;

/** Pairs the changes of one answer under two settings by their match, which can occur twice. */
function pairEvents(present: readonly MatchChange[], other: readonly MatchChange[]): readonly EventPair[] {
  const unpaired = gatherBy(other, toEventKey);
  const pairs = present.map(
    (change): EventPair => ({ present: change, other: unpaired.get(toEventKey(change))?.shift() ?? null }),
  );
  const onlyOther = [...unpaired.values()].flat();
  return [...pairs, ...onlyOther.map((change): EventPair => ({ present: null, other: change }))];
}

const toEventKey = ({ difference }: MatchChange): string =>
  JSON.stringify([difference.matchId, difference.after === null]);

/** Whether the severity differs, also because only one side has the event. */
const hasOtherSeverity = ({ present, other }: EventPair): boolean => present?.severity !== other?.severity;

/** Counts pairs of events; `read` returns the tally so far. */
function openTally() {
  const sums = { present: 0, other: 0, onlyOther: 0, onlyPresent: 0, otherSeverity: 0 };
  const kinds = new Map<MatchChangeKind, Both>();
  const bySeverity = new Map<Severity, Both>();
  const count = (side: Side, change: MatchChange | null): void => {
    if (change === null) return;
    sums[side] += 1;
    addTo(kinds, change.difference.kind, side);
    addTo(bySeverity, change.severity, side);
  };
  return {
    add: (pair: EventPair): void => {
      count('present', pair.present);
      count('other', pair.other);
      if (pair.present === null) sums.onlyOther += 1;
      else if (pair.other === null) sums.onlyPresent += 1;
      else if (hasOtherSeverity(pair)) sums.otherSeverity += 1;
    },
    read: () => ({
      ...sums,
      byKind: matchChangeKinds.flatMap((kind) => {
        const both = kinds.get(kind);
        return both ? [{ kind, ...both }] : [];
      }),
      bySeverity: severities.flatMap((severity) => {
        const both = bySeverity.get(severity);
        return both ? [{ severity, ...both }] : [];
      }),
    }),
  };
}

function addTo<Key>(counts: Map<Key, Both>, key: Key, side: Side): void {
  const both = counts.get(key) ?? { present: 0, other: 0 };
  counts.set(key, { ...both, [side]: both[side] + 1 });
}
