import { expect, it } from 'vitest';
import { RosterHeldError } from '../../../../src/errors.js';
import { previewImport } from '../../../../src/runs/preview.js';
import type { Database } from '../../../../src/store/database/database.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { openRosterNights } from '../../../helpers/roster-nights.js';
import { makeAcceptance } from '../../../helpers/small-site.js';

const header = 'customer_id,type,name,birth_date,countries,risk_tier,city';
const firstNames = ['Élodie', 'Jonas', 'Marta', 'Søren', 'Ines', 'Pavel', 'Ragnhild', 'Tomás', 'Ulrika', 'Wanda'];
const letters = 'abcdefghijklmnopqrstuvwxyz';

interface Person {
  id: string;
  type: string;
  first: string;
  last: string;
  born: string;
  countries: string;
  tier: string;
  city: string;
}

const makePerson = (at: number): Person => ({
  id: `C-${String(at).padStart(5, '0')}`,
  type: 'person',
  first: firstNames[at % firstNames.length] ?? '',
  // Each a name of its own, without digits: Ba, Bb, .. and long enough to be cut.
  last: `Quist${[...String(at)].map((digit) => letters[Number(digit)]).join('')}berger`,
  born: `19${50 + (at % 40)}-0${1 + (at % 9)}-1${at % 3}`,
  countries: 'dk;no',
  tier: 'low',
  city: `City ${at % 7}`,
});

const toRow = ({ id, type, first, last, born, countries, tier, city }: Person): string =>
  [id, type, `${first} ${last}`, born, countries, tier, city].join(',');
const people = (count: number): readonly Person[] => Array.from({ length: count }, (_, at) => makePerson(at));
type Change = (person: Person, at: number, all: readonly Person[]) => Partial<Person>;

/** The rows of so many people, the first `changed` of them as `change` makes them. */
const changing = (count: number, changed: number, change: Change): readonly string[] =>
  people(count).map((person, at, all) => toRow(at < changed ? { ...person, ...change(person, at, all) } : person));

const suffix: Change = ({ last }) => ({ last: `${last} xx` });

/** Gives the findings that hold a night of so many people after a first one as they are, which is imported once for each count. */
async function openGuardNights(database: Database) {
  const opened = new Map<number, Awaited<ReturnType<typeof openRosterNights>>>();
  const openNights = async (count: number) => {
    const known = opened.get(count);
    if (known !== undefined) return known;
    const nights = await openRosterNights(database, `people-${Math.random()}`);
    opened.set(count, nights);
    await nights.play({ header, guards: {}, rows: people(count).map(toRow) });
    return nights;
  };
  return {
    find: async (count: number, rows: readonly string[]): Promise<readonly string[]> => {
      const nights = await openNights(count);
      try {
        await nights.play({ header, guards: {}, day: 1, rows });
        return [];
      } catch (error) {
        if (error instanceof RosterHeldError) return error.heldBy.map(({ guard, message }) => `${guard}: ${message}`);
        throw error;
      }
    },
    close: async () => {
      for (const nights of opened.values()) await nights.close();
    },
  };
}

const rotated =
  (moved: number): Change =>
  (_, at, all) => {
    const { first = '', last = '' } = all[(at + 1) % moved] ?? {};
    return { first, last };
  };

