import anyAscii from 'any-ascii';

/** The part of a customer's record that guards compare. */
export interface ComparedRecord {
  riskTier: string | null;
  /** The source texts of the customer's facts in doubt. */
  doubts?: Readonly<Record<string, string>> | undefined;
  parties: readonly (ComparedParty | null)[];
}

/** A party of a compared record. */
export interface ComparedParty {
  role: string;
  type: string;
  name: string;
  birthDate: string | null;
  countries: readonly string[];
}

/** The settings that read the facts of customers and related parties, by their path in the roster's settings. */
export type FactMapping = Readonly<Record<string, unknown>>;

/** The facts that another mapping reads than before: another value of them is no change. */
export interface RereadFacts {
  own: ReadonlySet<string>;
  related: ReadonlySet<string>;
}

/** The facts of settings that have changed, given by their paths. */
export function toReread(paths: readonly string[]): RereadFacts {
  const [own, related] = [new Set<string>(), new Set<string>()];
  for (const path of paths) {
    const fact = path.slice(path.lastIndexOf('.') + 1);
    const facts = fact === 'language' ? ['birthDate', 'countries'] : [fact];
    const isOfRoster = path === `columns.${fact}`;
    for (const each of facts) {
      if (isOfRoster) own.add(each);
      // Related parties share the language of their roster.
      if (!isOfRoster || fact === 'language') related.add(each);
    }
  }
  return { own, related };
}

/** The customer itself; null where the record has only others. */
export const findOwn = ({ parties }: ComparedRecord): ComparedParty | null =>
  parties[0]?.role === 'customer' ? parties[0] : null;

/** The aliases and related parties. */
export const findOthers = ({ parties }: ComparedRecord): readonly ComparedParty[] =>
  parties.filter(
    (party): party is ComparedParty => party !== null && party.role !== 'customer' && party.role !== 'conflicting_row',
  );

/**
 * Compares two records. Material: another name, type or birth date, a lost party or a lost value. Case, accents, word
 * order and new parties do not count, nor do other values of facts that are read anew or were in doubt.
 */
export function compareRecords(before: ComparedRecord, after: ComparedRecord, reread: RereadFacts) {
  const [own, now] = [findOwn(before), findOwn(after)];
  const isPartyLost = isAnyLost(findOthers(before), findOthers(after), reread);
  if (own === null || now === null) return { isMaterial: isPartyLost, areCountries: false };
  const isMaterial =
    isPartyLost ||
    (own.type !== now.type && !reread.own.has('type')) ||
    isOtherBirth(own, now, reread.own) ||
    (own.countries.length > 0 && now.countries.length === 0) ||
    !isSameName(own.name, now.name);
  const isInDoubt = before.doubts?.['countries'] !== undefined;
  return {
    isMaterial,
    areCountries: !reread.own.has('countries') && areOther(own.countries, now.countries, isInDoubt),
  };
}

/** Further countries of a customer whose countries were in doubt are no change. */
function areOther(former: readonly string[], now: readonly string[], isInDoubt: boolean): boolean {
  if (isInDoubt && now.length > 0) return hasOther(former.filter(isReadable), now);
  return former.length !== now.length || hasOther(former, now);
}

const isReadable = (country: string): boolean => country !== 'zz';

const hasOther = (former: readonly string[], now: readonly string[]): boolean => {
  const left = new Set(now);
  return former.some((one) => !left.has(one));
};

/** An unknown date, or one with only a year, counts as unchanged when it becomes more precise or more certain. */
function isOtherBirth(before: ComparedParty, after: ComparedParty, reread: ReadonlySet<string>): boolean {
  const [former, now] = [before.birthDate, after.birthDate];
  if (former === null) return false;
  if (now === null) return true;
  return !reread.has('birthDate') && !former.endsWith('?') && !now.startsWith(former);
}

function isAnyLost(before: readonly ComparedParty[], after: readonly ComparedParty[], reread: RereadFacts): boolean {
  if (before.length === 0) return false;
  // An alias has the facts of its customer; other parties have a mapping of their own.
  const toFacts = ({ role }: ComparedParty) => (role === 'alias' ? reread.own : reread.related);
  // The role is not screened.
  const toPartyKey = (party: ComparedParty): string =>
    `${toFacts(party).has('type') ? '' : party.type} ${toKey(toTokens(party.name))}`;
  const left = new Map<string, ComparedParty[]>();
  for (const party of after) {
    const same = left.get(toPartyKey(party));
    if (same) same.push(party);
    else left.set(toPartyKey(party), [party]);
  }
  return before.some((party) => {
    const same = left.get(toPartyKey(party)) ?? [];
    return same.every((one) => isOtherBirth(party, one, toFacts(party)));
  });
}

const latin = /\p{Script=Latin}+/gu;
const words = /[\p{L}\p{M}\p{N}]+/gu;

/** The words of a name without case and accents; letters of other scripts are kept. */
export function toTokens(name: string): readonly string[] {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{Script=Inherited}/gu, '')
    .replace(latin, anyAscii);
  return plain.toLowerCase().match(words) ?? [plain];
}

/** The words of a name in one order. */
export const toKey = (tokens: readonly string[]): string =>
  tokens.length < 2 ? (tokens[0] ?? '') : tokens.toSorted().join(' ');

/** Whether two names differ at most in case, accents and the order of words. */
export const isSameName = (one: string, other: string): boolean =>
  one === other || toKey(toTokens(one)) === toKey(toTokens(other));
