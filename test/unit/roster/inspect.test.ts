import { describe, expect, it } from 'vitest';
import type { Customer } from '../../../src/roster/customer.js';
import { looksLikeHeader } from '../../../src/roster/header-row.js';
import { readHeader, readHeaderRole } from '../../../src/roster/headers.js';
import { guessColumns } from '../../../src/roster/inspect/column-guess.js';
import { profileColumn } from '../../../src/roster/inspect/column-profile.js';
import { RepetitionCounter } from '../../../src/roster/inspect/file-preview.js';
import { dropSharedPrefix } from '../../../src/roster/inspect/inspect-file.js';
import { exportSpecs } from '../../helpers/export-specs.js';

function guess(table: readonly (readonly string[])[]) {
  const [headers = [], ...rows] = table;
  return guessColumns(
    headers.map((header, index) =>
      profileColumn(
        header,
        rows.map((row) => row[index] ?? ''),
      ),
    ),
  );
}

const noBirthDates = /^no column of birth dates: .*personal numbers are not read/;

describe('a header', () => {
  it.each([
    ['customer_id', 'id'],
    ['Kunden-Nr.', 'id'],
    ['KundeNr', 'id'],
    ['Fødselsdato', 'birth_date'],
    ['Staatsangehörigkeit', 'countries'],
    ['Staatsangehoerigkeit', 'countries'],
    ['Prénom', 'first_name'],
    ['födelsedatum', 'birth_date'],
    ['Also known as', 'aliases'],
    ['shoe size', null],
  ])('%s tells %s', (header, role) => {
    expect(readHeaderRole(header)).toBe(role);
  });

  it('says the same in whatever style it is written', () => {
    // A letter alone and a figure are lost in words that are written together.
    const headers = exportSpecs
      .flatMap((spec) => (spec.split(' :: ')[2] ?? '').split(' | ').map((column) => column.replace(/=.*/, '')))
      .filter((header) => /^[^\p{N}°(]*$/u.test(header) && !/(?<!\p{L})\p{L}(?!\p{L})/u.test(header));
    const toWords = (header: string) =>
      header.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
    const toCapital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();
    const styles = [
      (words: readonly string[]) => words.join('_').toLowerCase(),
      (words: readonly string[]) => words.join('_').toUpperCase(),
      (words: readonly string[]) => words.map(toCapital).join(''),
      (words: readonly string[]) => `${words.join(' ')} *`,
    ];
    const roles = headers.map((header) => [header, readHeader(header).role]);
    for (const style of styles)
      expect(headers.map((header) => [header, readHeader(style(toWords(header))).role])).toEqual(roles);
  });

  it.each([
    ['c_dob', 'birth_date'],
    ['Insured Country Code', 'countries'],
    ['CUSTNAME', 'name'],
    ['Partnernummer', 'id'],
    ['NAME_LAST', 'last_name'],
    ['spouse_name', null],
    ['guarantor date of birth', null],
    ['claim_no', null],
    ['account_manager', null],
  ])('%s with words around it tells %s', (header, role) => {
    expect(readHeader(header).role).toBe(role);
  });

  it('is read without the word that most headers of the table begin with', () => {
    expect(dropSharedPrefix(['c_id', 'c_name', 'c_dob', 'note'])).toEqual(['id', 'name', 'dob', 'note']);
    expect(dropSharedPrefix(['first_name', 'last_name', 'id'])).toEqual(['first_name', 'last_name', 'id']);
  });

  it('is told from a first row of values', () => {
    const rows = [
      ['1002', 'Bob Ray', '1971-02-03'],
      ['1003', 'Cy Young', '1982-12-30'],
    ];
    expect(looksLikeHeader(['customer_no', 'customer name', 'dob'], rows)).toBe(true);
    expect(looksLikeHeader(['konto', 'wer', 'wann'], rows)).toBe(true);
    expect(looksLikeHeader(['1001', 'Ann Lee', '1960-01-01'], rows)).toBe(false);
    expect(looksLikeHeader(['', '', ''], rows)).toBe(false);
  });
});

describe('the guessed mapping', () => {
  it('of a described export needs no correction', () => {
    const { columns, doubts } = guess([
      ['Kunden-Nr.', 'Vorname', 'Nachname', 'Geburtsdatum', 'Staatsangehörigkeit', 'Kundentyp', 'Risikoklasse'],
      ['0071', 'Anna', 'Ölmann', '13.02.1970', 'Germany', 'Privat', 'hoch'],
      ['0072', 'Jörg', 'Weiß', '01.12.1985', 'DEU', 'Privat', 'mittel'],
      ['0073', '', 'Baustoff AG', '', 'at', 'Firma', 'niedrig'],
    ]);
    expect(columns).toEqual({
      id: 'Kunden-Nr.',
      name: ['Vorname', 'Nachname'],
      type: { column: 'Kundentyp', values: { privat: 'person', firma: 'entity' } },
      birthDate: { column: 'Geburtsdatum', format: 'dd.MM.yyyy' },
      countries: 'Staatsangehörigkeit',
      riskTier: { column: 'Risikoklasse', values: { hoch: 'high', mittel: 'medium', niedrig: 'low' } },
    });
    expect(doubts).toEqual([]);
  });

  it('without headers goes by the values, and says so', () => {
    const { columns, because, doubts } = guess([
      ['1', '2', '3', '4'],
      ...Array.from({ length: 30 }, (_, at) => [
        `K${100 + at}`,
        `Ann${'abcdefghij'[at % 10]} Lee${'xyz'[at % 3]}`,
        'fr',
        'P',
      ]),
    ]);
    expect(columns).toMatchObject({
      id: '1',
      name: '2',
      countries: '3',
      type: { column: '4', values: { p: 'person' } },
    });
    expect(because['name']).toBe('by its values');
    expect(doubts).toContain('1 is used as the customer id because of its values only');
    expect(doubts).toContain('2 is used as the name because of its values only');
  });

  it('says when day and month could be either', () => {
    const ambiguous = guess([
      ['id', 'name', 'dob'],
      ['1', 'Ann Lee', '03/04/1970'],
      ['2', 'Bob Ray', '05/06/1980'],
    ]);
    expect(ambiguous.doubts.join()).toContain('reads as dd/MM/yyyy and as MM/dd/yyyy');
    const plain = guess([
      ['id', 'name', 'dob'],
      ['1', 'Ann Lee', '03/04/1970'],
      ['2', 'Bob Ray', '12/31/1980'],
    ]);
    expect(plain.columns.birthDate).toEqual({ column: 'dob', format: 'MM/dd/yyyy' });
    expect(plain.doubts.join()).not.toContain('reads as');
  });

  it('never takes a number for a tier, nor an unknown word for a type, without a word about it', () => {
    const { columns, doubts } = guess([
      ['id', 'name', 'risk', 'type'],
      ['1', 'Ann Lee', '1', 'private'],
      ['2', 'Bob Ray', '3', 'vehicle'],
    ]);
    expect(columns.riskTier).toBeUndefined();
    expect(columns.type).toEqual({ column: 'type', values: { private: 'person' } });
    expect(doubts).toEqual([
      'type has values of unknown type: "vehicle"',
      expect.stringMatching(noBirthDates),
      'risk holds no known words for tiers: give its values, or every customer counts as high',
    ]);
  });

  it('says what is missing', () => {
    const { columns, doubts } = guess([
      ['amount', 'currency'],
      ['10', 'EUR'],
      ['10', 'EUR'],
    ]);
    expect(columns.id).toBeUndefined();
    expect(columns.name).toBeUndefined();
    expect(doubts).toEqual([
      'no column looks like a customer id: name a column with a different value in every row',
      expect.stringMatching(/^no column looks like names/),
      expect.stringMatching(/^no column distinguishes persons/),
    ]);
  });

  it.each([
    ['days', ['13.02.1970', '01.12.1985', '31.01.1990']],
    ['time stamps of a compact kind', ['19700213', '19851201', '19900131']],
    ['amounts', ['10.50', '1200.00', '7.25']],
    ['amounts with commas', ['10,50', '1.200,00', '7,25']],
    ['e-mail addresses', ['ann1@mail.example', 'bob2@mail.example', 'cy3@mail.example']],
    ['street addresses', ['Hauptstr. 1', '12 Main Street', 'Ring 7']],
    ['telephone numbers', ['+45 12 34 56', '+45 12 34 57', '+45 12 34 58']],
    ['names', ['Ann', 'Bob', 'Cy']],
  ])('never takes %s for the customer id', (_, values) => {
    const { columns, doubts } = guess([['what', 'name'], ...values.map((value, at) => [value, `Ann ${'abc'[at]}`])]);
    expect(columns.id).toBe('name');
    expect(doubts.join()).toContain('no column looks like a customer id: name is used as the id');
  });

  it('prefers a short code to a long one for the customer id, and says that it is a guess', () => {
    const { columns, doubts } = guess([
      ['iban', 'who', 'file'],
      ['DK5000400440116243', 'Ann Lee', '2001'],
      ['DK5000400440116244', 'Bob Ray', '2002'],
    ]);
    expect(columns.id).toBe('file');
    expect(doubts).toContain('file is used as the customer id because of its values only');
  });

  it('never lets values overrule a header that is known', () => {
    const { columns } = guess([
      ['No', 'Name', 'Status'],
      ['K-1', 'Person', 'open'],
      ['K-2', 'Firma', 'closed'],
      ['K-3', 'Chad', 'open'],
    ]);
    expect(columns).toEqual({ id: 'No', name: 'Name', type: { value: 'person' } });
    const lands = guess([
      ['id', 'last name', 'status'],
      ['1', 'Chad', 'person'],
      ['2', 'Jordan', 'person'],
    ]);
    expect(lands.columns).toEqual({ id: 'id', name: 'last name', type: { value: 'person' } });
  });

  it('asks for the language of countries that languages read differently', () => {
    const { columns, doubts } = guess([
      ['id', 'name', 'land'],
      ...['DE', 'Kongo', 'AT'].map((land, at) => [String(at), `Ann ${'abcd'[at]}`, land]),
    ]);
    expect(columns.countries).toBe('land');
    expect(doubts.join()).toContain('languages read "Kongo" as different countries: set the language');
  });

  it.each([
    ['days with years of two digits', ['13/02/70', '01/12/85', '31/01/90'], { column: 'born', format: 'dd/MM/yy' }],
    ['names of months', ['13 Feb 1970', '1. Dezember 1985', '31-ene-1990'], 'born'],
  ])('reads %s', (_, days, birthDate) => {
    const { columns, doubts } = guess([
      ['id', 'name', 'born'],
      ...days.map((day, at) => [String(at), `Ann ${at}`, day]),
    ]);
    expect(columns.birthDate).toEqual(birthDate);
    expect(doubts.join()).not.toContain('no form that is known');
  });

  it.each([
    ['d/M/yy', ['13/2/70', '1/12/85', '31/1/90']],
    ['M/d/yy', ['2/13/70', '12/1/85', '1/31/90']],
    ['d.M.yy', ['13.2.70', '1.12.85', '31.1.90']],
    ['d-M-yy', ['13-2-70', '1-12-85', '31-1-90']],
    ['M-d-yyyy', ['2-13-1970', '12-1-1985', '1-31-1990']],
    ['yy/MM/dd', ['70/02/13', '85/12/01', '90/01/31']],
    ['yyMMdd', ['700213', '851201', '900131']],
    ['ddMMyy', ['130270', '011285', '310190']],
    ['MMddyy', ['021370', '120185', '013190']],
  ])('reads days of the form %s, of which no other reading is possible', (format, days) => {
    const { columns, doubts } = guess([['id', 'name', 'born'], ...days.map((day, at) => [`K${at}`, `Ann ${at}`, day])]);
    expect(columns.birthDate).toEqual({ column: 'born', format });
    expect(doubts.join()).not.toMatch(/reads as|unknown form/);
  });

  it.each([
    [['3/4/65', '5/6/71'], 'born reads as d/M/yy and as M/d/yy: check which is right (birthDate)'],
    [['03.04.1965', '05.06.1971', '3.4.1980'], null],
    [['03/04/65', '05/06/71'], 'born reads as dd/MM/yy and as MM/dd/yy: check which is right (birthDate)'],
    [['030405', '050607'], 'born reads as yyMMdd and as ddMMyy: check which is right (birthDate)'],
    [
      ['1965-04-03', '3 Apr 1966', '03/04/65'],
      'the dates of born have an unknown form: give their format, dd/MM/yy or MM/dd/yy or yy/MM/dd',
    ],
  ])('names the formats to choose from for %j', (days, doubt) => {
    const { doubts } = guess([['id', 'name', 'born'], ...days.map((day, at) => [`K${at}`, `Ann ${at}`, day])]);
    if (doubt === null) expect(doubts.join()).not.toContain('born');
    else expect(doubts).toContain(doubt);
  });

  it('takes numbers of six digits for dates only below a header for birth dates', () => {
    const { columns } = guess([
      ['1', 'name'],
      ...Array.from({ length: 20 }, (_, at) => [String(100_101 + at), `Ann ${'abcdefghijklmnopqrst'[at]}`]),
    ]);
    expect(columns.id).toBe('1');
    expect(columns.birthDate).toBeUndefined();
  });

  it('names the columns that are not read, and which of them look like countries or a birth date', () => {
    const { columns, doubts } = guess([
      ['id', 'name', 'type', 'dob', 'country', 'nationality', 'Date of birth', 'city', 'empty', 'risk_tier'],
      ['1', 'Ann Lee', 'person', '1960-01-02', 'France', 'fr', '02.01.1960', 'Paris', '', '7'],
      ['2', 'Bob Ray', 'person', '1971-05-06', 'Italy', 'it', '06.05.1971', 'Rome', '', '8'],
    ]);
    const read = [columns.birthDate, columns.countries]
      .flat()
      .map((each) => (typeof each === 'object' ? each.column : each));
    const unread = ['dob', 'Date of birth', 'country', 'nationality', 'city'].filter(
      (header) => !read.includes(header),
    );
    expect(unread).toContain('city');
    expect(doubts.at(-1)).toMatch(/^not read: /);
    expect(doubts.at(-1)?.slice('not read: '.length).split(', ').toSorted()).toEqual(unread.toSorted());
    expect(doubts.join()).toContain(' looks like a birth date too: name the right column under birthDate');
  });

  it('hints at a further column of countries', () => {
    const { doubts } = guess([
      ['id', 'name', 'type', 'country', 'tax country', 'pays naissance'],
      ['1', 'Ann Lee', 'person', 'France', 'fr', 'ZF'],
      ['2', 'Bob Ray', 'person', 'Italy', 'it', 'ZI'],
    ]);
    expect(doubts).toEqual([
      expect.stringMatching(noBirthDates),
      'tax country looks like countries: to read it too, write countries: ["country","tax country"]',
      'pays naissance looks like countries: most of its values are unknown',
      'not read: tax country, pays naissance',
    ]);
  });

  it('gives no meaning to a word because of a few rows, and gives it because of many', () => {
    const rows = (word: string, count: number, from: number): string[][] =>
      Array.from({ length: count }, (_, at) => [
        String(from + at),
        `Ann ${'ABCDEFGHIJKLMNOPQRST'[at]}`,
        word,
        `19${60 + at}-01-01`,
      ]);
    const { columns, doubts } = guess([
      ['id', 'name', 'type', 'birth date'],
      ...rows('private', 20, 100),
      ...rows('hoirie', 9, 200),
      ...rows('K', 12, 300),
    ]);
    expect(columns.type).toEqual({ column: 'type', values: { private: 'person', k: 'person' } });
    expect(doubts).toContain('the meaning of "k" in type follows from names and birth dates: check type');
    expect(doubts).toContain('type has values of unknown type: "hoirie"');
  });

  it('asks for the values of columns that it cannot read', () => {
    const { columns, doubts } = guess([
      ['customer_id', 'name', 'type', 'countries', 'risk_tier'],
      ['1', 'Ann Lee', 'person', 'Utopia', '3'],
    ]);
    expect(columns).toEqual({ id: 'customer_id', name: 'name', type: 'type' });
    expect(doubts).toEqual([
      expect.stringMatching(noBirthDates),
      'risk_tier holds no known words for tiers: give its values, or every customer counts as high',
      'countries holds no countries: give its values, or they count as unknown',
    ]);
  });
});

describe('an export of persons and firms with related parties', () => {
  const rows = (make: (at: number) => readonly string[]) => Array.from({ length: 40 }, (_, at) => make(at));
  const person = (at: number) =>
    `${'Rossi Gallo Greco Conti'.split(' ')[at % 4]} ${'Ada Bea Eva Ida Ugo'.split(' ')[at % 5]}`;
  const born = (at: number, year: string) => `${String((at % 28) + 1).padStart(2, '0')}/03/${year}`;

  it('takes firms from their own column and not from their owners, and the dates of parties for the parties', () => {
    const { columns } = guess([
      [
        'Nr klienta',
        'Rodzaj',
        'Nazwisko',
        'Imię',
        'Nazwa firmy',
        'Data ur.',
        'Benef. rzecz. 1 nazwisko i imię',
        'Benef. rzecz. 1 data ur.',
        'Współposiadacz',
        'Data ur. współposiadacza',
      ],
      ...rows((at) => {
        const [last = '', first = ''] = person(at).split(' ');
        return at % 2 === 0
          ? [`K${at}`, 'OP', '', '', `Firma ${at} Sp. z o.o.`, '', person(at + 1), born(at, '1970'), '', '']
          : [
              `K${at}`,
              at % 10 === 1 ? 'JDG' : 'OF',
              last,
              first,
              at % 10 === 1 ? `Usługi ${last}` : '',
              born(at, String(1940 + at)),
              '',
              '',
              person(at + 2),
              born(at, '1980'),
            ];
      }),
    ]);
    expect(columns.name).toEqual(['Imię', 'Nazwisko', 'Nazwa firmy']);
    expect(columns.type).toEqual({ column: 'Rodzaj', values: { op: 'entity', of: 'person', jdg: 'person' } });
    expect(columns.birthDate).toEqual({ column: 'Data ur.', format: 'dd/MM/yyyy' });
    expect(columns.parties).toEqual([
      {
        name: 'Benef. rzecz. 1 nazwisko i imię',
        role: { value: 'beneficial_owner' },
        birthDate: { column: 'Benef. rzecz. 1 data ur.', format: 'dd/MM/yyyy' },
      },
      {
        name: 'Współposiadacz',
        role: { value: 'joint_holder' },
        birthDate: { column: 'Data ur. współposiadacza', format: 'dd/MM/yyyy' },
      },
    ]);
  });

  it('takes no place of birth for a date, and no province for a country', () => {
    const provinces = ['BR', 'CH', 'NO', 'LU'];
    const { columns, doubts } = guess([
      [
        'N. CLIENTE',
        'COGNOME',
        'NOME',
        'COMUNE NASCITA',
        'PROV. NASC.',
        'PROV.',
        'COINTESTATARIO',
        'DATA NASC. COINT.',
      ],
      ...rows((at) => [
        `${at + 100}`,
        ...person(at).split(' '),
        'TORINO',
        provinces[at % 4] ?? '',
        provinces[at % 3] ?? '',
        `${person(at + 1)}, ${at % 3 === 0 ? person(at + 2) : ''}`.replace(/, $/, ''),
        born(at, '61'),
      ]),
    ]);
    expect(columns.birthDate).toBeUndefined();
    expect(columns.countries).toBeUndefined();
    expect(columns.parties).toEqual([
      {
        name: 'COINTESTATARIO',
        role: { value: 'joint_holder' },
        birthDate: { column: 'DATA NASC. COINT.', format: 'dd/MM/yy' },
        separator: ',',
      },
    ]);
    expect(doubts.join()).not.toContain('looks like');
  });
});

describe('repetitions', () => {
  const customer = (reference: string, name: string, countries: readonly string[] = []): Customer => ({
    reference,
    riskTier: null,
    parties: [{ role: 'customer', type: 'person', name, birthDate: null, countries }],
    isActive: true,
    endDate: null,
    attributes: {},
    readings: { doubts: [], said: null },
  });

  it('are told from contradictions, whatever the order of countries', () => {
    const counter = new RepetitionCounter();
    const rows = [
      customer('1', 'Ann', ['dk', 'de']),
      customer('1', 'Ann', ['de', 'dk']),
      customer('1', 'Ann', ['de', 'dk']),
      customer('2', 'Bob'),
      customer('2', 'Bob'),
      customer('2', 'Rob'),
      customer('3', 'Cy'),
    ];
    for (const row of rows) counter.note(row);
    expect(counter.sum()).toEqual({ repeated: 2, conflicting: 3 });
    expect(['1', '2', '3'].map((id) => counter.isConflict(id))).toEqual([false, true, false]);
    expect(counter.isComplete).toBe(true);
  });

  it('are counted among the first ids only where there are too many, and it is said', () => {
    const counter = new RepetitionCounter(1);
    for (const id of ['1', '2', '2', '1']) counter.note(customer(id, 'Ann'));
    expect(counter.sum()).toEqual({ repeated: 1, conflicting: 0 });
    expect(counter.isComplete).toBe(false);
  });
});
