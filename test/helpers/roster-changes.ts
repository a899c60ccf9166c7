import { gzipSync } from 'node:zlib';
import { makeSeededRandom } from './figures.js';

/** The fields of a row by their header. */
export type Fields = Record<string, string>;

/** One night's roster with its related parties as a night's change may edit it, and how it is written. */
interface RosterWorld {
  headers: string[];
  rows: Fields[];
  parties: Fields[];
  delimiter: string;
  newline: string;
  isQuoted: boolean;
  random: () => number;
  /** A person's or a company's name that nobody else has. */
  makeName: (type: string) => string;
  /** Changes the text before it becomes bytes, or the bytes themselves. */
  finish: (text: string) => string | Buffer;
}

const rosterHeaders = 'customer_id type name birth_date countries risk_tier branch email opened status'.split(' ');
const partyHeaders = ['customer_id', 'role', 'name', 'birth_date'];

const countries = ['dk', 'dk', 'dk', 'dk', 'se', 'no', 'de', 'pl', 'gb', 'fr'];
const given =
  'Anna Søren Lukas Zoë Piotr Maja Jörg Ingrid Tomás Aoife Bo Karin Émile Lars Nadia Owen Ruth Viktor Ylva Hans'.split(
    ' ',
  );
const trades = ['Shipping', 'Foods', 'Möbel', 'Trading', 'Software', 'Bakery', 'Logistics', 'Tæpper'];

/**
 * A roster of so many customers, the same for the same seed: a sixth are companies with one or two directors. The persons are made too, unless
 * `people` gives their names, birth dates and countries.
 */
export function makeRosterWorld(customers: number, seed: number, people: readonly Fields[] = []): RosterWorld {
  const random = makeSeededRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const taken = new Set<string>();
  const makeWord = (): string => {
    const syllables = Array.from(
      { length: random() < 0.5 ? 2 : 3 },
      () => pick([...'bdfghjklmnprstv']) + pick([...'aeiouyöåé']),
    );
    const word = syllables.join('') + pick(['n', 'sen', 'r', 'k', 'l', 'ström', 'ski', '']);
    return word.charAt(0).toUpperCase() + word.slice(1);
  };
  const makeName = (type: string): string => {
    for (;;) {
      const name =
        type === 'entity'
          ? `${makeWord()} ${pick(trades)} ${pick(['A/S', 'GmbH', 'AB', 'Ltd'])}`
          : `${pick(given)} ${makeWord()}`;
      if (taken.has(name)) continue;
      taken.add(name);
      return name;
    }
  };
  const toDate = (from: number, years: number): string =>
    new Date(Date.UTC(from, 0, 1) + Math.floor(random() * years * 365.25) * 86_400_000).toISOString().slice(0, 10);
  const parties: Fields[] = [];
  const rows = Array.from({ length: customers }, (_, at): Fields => {
    const type = random() < 1 / 6 ? 'entity' : 'person';
    const id = String(10_037 + at * 7).padStart(8, '0');
    const name = makeName(type);
    if (type === 'entity') {
      for (let left = random() < 0.5 ? 1 : 2; left > 0; left -= 1) {
        parties.push({
          customer_id: id,
          role: pick(['director', 'ubo']),
          name: makeName('person'),
          birth_date: toDate(1950, 45),
        });
      }
    }
    const person = type === 'person' ? people[at] : undefined;
    return {
      customer_id: id,
      type,
      name,
      birth_date: type === 'entity' || random() < 0.08 ? '' : toDate(1938, 66),
      countries: random() < 0.04 ? '' : pick(countries),
      risk_tier: pick(['low', 'low', 'low', 'medium', 'high']),
      branch: pick(['north', 'south', 'east', 'west', 'online']),
      email: `${id}@post.example`,
      opened: toDate(2005, 20),
      status: 'open',
      ...person,
    };
  });
  return {
    headers: [...rosterHeaders],
    rows,
    parties,
    delimiter: ',',
    newline: '\n',
    isQuoted: false,
    random,
    makeName,
    finish: (text) => text,
  };
}

