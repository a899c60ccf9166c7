import { guessPartySeparator } from '../name-lists.js';
import { readRelatedHeader } from '../related-headers.js';
import { rosterSettingsSchema } from '../settings.js';
import { type ProposedParty, proposeNames, UnmappedNameTally } from '../unmapped-names.js';
import { type ColumnProfile, enough, type Guess, toHeaders } from './column-profile.js';

/** Guesses and gives the columns of the name: the known headers that name the most rows, otherwise by the values. */
export function guessName(guess: Guess): readonly ColumnProfile[] {
  const [best] = listNames(guess).toSorted((one, other) => other.covered - one.covered);
  if (best === undefined || best.covered === 0) {
    return guessNameByValues(guess);
  }
  const columns = withMissing(guess, withUnnamed(guess, best.columns));
  guess.columns.name = toHeaders(columns);
  guess.take('name', columns.length === 1 ? 'by its header' : 'by their headers', ...columns);
  const company = guess.byRole('company');
  if (company && company.filledShare > 0.02 && columns.every(({ role }) => role !== 'company')) {
    guess.doubts.push(
      `${company.header} is not part of the name, because its rows have another name too: if it names customers, write name: ${JSON.stringify([...columns, company].map(({ header }) => header))}`,
    );
  }
  return columns;
}

/** Completes a first name without a last name, or the reverse, by a neighbouring column of names. */
function withUnnamed(guess: Guess, columns: readonly ColumnProfile[]): readonly ColumnProfile[] {
  const isHalf = columns.every(
    ({ role, severalWordsShare }) => role !== 'name' && role !== 'company' && severalWordsShare < 0.2,
  );
  const isOfOne = new Set(columns.map(({ role }) => role === 'last_name')).size === 1;
  const [first] = columns;
  if (!isHalf || !isOfOne || first === undefined) return columns;
  const place = guess.free.indexOf(first);
  const [other] = guess.unnamed
    .filter(isOfNames)
    .map((profile) => ({ profile, distance: Math.abs(guess.free.indexOf(profile) - place) }))
    .filter(({ distance }) => distance <= columns.length)
    .toSorted((one, another) => one.distance - another.distance);
  if (other === undefined) return columns;
  guess.doubts.push(`${other.profile.header} is used as the rest of the name because of its values only`);
  return [...columns, other.profile];
}

/** Adds the column of names that is filled for most rows without a name and hardly any other. */
function withMissing(guess: Guess, columns: readonly ColumnProfile[]): readonly ColumnProfile[] {
  const rows = columns[0]?.values.length ?? 0;
  const missing = Array.from({ length: rows }, (_, row) => row).filter((row) =>
    columns.every(({ values }) => values[row] === ''),
  );
  if (missing.length <= rows / 50) return columns;
  const others = guess.free.filter((profile) => {
    const isOfCompanies = profile.role === 'company';
    const mayBeName = profile.role === 'name' || isOfCompanies || (profile.isOpen && isOfNames(profile));
    if (!mayBeName || columns.includes(profile) || readRelatedHeader(profile.header).says === 'related') return false;
    const filled = missing.filter((row) => profile.values[row] !== '').length;
    // Sole traders have a trade name beside their own.
    return filled > missing.length * 0.8 && filled > profile.filled * (isOfCompanies ? 0.5 : 0.8);
  });
  const other = others.find(({ role }) => role === 'company') ?? others[0];
  if (other === undefined) return columns;
  guess.doubts.push(`${other.header} is used as the name of rows without another one`);
  return [...columns, other];
}

/** Possible columns of the name with the share of rows that they name, the likeliest first. */
function listNames(guess: Guess) {
  const first = guess.byRole('first_name');
  const middle = guess.byRole('middle_name');
  const last = guess.byRole('last_name');
  const company = guess.byRole('company');
  const wholes = guess.ofRole('name');
  const isWhole = (whole: ColumnProfile): boolean =>
    first === undefined || first.filledShare < 0.02 || holdsAnother(whole, first);
  const parts = [first, middle, last ?? wholes.find((whole) => !isWhole(whole))].filter((part) => part !== undefined);
  const toOptions = (isMeant: (whole: ColumnProfile) => boolean): (readonly ColumnProfile[])[] =>
    wholes.filter((whole) => isMeant(whole) && isWhole(whole)).map((whole) => [whole, ...findFurther(guess, whole)]);
  const joined = parts.length > 0 ? [parts.flatMap((part) => [part, ...findFurther(guess, part)])] : [];
  const weak = toOptions(({ strength }) => strength === 1).map((columns) => withCompany(columns, company));
  const options = [...toOptions(({ strength }) => strength > 1), ...joined].map((columns) =>
    withCompany(columns, company),
  );
  const all = [...options, ...(company ? [[company, ...findFurther(guess, company)]] : []), ...weak];
  // One percent of the rows does not justify a worse column.
  return all.map((columns) => ({ columns, covered: Math.round(measureCover(columns) * 100) }));
}

/** Finds `NAME2` after `NAME1`. */
function findFurther({ free }: Guess, { header }: ColumnProfile): readonly ColumnProfile[] {
  if (!/1\D*$/.test(header)) return [];
  const next = header.replace(/1(\D*)$/, '2$1');
  return free.filter((profile) => profile.header === next && profile.filled > 0);
}

