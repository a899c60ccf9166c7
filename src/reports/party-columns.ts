import type { PartyFacts } from './list-facts.js';
import type { Column } from './render-csv.js';

/** The columns that say who a line is about, the same in every CSV file. */
export function partyColumns<Line>(toParty: (line: Line) => PartyFacts | null): readonly Column<Line>[] {
  return [
    { header: 'reference', cell: (line) => toParty(line)?.reference ?? null },
    { header: 'role', cell: (line) => toParty(line)?.role ?? null },
    { header: 'type', cell: (line) => readType(toParty(line)) },
    { header: 'name', cell: (line) => toParty(line)?.name ?? null },
    { header: 'birth_date', cell: (line) => toParty(line)?.birthDate ?? null },
    { header: 'countries', cell: (line) => toParty(line)?.countries.join('; ') ?? null },
    { header: 'risk_tier', cell: (line) => toParty(line)?.riskTier ?? null },
  ];
}

/** Of an id without a readable record no type is known either. */
const readType = (party: PartyFacts | null): string | null => (party === null || party.name === '' ? null : party.type);