/** The roster's file and that of the related parties. */
export function writeRosterWorld(world: RosterWorld): { roster: string | Buffer; parties: string } {
  const quote = (field: string): string =>
    world.isQuoted || /["\r\n]/.test(field) || field.includes(world.delimiter)
      ? `"${field.replaceAll('"', '""')}"`
      : field;
  const toText = (headers: readonly string[], rows: readonly Fields[]): string =>
    [headers, ...rows.map((row) => headers.map((header) => row[header] ?? ''))]
      .map((fields) => fields.map(quote).join(world.delimiter) + world.newline)
      .join('');
  return { roster: world.finish(toText(world.headers, world.rows)), parties: toText(partyHeaders, world.parties) };
}

/** Edits last night's roster into tonight's. */
export type RosterChange = (world: RosterWorld) => void;

const sample = (world: RosterWorld, share: number, from = world.rows): Fields[] => {
  const count = Math.max(1, Math.round(share * world.rows.length));
  const left = [...from];
  const taken: Fields[] = [];
  while (taken.length < count && left.length > 0)
    taken.push(...left.splice(Math.floor(world.random() * left.length), 1));
  return taken;
};
const persons = (world: RosterWorld): Fields[] => world.rows.filter(({ type }) => type === 'person');
const entities = (world: RosterWorld): Fields[] => world.rows.filter(({ type }) => type === 'entity');
const edit = (
  rows: readonly Fields[],
  header: string,
  to: (field: string, row: Fields, at: number) => string,
): void => {
  for (const [at, row] of rows.entries()) row[header] = to(row[header] ?? '', row, at);
};
const remove = (world: RosterWorld, share: number): void => {
  const gone = new Set(sample(world, share));
  world.rows = world.rows.filter((row) => !gone.has(row));
  world.parties = world.parties.filter(({ customer_id }) =>
    world.rows.some((row) => row['customer_id'] === customer_id),
  );
};
const grow = (world: RosterWorld, share: number, prefix: string): void => {
  const others = makeRosterWorld(Math.max(1, Math.round(share * world.rows.length)), 77);
  const toId = (id: string | undefined): string => `${prefix}${id}`;
  world.rows.push(
    ...others.rows.map((row) => ({
      ...row,
      customer_id: toId(row['customer_id']),
      name: world.makeName(row['type'] ?? ''),
    })),
  );
  world.parties.push(
    ...others.parties.map((party) => ({
      ...party,
      customer_id: toId(party['customer_id']),
      name: world.makeName('person'),
    })),
  );
};
/** Gives each row the value of the next one. */
const rotate = (rows: readonly Fields[], headers: readonly string[], by = 1): void => {
  const former = rows.map((row) => ({ ...row }));
  for (const header of headers) edit(rows, header, (_, __, at) => former[(at + by) % rows.length]?.[header] ?? '');
};
const swap = (world: RosterWorld, one: string, other: string): void => {
  for (const row of world.rows) [row[one], row[other]] = [row[other] ?? '', row[one] ?? ''];
};
const shuffle = <Item>(world: RosterWorld, items: readonly Item[]): Item[] => {
  const left = [...items];
  const mixed: Item[] = [];
  while (left.length > 0) mixed.push(...left.splice(Math.floor(world.random() * left.length), 1));
  return mixed;
};
const withColumn = (world: RosterWorld, header: string, at: number, value: (row: Fields) => string): void => {
  world.headers.splice(at, 0, header);
  for (const row of world.rows) row[header] = value(row);
};
const addDays = (date: string, days: number): string =>
  date === '' ? '' : new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
const lastWord = (name: string): string => name.split(' ').at(-1) ?? '';
const english: Fields = {
  dk: 'Denmark',
  se: 'Sweden',
  no: 'Norway',
  de: 'Germany',
  pl: 'Poland',
  gb: 'United Kingdom',
  fr: 'France',
};
const alpha3: Fields = { dk: 'DNK', se: 'SWE', no: 'NOR', de: 'DEU', pl: 'POL', gb: 'GBR', fr: 'FRA' };
const windows1252 = (text: string): Buffer => Buffer.from(text, 'latin1');
const set =
  (facts: Partial<RosterWorld>): RosterChange =>
  (world) => {
    Object.assign(world, facts);
  };
/** The same rows, written otherwise. */
const write = (finish: RosterWorld['finish']): RosterChange => set({ finish });
const writeLines = (to: (line: string, at: number, all: readonly string[]) => string): RosterChange =>
  write((text) => `${text.split('\n').slice(0, -1).map(to).join('\n')}\n`);

/** What happens to a sound roster from one night to the next; none of it loses or mistakes a customer. */
export const ordinaryChanges: Readonly<Record<string, RosterChange>> = {
  'nothing changed': () => undefined,
  'five new customers': (world) => grow(world, 5 / world.rows.length, 'n'),
  'growth of 1 %': (world) => grow(world, 0.01, 'n'),
  'seasonal growth of 8 %': (world) => grow(world, 0.08, 'n'),
  'a branch of 10 % merged into it': (world) => grow(world, 0.1, 'n'),
  'a portfolio of 30 % taken over': (world) => grow(world, 0.3, 'n'),
  '0.2 % left': (world) => remove(world, 0.002),
  '0.8 % left after a clean-up': (world) => remove(world, 0.008),
  'a few accounts closed': (world) => edit(sample(world, 0.003), 'status', () => 'closed'),
  'accounts closed at the end of a quarter': (world) => edit(sample(world, 0.009), 'status', () => 'closed'),
  'renamed by marriage': (world) =>
    edit(
      sample(world, 0.003, persons(world)),
      'name',
      (name) => `${name.split(' ')[0]} ${lastWord(world.makeName('person'))}`,
    ),
  'double names after marriage': (world) =>
    edit(sample(world, 0.003, persons(world)), 'name', (name) => `${name}-${lastWord(world.makeName('person'))}`),
  'typing errors corrected': (world) =>
    edit(sample(world, 0.005), 'name', (name) => `${name.slice(0, 3)}${name.slice(4)}`),
  'accents dropped by an upgrade': (world) =>
    edit(world.rows, 'name', (name) => name.normalize('NFKD').replace(/[\u0300-\u036f]/g, '')),
  'names in capitals': (world) => edit(world.rows, 'name', (name) => name.toUpperCase()),
  'names in decomposed Unicode': (world) => edit(world.rows, 'name', (name) => name.normalize('NFD')),
  'middle initials added': (world) =>
    edit(sample(world, 0.006, persons(world)), 'name', (name) => name.replace(' ', ' J. ')),
  'titles added': (world) => edit(sample(world, 0.004, persons(world)), 'name', (name) => `Dr. ${name}`),
  'companies with another legal form': (world) =>
    edit(sample(world, 0.003, entities(world)), 'name', (name) => `${name} & Co. KG`),
  'ø written as oe in a few names': (world) =>
    edit(sample(world, 0.004), 'name', (name) => name.replaceAll('ö', 'oe').replaceAll('å', 'aa')),
  'birth dates corrected': (world) =>
    edit(sample(world, 0.004, persons(world)), 'birth_date', (date) => addDays(date, 9)),
  'missing birth dates collected, 4 % of all': (world) =>
    edit(
      sample(
        world,
        0.04,
        persons(world).filter(({ birth_date }) => birth_date === ''),
      ),
      'birth_date',
      (_, __, at) => addDays('1950-05-23', 97 * at),
    ),
  'missing countries collected, 3 % of all': (world) =>
    edit(
      sample(
        world,
        0.03,
        world.rows.filter(({ countries }) => countries === ''),
      ),
      'countries',
      () => 'dk',
    ),
  'a second nationality noted for 3 %': (world) =>
    edit(sample(world, 0.03), 'countries', (country) => [country, 'is'].filter(Boolean).join(';')),
  'moved abroad': (world) => edit(sample(world, 0.006), 'countries', () => 'es'),
  'risk rated anew for 10 %': (world) => edit(sample(world, 0.1), 'risk_tier', () => 'medium'),
  'the yearly review of all risks': (world) =>
    edit(world.rows, 'risk_tier', (tier) => (tier === 'low' ? 'medium' : 'low')),
  'countries by their names': (world) => edit(world.rows, 'countries', (country) => english[country] ?? country),
  'countries of three letters': (world) => edit(world.rows, 'countries', (country) => alpha3[country] ?? country),
  'a new column at the end': (world) => withColumn(world, 'phone', world.headers.length, () => '+45 12 34 56 78'),
  'a new column in the middle': (world) => withColumn(world, 'segment', 3, () => 'B2'),
  'an unused column dropped': (world) => world.headers.splice(world.headers.indexOf('email'), 1),
  'rows sorted by name': (world) =>
    world.rows.sort((one, other) => ((one['name'] ?? '') < (other['name'] ?? '') ? -1 : 1)),
  'rows in another order': (world) => {
    world.rows = shuffle(world, world.rows);
    world.parties.reverse();
  },
  'columns in another order': (world) => world.headers.reverse(),
  'a byte order mark': write((text) => `\ufeff${text}`),
  'UTF-16': write((text) => Buffer.from(`\ufeff${text}`, 'utf16le')),
  'semicolons for commas': set({ delimiter: ';' }),
  'tabs for commas, line ends of Windows': set({ delimiter: '\t', newline: '\r\n' }),
  'every field in quotes': set({ isQuoted: true }),
  'compressed, with blank lines at the end': write((text) => gzipSync(`${text}\n\n`)),
  'five rows exported twice': (world) =>
    world.rows.push(...sample(world, 5 / world.rows.length).map((row) => ({ ...row }))),
  '2 % of the rows exported twice': (world) => world.rows.push(...sample(world, 0.02).map((row) => ({ ...row }))),
  'three rows without a name': (world) => edit(sample(world, 3 / world.rows.length), 'name', () => ''),
  'blanks around all fields': (world) => {
    for (const header of world.headers) edit(world.rows, header, (field) => ` ${field}  `);
  },
  'all addresses of mail changed': (world) =>
    edit(world.rows, 'email', (_, row) => `${row['customer_id']}@new.example`),
  'sole traders turned from persons into companies': (world) =>
    edit(sample(world, 0.003, persons(world)), 'type', () => 'entity'),
  'directors resigned and appointed': (world) => {
    for (const party of world.parties.filter(() => world.random() < 0.02)) party['name'] = world.makeName('person');
  },
  'directors of many companies added': (world) => {
    const found = sample(world, 0.05, entities(world));
    world.parties.push(
      ...found.map((row) => ({
        customer_id: row['customer_id'] ?? '',
        role: 'board member',
        name: world.makeName('person'),
      })),
    );
  },
  'a busy day of all these': (world) => {
    remove(world, 0.003);
    edit(sample(world, 0.002, persons(world)), 'name', (name) => `${name}-${lastWord(world.makeName('person'))}`);
    edit(sample(world, 0.002, persons(world)), 'birth_date', (date) => addDays(date, 31));
    edit(sample(world, 0.01), 'risk_tier', () => 'high');
    edit(sample(world, 0.004), 'countries', () => 'fi');
    grow(world, 0.01, 'n');
    world.rows = shuffle(world, world.rows);
  },
};

/** What goes wrong with an export; each loses customers, or mistakes some for others. */
export const brokenChanges: Readonly<Record<string, RosterChange>> = {
  'cut off in the middle': write((text) => text.slice(0, text.length / 2)),
  'cut off within its last 2 %': write((text) => text.slice(0, Math.floor(text.length * 0.98))),
  'cut off within its last rows, in the middle of one': write((text) =>
    text.slice(0, text.indexOf('@', text.length - 400)),
  ),
  'an empty file': write(() => ''),
  'a header and no rows': set({ rows: [] }),
  'the header lost': write((text) => text.slice(text.indexOf('\n') + 1)),
  'an error page in its place': write(() => '<!DOCTYPE html>\n<html><body><h1>502 Bad Gateway</h1></body></html>\n'),
  'values shifted by one column': (world) => {
    for (const row of world.rows) {
      const values = world.headers.map((header) => row[header] ?? '');
      for (const [at, header] of world.headers.entries()) row[header] = values[(at + 1) % values.length] ?? '';
    }
  },
  'half of the rows with a field too many': writeLines((line, at, all) =>
    at > all.length / 2 ? line.replace(',', ',,') : line,
  ),
  'half of the rows with another delimiter': writeLines((line, at, all) =>
    at > all.length / 2 ? line.replaceAll(',', ';') : line,
  ),
  'quotes that nobody closes in 1 % of the rows': writeLines((line, at) =>
    at % 100 === 1 ? line.replace(/,(?=[^,]*\d{4}-)/, ',"') : line,
  ),
  'columns of name and branch swapped': (world) => swap(world, 'name', 'branch'),
  'columns of name and mail swapped': (world) => swap(world, 'name', 'email'),
  'columns of id and name swapped': (world) => swap(world, 'customer_id', 'name'),
  'columns of birth date and opening swapped': (world) => swap(world, 'birth_date', 'opened'),
  'names moved by one row': (world) => rotate(world.rows, ['name']),
  'names moved by one row among 5 %': (world) => rotate(sample(world, 0.05), ['name']),
  'names moved by one row among 0.5 %': (world) => rotate(sample(world, 0.005), ['name']),
  'names sorted without the others': (world) => {
    const names = world.rows.map(({ name }) => name ?? '').sort();
    edit(world.rows, 'name', (_, __, at) => names[at] ?? '');
  },
  'every column shuffled by itself': (world) => {
    for (const header of world.headers) {
      const values = shuffle(
        world,
        world.rows.map((row) => row[header] ?? ''),
      );
      edit(world.rows, header, (_, __, at) => values[at] ?? '');
    }
  },
  'ids moved by one row': (world) => rotate(world.rows, ['customer_id']),
  'birth dates moved by one row': (world) => rotate(persons(world), ['birth_date']),
  'facts of somebody else for a tenth': (world) =>
    rotate(sample(world, 0.1, persons(world)), ['birth_date', 'countries', 'risk_tier']),
  'related parties moved to other customers': (world) => rotate(world.parties, ['customer_id'], 5),
  'no related parties any more': set({ parties: [] }),
  'names cut at 12 characters': (world) => edit(world.rows, 'name', (name) => name.slice(0, 12)),
  'words of names cut at 5 characters': (world) =>
    edit(world.rows, 'name', (name) => name.replace(/(\S{5})\S+/g, '$1')),
  'first names alone': (world) => edit(persons(world), 'name', (name) => name.split(' ')[0] ?? ''),
  'names replaced by a placeholder': (world) => edit(world.rows, 'name', () => 'TEST'),
  'names masked': (world) => edit(world.rows, 'name', (name) => name.replace(/(?<=\p{L})\p{L}/gu, 'x')),
  'letters beyond ASCII lost as question marks': (world) =>
    edit(world.rows, 'name', (name) => name.replace(/[^\p{ASCII}]/gu, '?')),
  'letters beyond ASCII dropped': (world) => edit(world.rows, 'name', (name) => name.replace(/[^\p{ASCII}]/gu, '')),
  'UTF-8 read as Latin-1 and written again': write((text) => Buffer.from(Buffer.from(text).toString('latin1'))),
  'replacement characters': (world) => edit(world.rows, 'name', (name) => name.replace(/[^\p{ASCII}]/gu, '\ufffd')),
  'another encoding that nobody declared': write(windows1252),
  'the file of another roster': (world) => {
    const other = makeRosterWorld(world.rows.length, 4711);
    world.rows = other.rows;
    world.parties = other.parties;
  },
  'the file of another roster behind its own': (world) => grow(world, 0.7, 'x'),
  'last month in its place': (world) => {
    world.rows = world.rows.slice(0, Math.floor(world.rows.length * 0.96));
  },
  'one branch alone': (world) => {
    world.rows = world.rows.filter(({ branch }) => branch === 'north');
  },
  'companies left out': (world) => {
    world.rows = persons(world);
  },
  'half of the rows twice': (world) =>
    world.rows.push(...world.rows.slice(world.rows.length / 2).map((row) => ({ ...row }))),
  'ids numbered anew': (world) => {
    edit(world.rows, 'customer_id', (_, __, at) => String(at + 1));
  },
  'ids without their leading zeros': (world) => {
    edit(world.rows, 'customer_id', (id) => id.replace(/^0+/, ''));
  },
  'ids rounded by a spreadsheet': (world) => edit(world.rows, 'customer_id', (id) => `${id.slice(0, 6)}00`),
  'birth dates dropped': (world) => edit(world.rows, 'birth_date', () => ''),
  'birth dates of a tenth dropped': (world) => edit(sample(world, 0.1, persons(world)), 'birth_date', () => ''),
  'birth dates a day early': (world) => edit(world.rows, 'birth_date', (date) => addDays(date, -1)),
  'all types the same': (world) => edit(world.rows, 'type', () => 'person'),
  'countries by default': (world) => edit(world.rows, 'countries', () => 'dk'),
  'the meaning of the status turned round': (world) => edit(world.rows, 'status', () => 'closed'),
};