/** A company column belongs to the name if its rows have no other name; beside names it is usually the employer. */
function withCompany(columns: readonly ColumnProfile[], company: ColumnProfile | undefined): readonly ColumnProfile[] {
  if (company === undefined || company.filled === 0) return columns;
  const alone = company.values.filter(
    (value, row) => value !== '' && columns.every(({ values }) => values[row] === ''),
  );
  return alone.length >= 0.8 * company.filled ? [...columns, company] : columns;
}

function measureCover(columns: readonly ColumnProfile[]): number {
  const rows = columns[0]?.values.length ?? 0;
  let covered = 0;
  for (let row = 0; row < rows; row += 1) if (columns.some(({ values }) => values[row] !== '')) covered += 1;
  return rows === 0 ? 0 : covered / rows;
}

/** Whether the texts of one column contain those of the other and more. */
function holdsAnother(whole: ColumnProfile, part: ColumnProfile): boolean {
  let [both, held] = [0, 0];
  for (const [row, value] of part.values.entries()) {
    const text = whole.values[row] ?? '';
    if (value === '' || text === '') continue;
    both += 1;
    if (text.toLowerCase().includes(value.toLowerCase()) && text.length > value.length) held += 1;
  }
  return both === 0 || held > both / 2;
}

function guessNameByValues(guess: Guess): readonly ColumnProfile[] {
  const likely = guess.unnamed.filter(isOfNames);
  const wholes = likely.filter(({ severalWordsShare }) => severalWordsShare > 0.5);
  const weigh = ({ distinctShare, filledShare }: ColumnProfile): number => distinctShare * filledShare;
  const most = Math.max(...wholes.map(weigh));
  const whole = wholes.find((profile) => weigh(profile) > most / 2);
  const pair = findPair(guess, likely);
  // The first names in a table are usually the customer's; a pair with few values is no name.
  const [first] = pair;
  const isPairFirst =
    pair.length > 1 &&
    first !== undefined &&
    (whole === undefined || guess.free.indexOf(first) < guess.free.indexOf(whole));
  const columns = whole && !isPairFirst ? [whole] : pair;
  if (columns.length === 0) {
    guess.doubts.push('no column looks like names: set the column, or the columns that form the name');
    return [];
  }
  const headers = columns.map(({ header }) => header);
  guess.columns.name = toHeaders(columns);
  guess.take('name', columns.length === 1 ? 'by its values' : 'by their values', ...columns);
  guess.doubts.push(
    `${headers.join(' and ')} ${headers.length === 1 ? 'is' : 'are'} used as the name because of ${headers.length === 1 ? 'its' : 'their'} values only`,
  );
  return columns;
}

/** Whether a column has many different values of letters, most with a capital, and no countries. */
function isOfNames({ letterShare, distinctShare, words, countryShare, values, filled }: ColumnProfile): boolean {
  const capitals = values.filter((value) => /^[^\p{Ll}]/u.test(value)).length;
  const isVaried = words === null || distinctShare > enough || words.length >= 8;
  return letterShare >= enough && isVaried && countryShare < 0.5 && filled > 0 && capitals >= 0.8 * filled;
}

function findPair({ free }: Guess, likely: readonly ColumnProfile[]): readonly ColumnProfile[] {
  const pair = likely.find((profile, at) => {
    const next = likely[at + 1];
    return next !== undefined && free.indexOf(next) === free.indexOf(profile) + 1;
  });
  const at = pair ? likely.indexOf(pair) : 0;
  return likely.slice(at, at + (pair ? 2 : 1));
}

/** Maps related parties whose headers say what they are; others may be staff, so that a person decides. */
export function guessParties(
  guess: Guess,
  profiles: readonly ColumnProfile[],
  toDate: (profile: ColumnProfile) => ProposedParty['birthDate'],
): void {
  const headers = profiles.map(({ header }) => header);
  const tally = new UnmappedNameTally(headers, rosterSettingsSchema.shape.columns.parse(guess.columns), {});
  const rows = profiles[0]?.values.length ?? 0;
  for (let row = 0; row < rows; row += 1) tally.add(profiles.map(({ values }) => values[row] ?? ''));
  const sure = tally
    .list()
    .filter(({ isNamed, kind, fact }) => isNamed && fact !== 'unknown' && kind !== 'other' && kind !== 'alias');
  if (sure.length === 0) return;
  const byHeader = new Map(profiles.map((profile) => [profile.header, profile]));
  const holdsCountries = (header: string): boolean => (byHeader.get(header)?.countryShare ?? 0) >= 0.5;
  const proposed = proposeNames(sure, headers).parties.map(({ countries, ...party }) => ({
    ...party,
    ...(countries !== undefined && holdsCountries(countries) && { countries }),
  }));
  const read = new Set(proposed.flatMap(({ name, birthDate, countries }) => [name, birthDate, countries].flat()));
  const parties = proposed.map((party) => {
    const separator = guessPartySeparator(byHeader.get(String(party.name))?.values ?? []);
    const dates = byHeader.get(String(party.birthDate));
    const birthDate = dates && toDate(dates);
    return {
      ...party,
      ...(birthDate !== undefined && { birthDate }),
      ...(separator !== null && { separator }),
    };
  });
  guess.columns.parties = parties;
  guess.take('parties', 'by their headers', ...profiles.filter(({ header }) => read.has(header)));
  const names = sure.map(({ header }) => header).join(', ');
  guess.doubts.push(`${names}: related parties, each at the price of a search; check their roles (parties)`);
}
