import { type ColumnProfile, enough, type Guess, toHeaders } from './column-profile.js';

/** Guesses which columns are the name and gives them: those of a header's word that name the most rows, else the values decide. */
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
      `${company.header} is left out of the name, because rows that have it have another name too: where these rows are companies, write name: ${JSON.stringify(company.header)}`,
    );
  }
  return columns;
}

/** A first name without a last name, or the other way round, is half a name: a column of names beside it is the other half. */
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
  guess.doubts.push(`${other.profile.header} is taken for the rest of the name by its values alone`);
  return [...columns, other.profile];
}

/** Where rows are without a name, another column of names that has one for most of these and hardly any other is part of it. */
function withMissing(guess: Guess, columns: readonly ColumnProfile[]): readonly ColumnProfile[] {
  const rows = columns[0]?.values.length ?? 0;
  const missing = Array.from({ length: rows }, (_, row) => row).filter((row) =>
    columns.every(({ values }) => values[row] === ''),
  );
  if (missing.length <= rows / 50) return columns;
  const other = guess.free.find((profile) => {
    const mayBeName = profile.role === 'name' || profile.role === 'company' || (profile.isOpen && isOfNames(profile));
    const filled = missing.filter((row) => profile.values[row] !== '').length;
    return mayBeName && !columns.includes(profile) && filled > missing.length * 0.8 && filled > profile.filled * 0.8;
  });
  if (other === undefined) return columns;
  guess.doubts.push(`${other.header} is taken for the name of the rows without another one`);
  return [...columns, other];
}

/** Columns that may be the name together, with the share of the rows that they give a name. The likeliest come first, as of equals the first wins. */
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
  // A hundredth of the rows is not worth a worse column.
  return all.map((columns) => ({ columns, covered: Math.round(measureCover(columns) * 100) }));
}

/** `NAME2` behind `NAME1`. */
function findFurther({ free }: Guess, { header }: ColumnProfile): readonly ColumnProfile[] {
  if (!/1\D*$/.test(header)) return [];
  const next = header.replace(/1(\D*)$/, '2$1');
  return free.filter((profile) => profile.header === next && profile.filled > 0);
}

/** Companies have names of their own where they have no other; a column that stands beside names is somebody's employer. */
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

/** Says whether one column says what the other says and more. */
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
  // What comes first is the customer's, as others follow; a pair that few values fill is no name.
  const [first] = pair;
  const isPairFirst =
    pair.length > 1 &&
    first !== undefined &&
    (whole === undefined || guess.free.indexOf(first) < guess.free.indexOf(whole));
  const columns = whole && !isPairFirst ? [whole] : pair;
  if (columns.length === 0) {
    guess.doubts.push('no column looks like names: name the column, or the columns that make the name together');
    return [];
  }
  const headers = columns.map(({ header }) => header);
  guess.columns.name = toHeaders(columns);
  guess.take('name', columns.length === 1 ? 'by its values' : 'by their values', ...columns);
  guess.doubts.push(
    `${headers.join(' and ')} ${headers.length === 1 ? 'is' : 'are'} taken for the name by ${headers.length === 1 ? 'its' : 'their'} values alone`,
  );
  return columns;
}

/** Many different values of letters, with a capital first in scripts that have capitals, that are no countries. */
function isOfNames({ letterShare, distinctShare, words, countryShare, values, filled }: ColumnProfile): boolean {
  const capitals = values.filter((value) => /^[^\p{Ll}]/u.test(value)).length;
  const isVaried = words === null || distinctShare > enough || words.length >= 8;
  return letterShare >= enough && isVaried && countryShare < 0.5 && filled > 0 && capitals >= 0.8 * filled;
}

/** First and last name stand side by side. */
function findPair({ free }: Guess, likely: readonly ColumnProfile[]): readonly ColumnProfile[] {
  const pair = likely.find((profile, at) => {
    const next = likely[at + 1];
    return next !== undefined && free.indexOf(next) === free.indexOf(profile) + 1;
  });
  const at = pair ? likely.indexOf(pair) : 0;
  return likely.slice(at, at + (pair ? 2 : 1));
}
