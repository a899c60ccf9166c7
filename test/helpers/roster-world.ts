import { makeSeededRandom } from '../campaign/seeded-random.js';

/** The fields of a row by their header. */
export type Fields = Record<string, string>;

/** One night's roster with its related parties as a night's change may edit it, and how it is written. */
export interface RosterWorld {
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

const rosterHeaders = [
  'customer_id',
  'type',
  'name',
  'birth_date',
  'countries',
  'risk_tier',
  'branch',
  'email',
  'opened',
  'status',
];
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
