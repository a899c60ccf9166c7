import { expect, test } from 'vitest';
import { standardHeaders, standardPartyHeaders } from '../../../src/roster/headers.js';
import { rosterSettingsSchema } from '../../../src/roster/settings.js';
import { describeUnmappedNames, UnmappedNameTally } from '../../../src/roster/unmapped-names.js';
import { textsOf } from './read-text.js';

const people = ['Ada Berg', 'Bo Ek Lind', 'Cyril Novák', 'Dora Vance', 'Emil Østergaard'];
const shares = people.map((name) => `${name} (50%); ${name}son (25%)`);

/** What a roster of 100 customers with one more column, filled in its first rows, is found to leave out. */
function find(header: string, values: readonly string[], given: Record<string, unknown> = {}) {
  const columns = rosterSettingsSchema.shape.columns.parse({ id: 'id', name: 'name', ...given });
  const tally = new UnmappedNameTally(['id', 'name', header], columns, standardHeaders);
  for (let row = 0; row < 100; row += 1) tally.add([`C${row}`, `Customer Person${row}`, values[row] ?? '']);
  return tally.list();
}

test.each([
  ['joint_holder', 'Medsökande 1 namn'],
  ['joint_holder', 'MEDSOKANDE2_NAMN'],
  ['joint_holder', 'Mitantragsteller Name'],
  ['joint_holder', 'Co-titulaire'],
  ['joint_holder', 'Cointestatario'],
  ['joint_holder', 'Współwłaściciel'],
  ['joint_holder', 'Mede-rekeninghouder'],
  ['joint_holder', 'Созаемщик ФИО'],
  ['joint_holder', 'Συνδικαιούχος'],
  ['joint_holder', 'Second account holder'],
  ['director', 'Prezes zarządu'],
  ['director', 'Geschäftsführer 1'],
  ['director', 'director_2_full_name'],
  ['director', 'Jednatel'],
  ['beneficial_owner', 'Wspólnicy'],
  ['beneficial_owner', 'Beneficjent rzeczywisty'],
  ['beneficial_owner', 'UBO1'],
  ['beneficial_owner', 'Reel ejer'],
  ['beneficial_owner', 'Titular real'],
  ['beneficial_owner', 'Skutečný majitel'],
  ['beneficial_owner', 'Tényleges tulajdonos'],
  ['beneficial_owner', 'Бенефициар'],
  ['beneficial_owner', 'Hissedar'],
  ['beneficial_owner', '股东'],
  ['beneficial_owner', 'المستفيد الحقيقي'],
  ['other', 'Guarantor'],
  ['other', 'Ehepartner'],
  ['other', 'Osoba upoważniona'],
  ['other', 'Relationship manager'],
  ['other', 'Account owner'],
  ['other', 'Employer'],
  ['other', '後見人'],
  ['alias', 'Maiden name'],
  ['alias', 'Geburtsname'],
  ['alias', 'Nom commercial'],
])('names of %s are found under the header %j', (kind, header) => {
  expect(find(header, people)).toMatchObject([{ header, kind }]);
});

test.each([
  ['in five of a hundred rows', people],
  ['in capitals', people.map((name) => name.toUpperCase())],
  ['with the last name first', ['Berg, Ada', 'Lind, Bo Ek', 'Novák, Cyril']],
  ['with shares', shares],
  ['of firms', ['Acme Ltd', 'Volvo AB', 'Holdmar Sp. z o.o.']],
  ['in Cyrillic', ['Иванов Иван Иванович', 'Петров Пётр']],
  ['in Han', ['王小明', '李四光', '张伟']],
  ['in Japanese', ['佐藤 太郎', '鈴木 花子']],
  ['in Arabic', ['محمد البستاني', 'أحمد الخوري']],
])('names %s are found by their form under a header that says nothing', (_, values) => {
  expect(find('x17', values)).toMatchObject([{ header: 'x17', isNamed: false }]);
  expect(find('17', values)).toHaveLength(1);
});

