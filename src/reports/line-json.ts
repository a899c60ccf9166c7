import type { Match } from '../matches/match.js';
import { toChangeItemJson } from './change-item-json.js';
import type { ReportJson } from './report-json.js';
import type { MatchChangeFacts, NotScreenedFacts, PartyFacts } from './run-facts.js';

/** A change of a match as `report.json` holds it; `group` names the group of changes that it is one of. */
export function toMatchChangeJson(change: MatchChangeFacts): ReportJson['baselineChanges'][number] {
  const { changeId, runId, severity, kind, cause, rule, corroboration, matchId } = change;
  return {
    changeId,
    runId,
    severity,
    group: change.flood ?? null,
    kind,
    cause,
    rule,
    adjustments: [...change.adjustments],
    corroboration: corroboration && { birthDate: corroboration.birthDate, country: corroboration.country },
    party: toPartyJson(change.party),
    formerParty: change.formerParty && toPartyJson(change.formerParty),
    matchId,
    fields: [...change.fields],
    before: toMatch(change.before),
    after: toMatch(change.after),
    item: toChangeItemJson(change.item),
  };
}

/** Who is not screened as `report.json` holds it. */
export function toNotScreenedJson(line: NotScreenedFacts): NonNullable<ReportJson['notScreened']>[number] {
  return {
    // Of an id without a readable record no type is known either.
    party: { ...toPartyJson(line.party), type: line.party.name === '' ? null : line.party.type },
    outcome: line.outcome,
    reason: line.reason,
    lastScreenedAt: line.lastScreenedAt?.toISOString() ?? null,
  };
}

/** A party as `report.json` holds it. */
export function toPartyJson(party: PartyFacts): ReportJson['droppedParties'][number]['party'] {
  const { reference, role, type, name, birthDate, countries, riskTier } = party;
  return { reference, role, type, name, birthDate, countries: [...countries], riskTier };
}

function toMatch(match: Match | null): ReportJson['baselineChanges'][number]['before'] {
  if (match === null) return null;
  const { rank, id, name, schema, isHit, score, topics, birthDates, countries } = match;
  return {
    rank,
    id,
    name,
    schema,
    isHit,
    score,
    topics: [...topics],
    birthDates: [...birthDates],
    countries: [...countries],
  };
}
