import { foldName, type NameToken } from '../names/words.js';
import type { DiscrepancyKind } from './discrepancy.js';

/**
 * An applicant of a dossier as its fetched record says (interface: Single-record lookups, entity), beside the parties of the customer as the
 * roster has them; dates and countries as in `Party`.
 */
interface ApplicantBesideParties {
  name: string | null;
  birthDate: string | null;
  country: string | null;
  parties: readonly { name: string; birthDate: string | null; countries: readonly string[] }[];
  isCompany: boolean;
}

/** Compares an applicant of a customer's dossier with the customer's parties: it has to be one of them, born on the same day in a known country. */
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

/** Whether two dates of a year, a month or a day cannot be the same; one with `?` contradicts none. */
const areApart = (one: string, other: string): boolean =>
  !one.endsWith('?') && !other.endsWith('?') && !one.startsWith(other) && !other.startsWith(one);

/**
 * Whether two names may be of the same person or company: case, accents, order, scripts, particles, legal forms, initials and further given
 * names make no difference. A single name in common with a longer one is not enough. It reports conflicts, and never clears anybody.
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

/** Enough for most pairs, at a tenth of the cost: the same words but for case, accents, order and punctuation. Never empty. */
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

/** The words that show who is meant; where a name has no others, all of them. */
function toSignificant(name: string): readonly NameToken[] {
  const tokens = foldName(name);
  const significant = tokens.filter(({ isFiller }) => !isFiller);
  return significant.length === 0 ? tokens : significant;
}

/** Whether the same letters are divided into words in other places, whichever word comes first. */
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
