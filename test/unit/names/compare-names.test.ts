import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ListedParty } from '../../../src/lists/list-file.js';
import { createComparison } from '../../../src/names/compare.js';
import { isWithinEdits } from '../../../src/names/words.js';

const listed = (type: ListedParty['type'], name: string, ...aliases: string[]): ListedParty => ({
  id: null,
  type,
  name,
  aliases,
});
const list = [
  listed('person', 'Mohammed Abdulkarim AL-TIKRITI', 'Abu Talha'),
  listed('person', 'Ekaterina Yurievna CHISTYAKOVA'),
  listed('person', 'Wilhelmina van der Achterberg'),
  listed('person', 'Jong Un KIM'),
  listed('entity', 'NORDWIND SHIPPING CO., LTD.', 'NWSC'),
  listed(null, 'Zarathustra'),
];
const given = ['Anna', 'Bertil', 'Carla', 'Diego', 'Elena', 'Farid', 'Greta', 'Hugo', 'Ines', 'Jonas'];
const families = [
  'Andersen',
  'Bakker',
  'Costa',
  'Dubois',
  'Eriksen',
  'Fischer',
  'Garcia',
  'Hoffman',
  'Ivanova',
  'Jansen',
];
const clean = given.flatMap((first) => families.map((last) => `${first} ${last}`));

async function* batches(names: readonly string[]): AsyncGenerator<readonly string[]> {
  yield names;
}

let find: Awaited<ReturnType<typeof createComparison>>;
beforeAll(async () => {
  find = await createComparison(list, batches(clean));
});

