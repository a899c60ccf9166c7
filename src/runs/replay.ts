import type { MatchChange } from '../changes/match-changes.js';
import { replayAnswers, type StoredAnswer } from '../changes/replay-answers.js';
import { type Match, treatAsTruncated } from '../matches/match.js';
import type { Queryable } from '../store/database/database.js';
import { countStoredChanges, type HistoricalDecision, listParties, readHistory } from '../store/responses.js';
import { toRunId } from '../store/runs.js';
import { type MatchChangeKind, matchChangeKinds, type Severity, severities } from '../vocabulary.js';
import type { AppContext } from './app-context.js';
import { compareSettings } from './settings-acceptance.js';

/** The members in their order, by key. */
export function gatherBy<Member, Key>(
  members: readonly Member[],
  toKey: (member: Member) => Key,
): ReadonlyMap<Key, Member[]> {
  const byKey = new Map<Key, Member[]>();
  for (const member of members) {
    const known = byKey.get(toKey(member));
    if (known) known.push(member);
    else byKey.set(toKey(member), [member]);
  }
  return byKey;
}

/** What stored answers come to under other settings. */
export interface Replay {
  since: Date | null;
  parties: number;
  /** Answers judged; those that repeat the one before show nothing under any settings, and are not counted. */
  answers: number;
  /** Settings that are otherwise, in words: those that were evaluated, and those that cannot be from stored answers. */
  evaluated: readonly string[];
  notEvaluated: readonly string[];
  /** What the runs themselves have stored, each under the settings of its night. */
  stored: { changes: number; baseline: number };
  changes: EventTally;
  /** Matches of first screenings. */
  baseline: EventTally;
  /** Items that reviewers would have been given. */
  items: Both & { onlyOther: number; onlyPresent: number };
  /** Changes that would be others; `present` or `other` is null where there would be none. */
  examples: readonly ({
    runId: string;
    /** The customer's reference. */
    reference: string;
    listed: Pick<Match, 'id' | 'name'>;
  } & Record<keyof Both, { kind: MatchChangeKind; severity: Severity; rule: string } | null>)[];
}

const partiesAtOnce = 250;
const mostExamples = 10;

/**
 * Judges all stored answers once more, under the settings in force and under others, and counts what differs in runs begun since then.
 * Reads in one transaction that cannot write, some parties at a time, and asks the service nothing.
 */
export async function replaySettings(
  { database, settings }: AppContext,
  other: Parameters<typeof compareSettings>[1],
  since: Date | null,
): Promise<Replay> {
  const { differences } = compareSettings(settings, other);
  const tallies = { changes: openTally(), baseline: openTally() };
  const items = { present: 0, other: 0, onlyOther: 0, onlyPresent: 0 };
  const examples: Replay['examples'][number][] = [];
  let [parties, answers] = [0, 0];
  const take = (history: PartyHistory): void => {
    const present = replayAnswers(history.answers, settings.changes);
    const others = replayAnswers(history.answers, other.changes);
    parties += 1;
    for (const [index, answer] of history.answers.entries()) {
      if (since !== null && answer.startedAt < since) continue;
      answers += 1;
      const [ours, theirs] = [present[index], others[index]];
      for (const pair of pairEvents(ours?.changes ?? [], theirs?.changes ?? [])) {
        const isBaseline = pair.present?.isBaseline ?? pair.other?.isBaseline ?? false;
        (isBaseline ? tallies.baseline : tallies.changes).add(pair);
        const match = toMatch(pair.present ?? pair.other);
        if (!isOtherwise(pair) || match === null || examples.length >= mostExamples) continue;
        const { id, name } = match;
        const reported = { present: toAssessed(pair.present), other: toAssessed(pair.other) };
        examples.push({ runId: toRunId(answer), reference: history.reference, listed: { id, name }, ...reported });
      }
    }
    countItems(items, history, { present, other: others }, since);
  };
  // The tallies would count again what a lost connection has broken off.
  const once = { runsOnce: true };
  const stored = await database.transaction(async (transaction) => {
    await transaction.execute('set transaction isolation level repeatable read, read only');
    let after = 0;
    for (;;) {
      const partyIds = await listParties(transaction, settings.organisation, after, partiesAtOnce);
      const last = partyIds.at(-1);
      if (last === undefined) break;
      for (const history of await readStoredAnswers(transaction, partyIds)) take(history);
      after = last;
    }
    return countStoredChanges(transaction, settings.organisation, since);
  }, once);
  const isEvaluated = (words: string): boolean => words.startsWith('changes.');
  return {
    since,
    parties,
    answers,
    evaluated: differences.filter(isEvaluated),
    notEvaluated: differences.filter((words) => !isEvaluated(words)),
    stored,
    changes: tallies.changes.read(),
    baseline: tallies.baseline.read(),
    items,
    examples,
  };
}

