import type { DiscrepancyKind } from './discrepancy.js';
import { namesAgree } from './names-agree.js';

/** One party of a customer as the roster has it; dates and countries as in `Party`. */
export interface KnownParty {
  name: string;
  birthDate: string | null;
  countries: readonly string[];
}

/** An applicant of a dossier as its fetched record says (interface: Single-record lookups, entity). */
export interface Applicant {
  name: string | null;
  birthDate: string | null;
  country: string | null;
}

/** A disagreement about an applicant, with both values. */
export interface ApplicantFinding {
  kind: DiscrepancyKind;
  facts: Readonly<Record<string, string>>;
}

/** Compares an applicant of a customer's dossier with the customer's parties: it has to be one of them, born on the same day in a known country. */
export function compareApplicant(
  { name, birthDate, country }: Applicant,
  parties: readonly KnownParty[],
  isCompany: boolean,
): readonly ApplicantFinding[] {
  if (name === null) return [];
  const party = parties.find((known) => namesAgree(known.name, name));
  if (party === undefined) {
    const kind = isCompany ? 'unscreened_dossier_party' : 'verified_name_not_searched';
    return [{ kind, facts: { dossierName: name } }];
  }
  const findings: ApplicantFinding[] = [];
  if (birthDate !== null && party.birthDate !== null && areApart(birthDate, party.birthDate)) {
    findings.push({ kind: 'birth_date_conflict', facts: { rosterDate: party.birthDate, dossierDate: birthDate } });
  }
  const known = party.countries.filter((code) => code.length === 2 && code !== 'zz');
  if (country !== null && known.length > 0 && known.length === party.countries.length && !known.includes(country)) {
    findings.push({ kind: 'country_conflict', facts: { rosterCountries: known.join(', '), dossierCountry: country } });
  }
  return findings;
}

/** Whether two dates of a year, a month or a day cannot be the same; one with `?` contradicts none. */
const areApart = (one: string, other: string): boolean =>
  !one.endsWith('?') && !other.endsWith('?') && !one.startsWith(other) && !other.startsWith(one);
