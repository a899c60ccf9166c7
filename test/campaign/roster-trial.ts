import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'csv-parse/sync';
import { migrate } from '../../src/store/database/migrate.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { startPostgres } from '../helpers/database-servers.js';
import {
  listFaults,
  type MadeRoster,
  makeRoster,
  ownPool,
  type PlayedRoster,
  type PoolName,
  playFile,
  playRoster,
} from './made-rosters.js';

/**
 * Imports rosters of known truth, made ones of each seed and those of NIGHTSCREEN_TEST_DATA, and shows whether any row disappears, any
 * customer is read as somebody else, and anybody whose row is sound is not searched for. Ends with exit code 1 where one is.
 */
const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '90' }, from: { type: 'string', default: '0' } },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const data = process.env['NIGHTSCREEN_TEST_DATA'];

type RealRoster = Omit<MadeRoster, 'bytes' | 'file'> & { path: string };

/** Reads a file with csv-parse alone. */
function readAlone(path: string): string[][] {
  const options = { bom: true, relax_column_count: true, skip_empty_lines: true };
  const rows: string[][] = parse(readFileSync(path), options);
  // DOS closed a file so.
  return rows.filter((fields) => fields.join('') !== '\x1a');
}

const regions = new Intl.DisplayNames('en', { type: 'region' });
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const codes = letters.flatMap((one) => letters.map((other) => one + other));
// Codes that were given up have the name of what came after them.
const isCurrent = (code: string): boolean => Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`;
const codeOf = new Map(codes.filter(isCurrent).map((code) => [regions.of(code) ?? code, code.toLowerCase()]));
for (const [name, code] of [
  ['Hong Kong', 'hk'],
  ['Democratic Republic of the Congo', 'cd'],
  ['Ivory Coast', 'ci'],
  ['East Timor', 'tl'],
  ['Turkey', 'tr'],
  ['Czech Republic', 'cz'],
  ['Bosnia and Herzegovina', 'ba'],
  ['Myanmar', 'mm'],
] as const) {
  codeOf.set(name, code);
}

/** The rows of a file as fields, the header's left out, each with what it means. */
function toRows(
  rows: readonly string[][],
  width: number,
  mean: (fields: readonly string[]) => MadeRoster['rows'][number]['meant'],
): MadeRoster['rows'] {
  return rows.map((fields) => {
    const meant = mean(fields.map((field) => field.trim()));
    return { meant, isSound: fields.length === width && meant !== null };
  });
}

/** Rosters and lists of the data folder, each as somebody would configure it who has looked at it. */
function listReal(folder: string): RealRoster[] {
  const rosters = (file: string): string => join(folder, 'rosters', file);
  const people = (file: string, id: readonly string[]): RealRoster => {
    const [header = [], ...rows] = readAlone(rosters(file));
    const at = (fields: readonly string[], name: string): string => fields[header.indexOf(name)] ?? '';
    return {
      title: `rosters/${file}`,
      path: rosters(file),
      csv: {},
      columns: {
        id,
        name: 'full_name',
        type: { value: 'person' },
        birthDate: 'date_of_birth',
        countries: 'nationality',
      },
      rows: toRows(rows, header.length, (fields) => {
        const land = at(fields, 'nationality');
        return {
          id: id.map((name) => at(fields, name)).join(' '),
          type: 'person',
          name: at(fields, 'full_name'),
          birthDate: at(fields, 'date_of_birth') || null,
          countries: land === '' ? [] : land.split(';').map((each) => codeOf.get(each) ?? each),
        };
      }),
    };
  };
  const list = (
    file: string,
    options: Pick<RealRoster, 'csv' | 'columns'>,
    from: number,
    mean: (fields: readonly string[]) => [string, string, boolean],
  ): RealRoster => {
    const path = join(folder, file);
    const rows = readAlone(path).slice(from);
    return {
      title: file,
      path,
      ...options,
      rows: toRows(rows, rows[0]?.length ?? 0, (fields) => {
        const [id, name, isPerson] = mean(fields);
        return { id, name, type: isPerson ? 'person' : 'entity', birthDate: null, countries: [] };
      }),
    };
  };
  const type = (column: string, persons: readonly string[], others: readonly string[]) => ({
    column,
    values: Object.fromEntries([...persons.map((word) => [word, 'person']), ...others.map((word) => [word, 'entity'])]),
  });
  return [
    people('negatives_us.csv', ['full_name', 'date_of_birth']),
    people('positives_un_untreated.csv', ['full_name']),
    list(
      'watchlists/ofac/sdn.csv',
      {
        csv: { header: false },
        columns: { id: '1', name: '2', type: type('3', ['individual'], ['-0-', 'vessel', 'aircraft']) },
      },
      0,
      ([id = '', name = '', kind]) => [id, name, kind === 'individual'],
    ),
    list(
      'watchlists/ofac/alt.csv',
      { csv: { header: false }, columns: { id: ['1', '2'], name: '4', type: { value: 'entity' } } },
      0,
      ([party = '', id = '', , name = '']) => [`${party} ${id}`, name, false],
    ),
    list(
      'names/ofac_alias_retrieval.csv',
      {
        csv: {},
        columns: {
          id: ['ent_num', 'query_alias'],
          name: 'query_alias',
          type: type('type', ['person'], ['entity', 'vessel', 'aircraft']),
        },
      },
      1,
      ([alias = '', , party = '', , kind]) => [`${party} ${alias}`, alias, kind === 'person'],
    ),
    list(
      'names/name_pairs.csv',
      {
        csv: {},
        columns: { id: ['query', 'candidate'], name: 'query', type: type('type', ['person'], ['entity', 'vessel']) },
      },
      1,
      ([query = '', candidate = '', kind]) => [`${query} ${candidate}`, query, kind === 'person'],
    ),
  ];
}

/** Listed names, those of the list of the United Nations beside those of OFAC; a few of our own without them. */
function makePool(): readonly PoolName[] {
  if (data === undefined) return ownPool;
  const listed = readAlone(join(data, 'watchlists/ofac/sdn.csv')).filter((fields) => fields.length > 2);
  const people = readAlone(join(data, 'rosters/positives_un_untreated.csv')).slice(1);
  return [
    ...ownPool,
    ...listed.map(
      ([, name = '', kind = '']): PoolName => ({
        name: name.trim(),
        type: kind === 'individual' ? 'person' : 'entity',
      }),
    ),
    ...people.map(([name = '']): PoolName => ({ name: name.trim(), type: 'person' })),
  ];
}

const server = await startPostgres();
const database = await openDatabase({ url: server.url }, 'trial');
const all: PlayedRoster[] = [];
const faults: string[] = [];
try {
  await migrate(database);
  say('| roster | rows | customers | rejected | duplicates | refused | silently wrong | sound | searched |');
  say('|---|---|---|---|---|---|---|---|---|');
  const note = (played: PlayedRoster, mayRefuse?: string): void => {
    const { title, rows, customers, rejected, duplicates, refused, wrong, sound, searched } = played;
    all.push(played);
    const shown =
      refused === null
        ? [rows, customers, rejected, duplicates, '', wrong.length, sound, searched]
        : ['', '', '', '', refused, 0, '', ''];
    say(`| ${title.replaceAll('|', 'bar')} | ${shown.join(' | ')} |`);
    faults.push(...listFaults(played, mayRefuse).map((fault) => `${title}: ${fault}`));
  };
  if (data === undefined)
    process.stderr.write('NIGHTSCREEN_TEST_DATA names no folder: made rosters alone are tried.\n');
  else for (const { path, ...real } of listReal(data)) note(await playFile(database, real, path));
  const pool = makePool();
  const first = Number(values.from);
  for (let seed = first; seed < first + Number(values.seeds); seed += 1) {
    const made = makeRoster(seed, pool);
    note(await playRoster(database, { ...made, title: `made ${seed}: ${made.title}` }), made.mayRefuse);
  }
} finally {
  await database.close();
  await server.stop();
}
const read = all.filter(({ refused }) => refused === null);
const sum = (figure: (played: PlayedRoster) => number): number =>
  read.reduce((total, played) => total + figure(played), 0);
const [sound, searched] = [sum((one) => one.sound), sum((one) => one.searched)];
say('');
say(
  `${all.length} rosters, ${all.length - read.length} refused whole; ${sum((one) => one.rows)} rows = ${sum((one) => one.customers)} customers + ${sum((one) => one.rejected)} rejected + ${sum((one) => one.duplicates)} duplicates`,
);
say(
  `silently wrong: ${sum((one) => one.wrong.length)}; customers of sound rows searched for: ${searched} of ${sound} (${((100 * searched) / Math.max(1, sound)).toFixed(2)} %)`,
);
for (const fault of faults) say(`FAULT ${fault}`);
process.exitCode = faults.length === 0 ? 0 : 1;
