import type { MatchChange } from '../changes/match-changes.js';
import { replayAnswers, type StoredAnswer } from '../changes/replay-answers.js';
import { type Match, treatAsTruncated } from '../matches/match.js';
import { countStoredChanges, readHistory } from '../store/responses.js';
import { toRunId } from '../store/runs.js';
import { type MatchChangeKind, matchChangeKinds, type Severity, severities } from '../vocabulary.js';
import type { AppContext } from './app-context.js';
import { compareSettings } from './settings-acceptance.js';

/** Groups members by key, in their order. */
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

const partiesAtOnce = 250;
const mostExamples = 10;

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
  const tallies = { changes: openTally(), baseline: openTally() };
  const alerts = { present: 0, other: 0, onlyOther: 0, onlyPresent: 0 };
  /** Changes that would differ; `present` or `other` is null when it has none. */
  const examples: ({ runId: string; reference: string; listed: Pick<Match, 'id' | 'name'> } & Record<
    keyof Both,
    ReturnType<typeof toAssessed>
  >)[] = [];
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
    countAlerts(alerts, history, { present, other: others }, since);
  };
  // A repeat after a lost connection would count twice.
  const once = { runsOnce: true };
  const stored = await database.transaction(async (transaction) => {
    await transaction.execute('set transaction isolation level repeatable read, read only');
    for (let after = 0; ; ) {
      const histories = await readHistory(transaction, settings.organisation, after, partiesAtOnce);
      if (histories === null) break;
      for (const history of toPartyHistories(histories)) take(history);
      after = histories.last;
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
    alerts,
    examples,
  };
}

/** Counts a party's alerts by their match: an alert that one side opens some nights later counts as opened under both. */
function countAlerts(
  alerts: Omit<EventTally, 'otherSeverity' | 'byKind' | 'bySeverity'>,
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
    if (place === -1) alerts.onlyPresent += 1;
    else left.splice(place, 1);
  }
  alerts.present += present.length;
  alerts.other += other.length;
  alerts.onlyOther += left.length;
}

const toMatch = (change: MatchChange | null): Match | null =>
  change && (change.difference.after ?? change.difference.before);

const toAssessed = (change: MatchChange | null) =>
  change && { kind: change.difference.kind, severity: change.severity, rule: change.rule };

/** All stored answers of one party on one account in order, without repeated answers. */
interface PartyHistory {
  reference: string;
  partyId: number;
  answers: readonly (StoredAnswer & Parameters<typeof toRunId>[0])[];
}

type Histories = NonNullable<Awaited<ReturnType<typeof readHistory>>>;

/** The stored answers of these parties with the facts known at their time. */
function toPartyHistories({ answers: rows, matchSets, parties, decisions: said }: Histories): readonly PartyHistory[] {
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
          trueMatchIds: findConfirmed(decided, answer.savedAt),
          decidedIds: findDecided(decided, before, answer.savedAt),
        },
      ];
    });
    return { reference, partyId: answers[0]?.partyId ?? 0, answers: stored };
  });
}

const toKey = ({ partyId, accountId }: { partyId: number; accountId: number }): string => `${partyId}/${accountId}`;

function findDecided(decisions: Histories['decisions'], after: Date | null, until: Date): ReadonlySet<string> {
  const isBetween = ({ at, kind }: Histories['decisions'][number]): boolean =>
    (kind === 'decided' || kind === 'true_match') && after !== null && at > after && at <= until;
  return new Set(decisions.filter(isBetween).map(({ matchId }) => matchId));
}

/** The matches whose last disposition by then is a true match, unless it was reversed or the match is absent. */
function findConfirmed(decisions: Histories['decisions'], until: Date): ReadonlySet<string> {
  const current = new Map<string, { isTrueMatch: boolean; isAway: boolean }>();
  for (const { matchId, kind, at } of decisions) {
    if (at > until) break;
    const before = current.get(matchId) ?? { isTrueMatch: false, isAway: false };
    const isAway = kind === 'away' || (before.isAway && kind !== 'back');
    const isMoved = kind === 'away' || kind === 'back';
    current.set(matchId, { isAway, isTrueMatch: isMoved ? before.isTrueMatch : kind === 'true_match' });
  }
  return new Set([...current].flatMap(([id, { isTrueMatch, isAway }]) => (isTrueMatch && !isAway ? [id] : [])));
}

/** Counts under the present settings and under the others. */
interface Both {
  present: number;
  other: number;
}

interface EventTally extends Both {
  /** Only under the other settings, and only under the present ones. */
  onlyOther: number;
  onlyPresent: number;
  otherSeverity: number;
  byKind: readonly (Both & { kind: MatchChangeKind })[];
  bySeverity: readonly (Both & { severity: Severity })[];
}

type EventPair = Record<keyof Both, MatchChange | null>;

/** Pairs the changes of one answer under two settings by their match, which can occur twice. */
function pairEvents(present: readonly MatchChange[], other: readonly MatchChange[]): readonly EventPair[] {
  const waiting = gatherBy(other, toEventKey);
  const pairs = present.map(
    (change): EventPair => ({ present: change, other: waiting.get(toEventKey(change))?.shift() ?? null }),
  );
  return [...pairs, ...[...waiting.values()].flat().map((change): EventPair => ({ present: null, other: change }))];
}

const toEventKey = ({ difference }: MatchChange): string =>
  JSON.stringify([difference.matchId, difference.after === null]);

const isOtherwise = ({ present, other }: EventPair): boolean => present?.severity !== other?.severity;

/** Counts pairs of events; `read` returns the tally so far. */
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
