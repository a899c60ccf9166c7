import { foldName, type NameToken } from '../names/words.js';
import type { DiscrepancyKind } from '../vocabulary.js';

/** An applicant of a dossier (interface: Single-record lookups, entity) with the customer's parties; dates and countries as in `Party`. */
interface ApplicantBesideParties {
  name: string | null;
  birthDate: string | null;
  country: string | null;
  parties: readonly { name: string; birthDate: string | null; countries: readonly string[] }[];
  isCompany: boolean;
}

/** Compares an applicant with the customer's parties: it must be one of them, with the same birth date and a known country. */
export function compareApplicant({
  name,
  birthDate,
  country,
  parties,
  isCompany,
}: ApplicantBesideParties): readonly { kind: DiscrepancyKind; facts: Readonly<Record<string, string>> }[] {
  if (name === null) return [];
  const party = parties.find((known) => namesAgree(known.name, name));
  if (party === undefined) {
    const kind = isCompany ? 'unscreened_dossier_party' : 'verified_name_not_searched';
    return [{ kind, facts: { dossierName: name } }];
  }
  const findings: { kind: DiscrepancyKind; facts: Record<string, string> }[] = [];
  if (birthDate !== null && party.birthDate !== null && areApart(birthDate, party.birthDate)) {
    findings.push({ kind: 'birth_date_conflict', facts: { rosterDate: party.birthDate, dossierDate: birthDate } });
  }
  const known = party.countries.filter((code) => code.length === 2 && code !== 'zz');
  if (country !== null && known.length > 0 && known.length === party.countries.length && !known.includes(country)) {
    findings.push({ kind: 'country_conflict', facts: { rosterCountries: known.join(', '), dossierCountry: country } });
  }
  return findings;
}

/** Whether two dates (year, month or day) differ; a date with `?` never does. */
const areApart = (one: string, other: string): boolean =>
  !one.endsWith('?') && !other.endsWith('?') && !one.startsWith(other) && !other.startsWith(one);

/**
 * Whether two names may belong to the same person or company. Case, accents, order, scripts, particles, legal forms, initials and further given
 * names are ignored. One common word with a longer name is not enough. The result finds conflicts only; it clears no customer.
 */
export function namesAgree(left: string, right: string): boolean {
  if (toSortedWords(left) === toSortedWords(right)) return true;
  const [one, other] = [toSignificant(left), toSignificant(right)];
  if (one.length === 0 || other.length === 0) return left.trim() === right.trim();
  if (areWrittenTogether(one, other)) return true;
  const [few, many] = one.length <= other.length ? [one, other] : [other, one];
  if (few.length === 1 && many.length > 1) return false;
  const rest = [...many];
  let isWritten = false;
  for (const token of [...few].sort((a, b) => b.text.length - a.text.length)) {
    const at = rest.findIndex((candidate) => isSame(token, candidate));
    if (at === -1) return false;
    isWritten ||= token.text.length > 1 && (rest[at]?.text.length ?? 0) > 1;
    rest.splice(at, 1);
  }
  return isWritten;
}

/** The words without case, accents, order and punctuation; never empty. This test decides most pairs at a tenth of the cost. */
const toSortedWords = (name: string): string =>
  (
    name
      .normalize('NFKD')
      .replace(/\p{Script=Inherited}/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [name]
  )
    .sort()
    .join(' ');

/** The significant words of a name; all words if it has only fillers. */
function toSignificant(name: string): readonly NameToken[] {
  const tokens = foldName(name);
  const significant = tokens.filter(({ isFiller }) => !isFiller);
  return significant.length === 0 ? tokens : significant;
}

/** Whether both names have the same letters with other word breaks, beginning with any word. */
function areWrittenTogether(one: readonly NameToken[], other: readonly NameToken[]): boolean {
  const letters = other.map(toText).join('');
  const words = one.map(toText);
  return words.some((_, at) => [...words.slice(at), ...words.slice(0, at)].join('') === letters);
}

/** Umlauts are written with an e or without. */
const toText = ({ text }: NameToken): string => text.replace(/([aou])e/g, '$1');

function isSame(one: NameToken, other: NameToken): boolean {
  if (toText(one) === toText(other) || one.sound === other.sound) return true;
  if (one.isVowelless || other.isVowelless) return one.skeleton === other.skeleton;
  const [short, long] = one.text.length <= other.text.length ? [one, other] : [other, one];
  return short.text.length === 1 && long.text.startsWith(short.text);
}
