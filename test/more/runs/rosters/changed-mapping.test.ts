import { expect, it } from 'vitest';
import { presentImportPreview } from '../../../../src/cli/present-run.js';
import { RosterHeldError } from '../../../../src/errors.js';
import { previewImport } from '../../../../src/runs/preview.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { openRosterNights, type RosterNight } from '../../../helpers/roster-nights.js';

const header = 'customer_id,type,name,birth_date,countries,risk_tier';
const letters = 'abcdefghijklmnopqrstuvwxyz';

interface Person {
  kind: string;
  name: string;
  born: string;
  countries: string;
  tier: string;
}

const makePerson = (at: number): Person => ({
  kind: at % 2 === 0 ? 'person' : 'entity',
  name: `Ada Quist${[...String(at)].map((digit) => letters[Number(digit)]).join('')}`,
  born: `0${1 + (at % 4)}/0${5 + (at % 4)}/19${50 + (at % 40)}`,
  countries: 'dk',
  tier: 'A',
});

const id = (at: number): string => `C-${String(at).padStart(3, '0')}`;
const toRow = ({ kind, name, born, countries, tier }: Person, at: number): string =>
  [id(at), kind, name, born, countries, tier].join(',');
/** 120 customers, each with these facts instead. */
const rowsWith = (change: (at: number) => Partial<Person> = () => ({})): readonly string[] =>
  Array.from({ length: 120 }, (_, at) => toRow({ ...makePerson(at), ...change(at) }, at));

const renamed = (at: number): Partial<Person> => (at < 30 ? { name: `Bo Other${letters[at % 26]}` } : {});
const read = (format: string) => ({ column: 'birth_date', format });
const base: RosterNight = { header, guards: {}, rows: rowsWith(), columns: { birthDate: read('d/M/yyyy') } };

describeOnPostgres('a corrected mapping', (open) => {
  const corrections: readonly (readonly [string, RosterNight, RosterNight])[] = [
    ['columns.birthDate', base, { ...base, columns: { birthDate: read('M/d/yyyy') } }],
    [
      'columns.type',
      { ...base, columns: { ...base.columns, type: { value: 'person' } } },
      {
        ...base,
        columns: { ...base.columns, type: { column: 'type', values: { person: 'person', entity: 'entity' } } },
      },
    ],
    [
      'columns.countries',
      { ...base, columns: { ...base.columns, countries: { value: 'se' } } },
      {
        ...base,
        columns: { ...base.columns, countries: { column: 'countries', separator: ';', values: { dk: 'no' } } },
      },
    ],
    [
      'columns.riskTier',
      base,
      { ...base, columns: { ...base.columns, riskTier: { column: 'risk_tier', values: { A: 'high' } } } },
    ],
    [
      'columns.language',
      { ...base, rows: rowsWith(() => ({ countries: 'Niger' })) },
      { ...base, rows: rowsWith(() => ({ countries: 'Niger' })), columns: { ...base.columns, language: 'de' } },
    ],
  ];

  it.each(corrections)(
    'of %s is no mass change, and says so; a change of names beside it is one',
    async (path, before, after) => {
      const nights = await openRosterNights(await open());
      // A first import with a live key would hold the doubts.
      await nights.play({ ...before, guards: { maxDoubtShare: 1 } });
      const night = { ...after, day: 1, guards: { maxDoubtShare: 1 } };
      const { app, settings } = await nights.prepare(night);
      const { text } = presentImportPreview(await previewImport(app, settings, new AbortController().signal));
      const says = `The mapping of ${path} has changed`;
      expect(text).toContain(says);
      expect(text).toMatch(/guards +all passed/);
      const rows = after.rows.map((row, at) =>
        at < 30 ? row.replace(/Ada Quist\w+/, `Bo Other${letters[at % 26]}`) : row,
      );
      const held = await nights.play({ ...night, rows }).catch((error: unknown) => error);
      expect(held).toBeInstanceOf(RosterHeldError);
      expect(String(held)).toMatch(/30 of 120 known customers have another name/);
      expect(String(held)).toContain(`${says}; other values that it reads are not counted here.`);
      const { remarks } = await nights.play(night);
      expect(remarks?.join()).toContain(says);
      const second = await nights.play({ ...night, day: 2 });
      expect(second.remarks?.join()).not.toContain('The mapping');
      await nights.close();
    },
  );

  it('of related parties is no mass change either, and hides no other director', async () => {
    const nights = await openRosterNights(await open());
    const directors = (name: (at: number) => string, decade = 50) =>
      Array.from(
        { length: 40 },
        (_, at) => `${id(2 * at)},director,person,${name(at)},0${1 + (at % 4)}/0${5 + (at % 4)}/19${decade + at},`,
      );
    const toKnown = (at: number): string => `Director ${letters[at % 26]} Of`;
    const known = directors(toKnown);
    const first = { ...base, parties: known, partyColumns: { birthDate: read('d/M/yyyy') } };
    await nights.play(first);
    const corrected = { ...first, partyColumns: { birthDate: read('M/d/yyyy') }, day: 1 };
    const others = directors((at) => `Other ${letters[at % 26]}`);
    await expect(nights.play({ ...corrected, parties: others })).rejects.toThrow(
      /The mapping of parties\[0\]\.columns\.birthDate has changed/,
    );
    const { remarks } = await nights.play(corrected);
    expect(remarks?.join()).toContain('The mapping of parties[0].columns.birthDate has changed');
    // The same mapping: now it is the data that changed.
    const moved = directors(toKnown, 51);
    await expect(nights.play({ ...corrected, parties: moved, day: 2 })).rejects.toThrow(RosterHeldError);
    await nights.close();
  });

  it('is not needed where the source itself corrects values in doubt', async () => {
    const nights = await openRosterNights(await open());
    const guards = { maxDoubtShare: 1 };
    const inDoubt = (at: number) => (at < 60 ? { countries: 'Atlantis', born: '01/01/1900' } : {});
    await nights.play({ ...base, guards, rows: rowsWith(inDoubt) });
    await nights.play({ ...base, guards, day: 1 });
    await expect(nights.play({ ...base, guards, day: 2, rows: rowsWith(() => ({ countries: 'se' })) })).rejects.toThrow(
      /have other countries/,
    );
    await nights.close();
  });

  it('hides no names that change by a few each night', async () => {
    const nights = await openRosterNights(await open());
    const slowly = (day: number, format = 'd/M/yyyy') =>
      nights.play({
        ...base,
        columns: { birthDate: read(format) },
        day,
        rows: rowsWith((at) => (at < 20 * day ? renamed(at % 26) : {})),
      });
    for (const day of [0, 1]) await slowly(day);
    for (const day of [2, 3]) await slowly(day, 'M/d/yyyy');
    await expect(slowly(4, 'M/d/yyyy')).rejects.toThrow(/80 of 120 .* within seven days/);
    await nights.close();
  });
});