test.each(
  textsOf(`
  Ort  city  Adresse  Produkt  Branch  Filiale  Zawód  Occupation  Status  Bemerkungen  Comment
  Team  Place of birth  Employer city  Beneficiary bank  Created by  File name  Name of product  支店
`),
)('a column %j is none of names, whatever its values look like', (header) => {
  expect(find(header, people)).toEqual([]);
});

test.each([
  ['Guarantor', Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? 'Yes' : 'No'))],
  ['has_guarantor', ['Y', 'N']],
  ['Director since', ['2001-02-03']],
  ['Guarantor id', ['G-17']],
  ['spouse dob', ['1980-01-01']],
  ['Medsökande 1 namn', ['-', 'N/A', 'brak', 'none']],
  ['Medsökande 1 namn', []],
  ['x1', ['Golden Card', 'Silver Plan', 'Basic Account']],
  ['x2', ['Called customer twice', 'Sent letter home']],
  ['x3', ['Denmark', 'United States', 'South Africa']],
  ['x4', Array.from({ length: 100 }, (_, at) => ['Wealth Desk', 'Nordic Clients'][at % 2] ?? '')],
  ['first_name', Array.from({ length: 100 }, () => 'Customer')],
  ['SHORT_NAME', Array.from({ length: 100 }, (_, at) => `PERSON${at} CUST`)],
])('a column %j with values like %j is none of other names', (header, values) => {
  expect(find(header, values)).toEqual([]);
});

test('a mapped or ignored column is not found, and one that is only kept as an attribute is', () => {
  expect(find('Guarantor', people, { parties: [{ name: 'Guarantor' }] })).toEqual([]);
  expect(find('Guarantor', people, { aliases: 'Guarantor' })).toEqual([]);
  expect(find('Guarantor', people, { ignore: ['Guarantor'] })).toEqual([]);
  expect(find('Guarantor', people, { attributes: ['Guarantor'] })).toHaveLength(1);
  expect(find('Guarantor', people, { attributes: 'all' })).toHaveLength(1);
});

test('what is found is described with settings that are valid as written', () => {
  const headers = ['id', 'name', 'co_first_name', 'co_last_name', 'Guarantor 1', 'Guarantor 1 DOB', 'Maiden name'];
  const columns = { id: 'id', name: 'name' };
  const tally = new UnmappedNameTally(headers, columns, standardHeaders);
  tally.add(['C1', 'Ann Lee', '', '', 'Ada Berg', '1980-01-01', 'Bo Ek']);
  const [message] = describeUnmappedNames(tally.list(), headers, 'roster');
  expect(message).toBe(
    'columns "Guarantor 1", "Maiden name" look like names of people or firms, and no setting reads them. Nobody in them is searched for: ' +
      'write parties: [{ name: "Guarantor 1", role: { value: other }, birthDate: "Guarantor 1 DOB" }] and aliases: ["Maiden name"] under columns of this roster, ' +
      'or ignore: ["Guarantor 1", "Maiden name"] for names that are not to be searched for',
  );
  expect(describeUnmappedNames([], headers, 'roster')).toEqual([]);
  const ofSource = new UnmappedNameTally(['customer_id', 'role', 'name', 'spouse'], {}, standardPartyHeaders);
  ofSource.add(['C1', 'director', 'Ann Lee', 'Ada Berg']);
  expect(describeUnmappedNames(ofSource.list(), [], 'parties')[0]).toMatch(
    /^column "spouse" looks like .* or ignore: \["spouse"\]/,
  );
});

test('first and last name of one party are proposed as one name', () => {
  const headers = ['id', 'name', 'joint_holder_first_name', 'joint_holder_last_name'];
  const tally = new UnmappedNameTally(headers, { id: 'id', name: 'name' }, standardHeaders);
  tally.add(['C1', 'Ann Lee', 'Ada', 'Berg']);
  expect(describeUnmappedNames(tally.list(), headers, 'roster')[0]).toContain(
    'parties: [{ name: ["joint_holder_first_name", "joint_holder_last_name"], role: { value: joint_holder } }]',
  );
});