describeOnPostgres('changes of known customers', (open) => {
  it('hold a roster when 101 of 401 names get a suffix, with both figures and 20 changes, until somebody accepts them', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    await nights.play({ header, guards: {}, rows: people(401).map(toRow) });
    const night = { header, guards: {}, rows: changing(401, 101, suffix), day: 1 };
    await expect(nights.play(night)).rejects.toThrow(
      /101 of 401 known customers have another name, type, birth date or party, or lost a value: 25.19 % \(at most 1 %, rosters\[0\]\.guards\.maxChangedShare\) \[guard changed\]\. Check .*--accept-roster --by NAME --reason TEXT/s,
    );
    const { app, settings } = await nights.prepare(night);
    const { changes, accept } = await previewImport(app, settings, new AbortController().signal);
    expect(accept).toMatch(/^nightscreen import .*--roster people.* --accept-roster --by NAME --reason TEXT$/);
    expect(changes).toHaveLength(20);
    expect(changes[0]).toEqual({
      reference: 'C-00000',
      before: {
        name: 'Élodie Quistaberger',
        type: 'person',
        birthDate: '1950-01-10',
        countries: ['dk', 'no'],
        parties: [],
      },
      after: {
        name: 'Élodie Quistaberger xx',
        type: 'person',
        birthDate: '1950-01-10',
        countries: ['dk', 'no'],
        parties: [],
      },
    });
    await nights.play({ ...night, acceptRoster: await makeAcceptance({ database }) });
    // Accepted changes do not count in later nights.
    await nights.play({ ...night, day: 2 });
    await nights.close();
  });

  it('hold a roster when a few customers change each night, until they are more than three times as many in seven days', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const slowly = (day: number) => nights.play({ header, guards: {}, rows: changing(400, 20 * day, suffix), day });
    for (const day of [0, 1, 2, 3]) await slowly(day);
    await expect(slowly(4)).rejects.toThrow(
      /80 of 400 .* within seven days: 20 % \(at most 3 %, 3 times rosters\[0\]\.guards\.maxChangedShare\)/,
    );
    await nights.close();
  });

  it('are no changes where a corrected mapping reads birth dates and countries anew, also in later nights', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const base = { header, guards: {} };
    const written = changing(120, 120, (_, at) => ({ born: `0${1 + (at % 4)}/0${5 + (at % 4)}/19${50 + (at % 40)}` }));
    const read = (format: string) => ({ birthDate: { column: 'birth_date', format } });
    await nights.play({ ...base, rows: written, columns: read('d/M/yyyy') });
    const corrected = { ...base, rows: written, columns: read('M/d/yyyy'), day: 1 };
    const { app, settings } = await nights.prepare(corrected);
    const signal = new AbortController().signal;
    expect(await previewImport(app, settings, signal)).toMatchObject({
      heldBy: [],
      accept: null,
      counts: { changed: 120 },
    });
    await nights.play(corrected);
    await nights.play({ ...corrected, day: 2 });
    // The same mapping: now it is the data that changed.
    const exchanged = changing(120, 120, (_, at) => ({
      born: `0${5 + (at % 4)}/0${1 + (at % 4)}/19${50 + (at % 40)}`,
    }));
    await expect(nights.play({ ...corrected, rows: exchanged, day: 3 })).rejects.toThrow(RosterHeldError);
    const countries = { countries: { column: 'countries', values: { dk: 'se' }, separator: ';' } };
    await nights.play({ ...corrected, columns: { ...corrected.columns, ...countries }, day: 4 });
    // A lost value is lost under any mapping, and a name is never only read anew.
    const lost = { ...corrected, rows: changing(120, 120, () => ({ born: '' })), columns: countries, day: 5 };
    await expect(nights.play(lost)).rejects.toThrow(RosterHeldError);
    const renamed = { ...corrected, columns: { name: 'city', ...read('d/M/yyyy'), ...countries }, day: 5 };
    await expect(nights.play(renamed)).rejects.toThrow(RosterHeldError);
    await nights.close();
  });

  it('are let through where they are few, or nothing that is screened', async () => {
    const database = await open();
    const harmless: readonly [string, number, number, Change][] = [
      ['3 names', 300, 3, suffix],
      ['case', 300, 300, ({ first, last }) => ({ first: first.toUpperCase(), last: last.toUpperCase() })],
      [
        'accents',
        300,
        300,
        ({ first }) => ({ first: first.normalize('NFD').replace(/\p{M}/gu, '').replace('ø', 'o') }),
      ],
      ['the order of words', 300, 90, ({ first, last }) => ({ first: last, last: first })],
      ['what is not screened', 300, 300, () => ({ tier: 'high', city: 'Elsewhere' })],
      ['countries of three', 100, 3, () => ({ countries: 'se' })],
      ['the same countries in another order', 300, 300, () => ({ countries: 'no;dk' })],
      ['no city', 300, 300, () => ({ city: '' })],
    ];
    // Each night of 300 is compared with the one before it.
    const guards = await openGuardNights(database);
    for (const [what, count, changed, change] of harmless) {
      expect([what, await guards.find(count, changing(count, changed, change))]).toEqual([what, []]);
    }
    await guards.close();
  });

  it('are named by what they look like', async () => {
    const database = await open();
    const share = 'known customers have another name, type, birth date or party, or lost a value';
    const exchanged: Change = ({ born }) => ({ born: born.replace(/-(\d\d)-(\d\d)$/, '-$2-$1') });
    const shapes: readonly [string, readonly string[], number, number, Change][] = [
      ['20 of 100 rotated', ['moved against the ids'], 100, 20, rotated(20)],
      ['one column sorted', ['moved against the ids', share], 300, 300, rotated(300)],
      [
        'all names replaced',
        ['all names are replaced', share],
        100,
        100,
        (_, at) => ({ first: 'Customer', last: `Number ${at}` }),
      ],
      [
        'names cut',
        ['ends after 13 characters of the name', share],
        100,
        100,
        ({ first, last }) => ({ first: `${first} ${last}`.slice(0, 13), last: '' }),
      ],
      ['words cut', ['ends after 8 characters of the word'], 100, 12, ({ last }) => ({ last: last.slice(0, 8) })],
      [
        'name and city swapped',
        ['columns are swapped', share],
        100,
        100,
        ({ first, last, city }) => ({ first: city, last: 'x', city: `${first} ${last}` }),
      ],
      [
        'first and last name exchanged',
        ['first and last name are exchanged'],
        100,
        100,
        ({ first, last }) => ({ first: last, last: first }),
      ],
      ['day and month exchanged', ['day and month exchanged', share], 100, 90, exchanged],
      ['few days and months exchanged', ['day and month exchanged'], 100, 8, exchanged],
      [
        'birth dates blank',
        ['no row has one', 'fewer have a value of birth_date', share],
        100,
        100,
        () => ({ born: '' }),
      ],
      ['persons turned into entities', ['were persons and are entities', share], 100, 100, () => ({ type: 'entity' })],
      ['fewer birth dates', ['fewer have a value of birth_date'], 100, 8, () => ({ born: '' })],
      [
        'fewer countries',
        ['fewer have a value of countries', share, 'have other countries'],
        100,
        30,
        () => ({ countries: '' }),
      ],
      ['other countries', ['have other countries'], 500, 26, () => ({ countries: 'se' })],
    ];
    // A held night leaves the accepted roster as it was.
    const guards = await openGuardNights(database);
    for (const [what, held, count, changed, change] of shapes) {
      const findings = await guards.find(count, changing(count, changed, change));
      expect([what, findings]).toEqual([what, held.map((words) => expect.stringMatching(`^changed: .*${words}`))]);
    }
    const swapped = people(60).map((person) =>
      toRow({ ...person, id: `${person.first} ${person.last}`, first: person.id, last: '' }),
    );
    expect(await guards.find(60, swapped)).toContainEqual(expect.stringContaining('columns are swapped'));
    await guards.close();
  });

  it('are held where parties of known customers are others or missing, and never where parties are added', async () => {
    const database = await open();
    const entities = people(100).map((person) => toRow({ ...person, type: 'entity' }));
    const directors = (count: number, name: (at: number) => string): string[] =>
      Array.from({ length: count }, (_, at) => `${makePerson(at).id},director,person,${name(at)},,`);
    const nights = await openRosterNights(database, 'firms');
    const findHeld = async (parties: string[]): Promise<readonly string[]> => {
      const held = await nights
        .play({ header, guards: {}, rows: entities, parties, day: 1 })
        .catch((error: unknown) => error);
      return held instanceof RosterHeldError ? held.heldBy.map(({ guard }) => guard) : [];
    };
    const known = directors(30, (at) => `Director ${letters[at % 26]} Of`);
    await nights.play({ header, guards: {}, rows: entities, parties: known });
    expect(await findHeld(directors(30, (at) => `Other ${letters[at % 26]}`))).toEqual(['changed']);
    expect(await findHeld(directors(90, (at) => `DIRECTOR Of ${letters[at % 26]}`))).toEqual([]);
    await nights.close();
  });
});