/** Counts a party's items by their match: one that is opened some nights later under the other settings is opened under both. */
function countItems(
  items: Replay['items'],
  { answers }: PartyHistory,
  replayed: Readonly<Record<keyof Both, ReturnType<typeof replayAnswers>>>,
  since: Date | null,
): void {
  const open = (side: keyof Both): readonly string[] =>
    answers.flatMap(({ startedAt }, index) =>
      since !== null && startedAt < since ? [] : (replayed[side][index]?.opened ?? []).map(({ id }) => id),
    );
  const [present, other] = [open('present'), open('other')];
  const left = [...other];
  for (const id of present) {
    const place = left.indexOf(id);
    if (place === -1) items.onlyPresent += 1;
    else left.splice(place, 1);
  }
  items.present += present.length;
  items.other += other.length;
  items.onlyOther += left.length;
}

const toMatch = (change: MatchChange | null): Match | null =>
  change && (change.difference.after ?? change.difference.before);

const toAssessed = (change: MatchChange | null) =>
  change && { kind: change.difference.kind, severity: change.severity, rule: change.rule };

/** All stored answers of one party on one account, in their order; what repeats the answer before is left out. */
interface PartyHistory {
  reference: string;
  partyId: number;
  answers: readonly (StoredAnswer & Parameters<typeof toRunId>[0])[];
}

/** The stored answers of these parties, with what was known beside each when it came. */
async function readStoredAnswers(database: Queryable, partyIds: readonly number[]): Promise<readonly PartyHistory[]> {
  const { answers: rows, matchSets, parties, decisions: said } = await readHistory(database, partyIds);
  const facts = new Map(parties.map((party) => [`${party.partyId}/${party.version}`, party]));
  const decisions = gatherBy(said, toKey);
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
          matchSet: treatAsTruncated(matchSet, answer.cap),
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
  const current = new Map<string, { isConfirmed: boolean; isAway: boolean }>();
  for (const { matchId, kind, at } of decisions) {
    if (at > until) break;
    const before = current.get(matchId) ?? { isConfirmed: false, isAway: false };
    const isAway = kind === 'away' || (before.isAway && kind !== 'back');
    const isMoved = kind === 'away' || kind === 'back';
    current.set(matchId, { isAway, isConfirmed: isMoved ? before.isConfirmed : kind === 'confirmed_match' });
  }
  return new Set([...current].flatMap(([id, { isConfirmed, isAway }]) => (isConfirmed && !isAway ? [id] : [])));
}

/** How many there are under the present settings and under the others. */
interface Both {
  present: number;
  other: number;
}

/** How events under two settings compare. */
interface EventTally extends Both {
  /** Under the other settings only, and under the present ones only. */
  onlyOther: number;
  onlyPresent: number;
  otherSeverity: number;
  byKind: readonly (Both & { kind: MatchChangeKind })[];
  bySeverity: readonly (Both & { severity: Severity })[];
}

/** One event under two settings; null where there is none. */
type EventPair = Record<keyof Both, MatchChange | null>;

/** Pairs the changes that one answer shows under two settings: by the match that they are about, which may occur twice. */
function pairEvents(present: readonly MatchChange[], other: readonly MatchChange[]): readonly EventPair[] {
  const waiting = gatherBy(other, toEventKey);
  const pairs = present.map(
    (change): EventPair => ({ present: change, other: waiting.get(toEventKey(change))?.shift() ?? null }),
  );
  return [...pairs, ...[...waiting.values()].flat().map((change): EventPair => ({ present: null, other: change }))];
}

const toEventKey = ({ difference }: MatchChange): string =>
  JSON.stringify([difference.matchId, difference.after === null]);

/** Whether somebody would read something else. */
const isOtherwise = ({ present, other }: EventPair): boolean => present?.severity !== other?.severity;

/** Counts pairs of events as they come; `read` gives the tally so far. */
function openTally(): { add(pair: EventPair): void; read(): EventTally } {
  const sums = { present: 0, other: 0, onlyOther: 0, onlyPresent: 0, otherSeverity: 0 };
  const kinds = new Map<MatchChangeKind, Both>();
  const bySeverity = new Map<Severity, Both>();
  const count = (side: keyof Both, change: MatchChange | null): void => {
    if (change === null) return;
    sums[side] += 1;
    addTo(kinds, change.difference.kind, side);
    addTo(bySeverity, change.severity, side);
  };
  return {
    add: (pair) => {
      count('present', pair.present);
      count('other', pair.other);
      if (pair.present === null) sums.onlyOther += 1;
      else if (pair.other === null) sums.onlyPresent += 1;
      else if (isOtherwise(pair)) sums.otherSeverity += 1;
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

function addTo<Key>(counts: Map<Key, Both>, key: Key, side: keyof Both): void {
  const both = counts.get(key) ?? { present: 0, other: 0 };
  counts.set(key, { ...both, [side]: both[side] + 1 });
}