describe('the comparison with a published list', () => {
  it.each([
    ['the same name', 'Mohammed Abdulkarim AL-TIKRITI', 0],
    ['another order', 'Tikriti, Mohammed Abdulkarim', 0],
    ['without the article', 'Mohammed Abdulkarim Tikriti', 0],
    ['another transliteration', 'Muhammad Abd-el-Kerim Altikriti', 0],
    ['the original script', 'محمد عبد الكريم التكريتي', 0],
    ['an alias', 'ABU TALHA', 0],
    ['Cyrillic', 'Екатерина Юрьевна Чистякова', 1],
    ['without the patronymic', 'Ekaterina Chistyakova', 1],
    ['another transliteration of a family name', 'Jekaterina Tschistjakowa', 1],
    ['two letters swapped', 'Ekaterina Chistaykova', 1],
    ['an initial', 'E. Chistyakova', 1],
    ['accents and case', 'wilhelmína VAN DER ächterberg', 2],
    ['words written together', 'Wilhelmina Vanderachterberg', 2],
    ['a double name', 'Wilhelmina Achterberg-Dubois', 2],
    ['syllables divided otherwise', 'Kim Jongun', 3],
    ['Hangul', '김종운', 3],
    ['another legal form', 'Nordwind Shipping GmbH', 4],
    ['a short name of a firm', 'NWSC', 4],
  ])('finds %s', (_, name, at) => {
    const type = list[at]?.type ?? 'person';
    expect(find(name, type)?.name).toBe(list[at]?.name);
  });

  it('leaves people alone who share nothing but a common word with the list', () => {
    expect(clean.filter((name) => find(name, 'person'))).toEqual([]);
    expect(find('Mohammed Hansen', 'person')).toBeNull();
    expect(find('Global Trading Co., Ltd.', 'entity')).toBeNull();
  });

  it.each([
    ['a word of one consonant in a script without vowels', 'محمد علي', 'Mohammed Ali'],
    ['such a word on the other side', 'Mohammed Ali', 'محمد علي'],
    ['an article that sounds like the letter after it', 'Abdul Rahman Hakim', 'Abdurrahman al-Hakim'],
    ['the same in one word', 'Abdulrahman Hakim', 'Abdurrahman Hakim'],
    ['the same in the original script', 'Abdurrahman Hakim', 'عبد الرحمن حكيم'],
    ['p and v in Arabic, which has neither', 'Vladimir Putin', 'فلاديمير بوتين'],
    ['p in Hebrew, which writes it as f', 'Vladimir Putin', 'ולדימיר פוטין'],
    ['the same on the other side', 'فلاديمير بوتين', 'Vladimir Putin'],
    ['the Greek for u', 'Αλέξης Σούτιν', 'Alexis Soutin'],
    ['the same within a name', 'Nur al-Din Hariri', 'Noureddine Hariri'],
  ])('finds %s', async (_, name, customer) => {
    const alone = await createComparison([listed('person', name)], batches([...clean, customer]));
    expect(alone(customer, 'person')?.name).toBe(name);
  });

  it('does not take any word for the one consonant of another', async () => {
    const alone = await createComparison([listed('person', 'محمد علي')], batches(clean));
    expect(alone('Ola Larsen', 'person')).toBeNull();
  });

  it('finds a name of common words only, whoever else is listed under rare ones like them', async () => {
    const letters = (number: number): string =>
      [...String(number)].map((digit) => 'bcdfglmnrs'[Number(digit)] ?? '').join('a');
    const common = Array.from({ length: 300 }, (_, at) => at).flatMap((at) => [
      listed('person', `Mohammad ${letters(at + 1_000)}a`),
      listed('person', `Ali ${letters(at + 2_000)}a`),
    ]);
    const names = [listed('person', 'Mohammad Ali'), listed('person', 'John Alli'), listed('person', 'Ivo Mohamad')];
    const among = await createComparison([...common, ...names], batches(clean));
    expect(among('Ali Mohammad', 'person')?.name).toBe('Mohammad Ali');
    expect(among('Mohammed Aly', 'person')?.name).toBe('Mohammad Ali');
  });

  it.each([
    ['the alias alone', 'Israel', 'person', true],
    ['with accents and a title', 'Mr. Isr\u00e1\u00ebl', 'person', true],
    ['two letters swapped', 'Isreal', 'person', true],
    ['as a given name', 'Israel Fischer', 'person', false],
    ['as a family name', 'Anna Israel', 'person', false],
    ['a particle before it', 'Farid Abu Hamza', 'person', true],
    ['its word without the particle', 'Farid Hamza', 'person', false],
    ['a firm with a legal form', 'NWSC Ltd.', 'entity', true],
    ['a firm with another word', 'NWSC Holding', 'entity', false],
    ['two words of the name', 'Yaldor Quenbar', 'person', true],
  ] as const)('an alias of one word means a customer only as the whole name: %s', async (_, name, type, isForced) => {
    const nicknamed = [
      listed('person', 'Yaldor Ibrim QUENBAR', 'ISRAEL', 'Abu Hamza'),
      listed('entity', 'NORDWIND SHIPPING CO., LTD.', 'NWSC'),
    ];
    const alone = await createComparison(nicknamed, batches([...clean, name]));
    expect(alone(name, type) !== null).toBe(isForced);
  });

  it.each([
    ['a letter left out of a short word', 'Okot Lokwang', 'Oot Lokwang'],
    ['neighbours swapped in a short word', 'Eric Badege', 'Eric Baedge'],
    ['neighbours swapped in a particle', 'Abu Jarrah', 'Bau Jarrah'],
    ['neighbours swapped in two letters', 'Li Chenko', 'Il Chenko'],
  ])('finds %s', async (_, name, customer) => {
    const alone = await createComparison([listed('person', name)], batches([...clean, customer]));
    expect(alone(customer, 'person')?.name).toBe(name);
  });

  it.each([
    ['both words have a slip and the rest is missing', 'Esperanza Maria Gonzalez Muniz', 'Mario N\u00fa\u00f1ez'],
    ['one word sounds like two that are written together', 'Spen Zrae', 'Spencer Fischer'],
    ['one number is another', 'Unit 39', 'Unit 93'],
  ])('does not take a name for a listed one when %s', async (_, name, customer) => {
    const alone = await createComparison([listed('person', name)], batches([...clean, customer]));
    expect(alone(customer, 'person')).toBeNull();
  });

  const titles =
    'Dr|Prof. Dr.|Drs|Professors|Ing.|Dipl.-Ing.|Ph.D.|Mag.|Sir|Lady|Messrs|Herr|Herren|Frau|Monsieur|Mme|Señor|Signora|' +
    'Avv.|General|Generals|Colonels|Captain|Lt. Col.|Rev.|Rabbi|Imam|Sheikhs|Hajji|Excellency|Hon.|Ambassador|President|' +
    'Ministers|Bishop|Kings|Major|Prince|Judge|MBA|LL.M.|M.D.|Jr.|Esq.|Prof. em. Dr. h.c. mult.';

  it('finds a frequent name with titles before, after and between its words, in the plural and stacked', async () => {
    const many = clean.flatMap((name) => Array.from({ length: 40 }, (_, at) => `${name} ${'abcdefgh'[at % 8]}${at}`));
    const common = Array.from({ length: 3_000 }, () => 'Johann Weber');
    const named = await createComparison([listed('person', 'Johann Weber'), ...list], batches([...common, ...many]));
    const titled = titles
      .split('|')
      .flatMap((title) => [
        `${title} Johann Weber`,
        `Johann Weber, ${title}`,
        `Johann ${title} Weber`,
        `Weber ${title} Johann`,
      ]);
    expect(titled.filter((name) => named(name, 'person')?.name !== 'Johann Weber')).toEqual([]);
    const ofList = await createComparison(
      titles.split('|').map((title) => listed('person', `${title} Johann Weber`)),
      batches([...common, ...many]),
    );
    expect(ofList('Johann Weber', 'person')).not.toBeNull();
  });

  it('takes a title that is a name as a name, and a title of a firm as a word of it', async () => {
    const named = await createComparison(
      [
        listed('person', 'Konstanze Bishop'),
        listed('person', 'Konstanze King'),
        listed('entity', 'Major Electric'),
        listed('person', 'Otto Major'),
      ],
      batches(clean),
    );
    expect(named('Konstanze Bishop', 'person')?.name).toBe('Konstanze Bishop');
    expect(named('Dr. Konstanze King', 'person')?.name).toBe('Konstanze King');
    expect(named('Otto Major', 'person')?.name).toBe('Otto Major');
    expect(named('Anna Major', 'person')).toBeNull();
    expect(named('Greta King', 'person')).toBeNull();
    expect(named('General Motors', 'entity')).toBeNull();
    expect(named('Prof. Dr.', 'person')).toBeNull();
  });

  it('takes a name of another type only when it is almost the same', () => {
    expect(find('Nordwind Shipping Co Ltd', 'person')?.name).toBe('NORDWIND SHIPPING CO., LTD.');
    expect(find('Wilhelmina Achterberg Holding', 'entity')).toBeNull();
    expect(find('Zarathustra', 'entity')?.name).toBe('Zarathustra');
  });

  it('finds each listed name whatever the order and case of its words', () => {
    const name = fc.constantFrom(...list).chain((party) =>
      fc
        .shuffledSubarray(party.name.split(' '), { minLength: party.name.split(' ').length })
        .chain((words) =>
          fc.constantFrom(words.join(' '), words.join(' ').toUpperCase(), words.join(', ').toLowerCase()),
        )
        .map((written) => ({ party, written })),
    );
    fc.assert(fc.property(name, ({ party, written }) => find(written, party.type ?? 'person')?.name === party.name));
  });

  it('never fails on anything that a roster may hold', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (name) => find(name, 'person') !== undefined));
  });
});

describe('comparing words', () => {
  it('a slip is one edit, in either direction', () => {
    const word = fc.stringMatching(/^[a-z]{3,12}$/);
    fc.assert(
      fc.property(word, fc.nat(), (text, seed) => {
        const at = seed % (text.length - 1);
        const swapped = text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2);
        const dropped = text.slice(0, at) + text.slice(at + 1);
        return [swapped, dropped].every((slip) => isWithinEdits(text, slip, 1) && isWithinEdits(slip, text, 1));
      }),
    );
    expect(isWithinEdits('abcdef', 'badcfe', 2)).toBe(false);
  });
});
