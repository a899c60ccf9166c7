import { stringify } from 'csv-stringify/sync';
import { expect, test } from 'vitest';
import { RosterError } from '../../../src/errors.js';
import { isFullSize, printFigure } from '../../helpers/figures.js';
import { type CsvContent, countUnexplained, readCsv } from './open-csv.js';

const headers = ['customer_no', 'name', 'note', 'city'];
const rowCount = 40;
const fileCount = isFullSize ? 500 : 60;

/** A small generator of numbers, so that each file can be made again by its seed. */
function createDice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** A file by its rows: each row's own lines, so that it is known which rows a mutation touches. */
function writeRows(dice: (sides: number) => number): { rows: string[][]; texts: string[]; ending: string } {
  const ending = ['\n', '\r\n', '\r'][dice(3)] ?? '\n';
  const quoted = dice(2) === 0;
  const notes = ['', 'plain', 'with, commas, in it', 'said "no"', `two${ending}lines`, `three${ending}${ending}lines`];
  const rows = Array.from({ length: rowCount }, (_, index) => [
    `C-${1_000 + index}`,
    ['Søren Hansen', 'O"Brien, Pat', '李小龙'][dice(3)] ?? '',
    notes[dice(notes.length)] ?? '',
    'København',
  ]);
  const texts = rows.map((row) => stringify([row], { quoted, record_delimiter: ending, eof: false }));
  return { rows, texts, ending };
}

const mutations: readonly ((text: string, dice: (sides: number) => number) => string)[] = [
  (text, dice) => insertAt(text, dice, '"'),
  (text, dice) => insertAt(text, dice, ','),
  (text, dice) => insertAt(text, dice, '\0'),
  (text, dice) => insertAt(text, dice, '\x1a'),
  (text, dice) => insertAt(text, dice, '\n'),
  (text, dice) => text.replace('"', '').slice(0, text.length - dice(2)),
  (text, dice) => text.slice(0, dice(text.length)),
  (text, dice) => text.slice(dice(text.length)),
  (text, dice) => insertAt(text, dice, String.fromCharCode(32 + dice(95))),
  () => '',
  () => ' ',
  (text) => `"${text}`,
  (text) => `${text}"`,
];

function insertAt(text: string, dice: (sides: number) => number, inserted: string): string {
  const at = dice(text.length + 1);
  return text.slice(0, at) + inserted + text.slice(at);
}

/** The rows of a file that are lost although nothing touched them, and what was read. */
interface Trial {
  lost: string[];
  content: CsvContent;
}

async function tryFile(seed: number): Promise<Trial> {
  const dice = createDice(seed);
  const { rows, texts, ending } = writeRows(dice);
  const touched = new Set(Array.from({ length: 1 + dice(5) }, () => dice(rowCount)));
  for (const at of touched) {
    const mutate = mutations[dice(mutations.length)];
    texts[at] = mutate?.(texts[at] ?? '', dice) ?? '';
  }
  const content = await readCsv([headers.join(','), ...texts, ''].join(ending), { mapped: headers });
  const read = new Set(content.records.map(({ fields, fault }) => JSON.stringify([fault, ...fields])));
  const lost = rows.filter((row, at) => !touched.has(at) && !read.has(JSON.stringify([null, ...row])));
  return { lost: lost.map((row) => row.join('|')), content };
}

test('physical lines add up and no undamaged row is lost in mutated files', async () => {
  let lines = 0;
  let faults = 0;
  let joined = 0;
  for (let seed = 1; seed <= fileCount; seed += 1) {
    const { lost, content } = await tryFile(seed);
    expect({ seed, lost }).toEqual({ seed, lost: [] });
    expect({ seed, unexplained: countUnexplained(content.tally) }).toEqual({ seed, unexplained: 0 });
    lines += content.tally.lines;
    joined += content.records.filter(
      ({ fields, fault }) => fault === null && /C-\d{4}.*C-\d{4}/s.test(fields.join('|')),
    ).length;
    faults += content.records.filter(({ fault }) => fault !== null).length;
  }
  expect(joined).toBe(0);
  printFigure(
    `${fileCount} mutated CSV files: ${lines} lines, ${faults} faults, 0 undamaged rows lost, ${joined} damaged ones joined`,
  );
});

test('mutated bytes end in a table whose lines add up or in a RosterError', async () => {
  let refused = 0;
  for (let seed = 1; seed <= fileCount; seed += 1) {
    const dice = createDice(seed + 77_777);
    const { texts, ending } = writeRows(dice);
    const bytes = Buffer.from([headers.join(','), ...texts, ''].join(ending));
    for (let count = 1 + dice(4); count > 0; count -= 1) bytes[dice(bytes.length)] = dice(dice(8) === 0 ? 256 : 128);
    const outcome = await readCsv(bytes)
      .then(({ tally }) => countUnexplained(tally))
      .catch((error: unknown) => error);
    if (outcome instanceof RosterError) {
      refused += 1;
      expect(['encoding', 'header_malformed']).toContain(outcome.code);
    } else expect({ seed, outcome }).toEqual({ seed, outcome: 0 });
  }
  printFigure(
    `${fileCount} CSV files with wrong bytes: ${refused} refused for their encoding or header, the others read`,
  );
});
