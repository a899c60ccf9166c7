import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeXlsx } from 'hucre/xlsx';
import iconv from 'iconv-lite';
import { expect, it } from 'vitest';
import { presentImportedDecisions } from '../../../../src/cli/commands/working-list.js';
import { toAlertCode } from '../../../../src/matches/alert-code.js';
import { holdsWork, readReviewList } from '../../../../src/runs/review/import-list.js';

const key = Buffer.alloc(32, 7);
const toMark = (alertId: number): string => toAlertCode({ alertId, seenVersion: '0123456789' }, key);
const [one, two, three, four] = [toMark(1), toMark(2), toMark(3), toMark(4)];
const folder = await mkdtemp(join(tmpdir(), 'nightscreen-decisions-'));

async function read(...lines: readonly string[]) {
  const path = join(folder, 'list.csv');
  await writeFile(path, `${lines.join('\n')}\n`);
  return (await readReviewList(path, key, async () => [])).decisions;
}

it('an alert that is listed twice is decided by no row, whatever each says and whether it can be stored', async () => {
  const list = await read(
    'alert,disposition,reason',
    `${one},false_positive,a slip`,
    `${two},true_match,him`,
    `${one},true_match,him`,
    `${three},false_positive,not him`,
    `${three},perhaps,him`,
    `${three},true_match,`,
    `${four},false_positive,not him`,
    `${four},,`,
  );
  expect(list.filled.map(({ line, alertId }) => [line, alertId])).toEqual([
    [3, 2],
    [8, 4],
  ]);
  expect(list.faulty).toMatchObject([
    { line: 2, problem: 'the same alert as line 4' },
    { line: 4, problem: 'the same alert as line 2' },
    { line: 5, problem: 'the same alert as line 6, line 7' },
    {
      line: 6,
      problem:
        'the disposition is not one of true match, false positive, inconclusive, no longer matched; the same alert as line 5, line 7',
    },
    { line: 7, problem: 'the disposition has no reason; the same alert as line 5, line 6' },
  ]);
  expect(list).toMatchObject({ undecided: 1 });
});

it('a filled cell that gives no decision is never passed over', async () => {
  const list = await read(
    'alert,disposition,reason,comment',
    `${one},,not him,`,
    `${two},,,ask the branch`,
    ',false_positive,not him,',
    ',,not him,',
    `${three},,,`,
    ',,,',
  );
  expect(list.faulty).toMatchObject([
    { line: 2, problem: 'the row has a reason, but no disposition' },
    { line: 3, problem: 'the row has a comment, but no disposition' },
    { line: 4, problem: '"" is not the code of an alert; copy it from the list' },
    { line: 5, problem: 'the row has a reason, but no disposition' },
  ]);
  expect(list).toMatchObject({ filled: [], undecided: 1 });
});

const headings = ['Alert', 'Disposition', 'Reason', 'Comment'];
const empty = (mark: string) => [mark, '', '', ''];
const filled = (mark: string) => [mark, 'false positive', 'not him', ''];
const write = async (sheets: Readonly<Record<string, readonly (readonly string[])[]>>) => {
  const path = join(folder, 'list.xlsx');
  const named = Object.entries(sheets).map(([name, rows]) => ({ name, rows: rows.map((row) => [...row]) }));
  await writeFile(path, await writeXlsx({ sheets: named }));
  return path;
};
const readSheets = async (sheets: Parameters<typeof write>[0]) =>
  readReviewList(await write(sheets), key, async () => []);

it('a list is read on all sheets of a workbook that have its headings, each with its own columns', async () => {
  const split = await readSheets({
    Anna: [headings, filled(one), empty(two)],
    'To do': [headings],
    Bo: [
      ['Half of Bo'],
      ['Reason', 'Severity', 'Alert', 'Comment', 'Disposition'],
      ['him', '', three, '', 'true match'],
    ],
    Notes: [['call the branch']],
    Method: [['Method and instructions']],
  });
  expect(split.decisions.filled).toMatchObject([
    { sheet: 'Anna', line: 2, alertId: 1, verdict: 'false_positive' },
    { sheet: 'Bo', line: 3, alertId: 3, verdict: 'true_match', reason: 'him' },
  ]);
  expect(split).toMatchObject({ decisions: { faulty: [], undecided: 1 }, unread: ['Notes'] });
  const halfFilled = await readSheets({
    A: [headings, empty(one), empty(two)],
    'A (2)': [headings, filled(one), empty(two)],
  });
  expect(halfFilled.decisions).toMatchObject({ filled: [{ sheet: 'A (2)', alertId: 1 }], faulty: [] });
});

it('an alert that is filled in on two sheets is decided by neither, and each names the other', async () => {
  const both = await readSheets({ A: [headings, filled(one)], 'A (2)': [headings, filled(one), filled(two)] });
  expect(both.decisions.filled).toMatchObject([{ sheet: 'A (2)', line: 3 }]);
  expect(both.decisions.faulty).toMatchObject([
    { sheet: 'A', line: 2, problem: 'the same alert as A (2), line 2' },
    { sheet: 'A (2)', line: 2, problem: 'the same alert as A, line 2' },
  ]);
  const none = { isApplied: false, decided: [], proposed: [], approved: [], instead: [], sameAlready: [] };
  const imported = { ...none, proposedAlready: [], refused: [], undecided: 0, discrepancies: null };
  const shown = presentImportedDecisions(
    { ...imported, faulty: [...both.decisions.faulty], unread: ['Notes'], guessedEncoding: null },
    { storing: 'again', wasApplied: true },
  );
  expect(shown.exitCode).toBe(2);
  expect(shown.text).toMatch(/^A, line 2 +the same alert as A \(2\), line 2\nA \(2\), line 2 .*\nnot read: Notes$/m);
});

it('a sheet with alerts or discrepancies but without all headings is refused by name', async () => {
  const lists = { A: [headings, filled(one)] };
  const below = Array.from({ length: 30 }, () => ['a remark']);
  const toOther = (rows: readonly (readonly string[])[]) => readSheets({ ...lists, Half: rows });
  await expect(toOther([filled(two)])).rejects.toThrow(
    /sheet Half, has cells of a list in line 1, but no row of headings with alert, disposition, reason\. Copy the headings/,
  );
  await expect(toOther([...below, filled(two)])).rejects.toThrow(/sheet Half, .* line 31/);
  await expect(
    toOther([
      ['Customer', 'Disposition', 'Reason'],
      ['C-1', 'true match', 'him'],
    ]),
  ).rejects.toThrow(/Half/);
  const discrepancy = toAlertCode({ alertId: 1, seenVersion: '0123456789' }, key, 'D');
  await expect(toOther([[discrepancy, '2026-12-24', 'known']])).rejects.toThrow(/Half.*discrepancy, accept_until/);
});

it('discrepancies are read on all sheets too, beside alerts', async () => {
  const [first, second] = [1, 2].map((alertId) => toAlertCode({ alertId, seenVersion: '0123456789' }, key, 'D'));
  const titles = ['Discrepancy', 'Accept until', 'Reason'];
  const list = await readSheets({
    A: [titles, [first ?? '', '2026-12-24', 'known']],
    B: [headings, filled(one)],
    C: [
      titles,
      [first ?? '', '2026-12-24', 'known'],
      [second ?? '', '', 'known'],
      [second ?? '', '2026-12-24', 'known'],
    ],
  });
  expect(list).toMatchObject({ decisions: { filled: [{ sheet: 'B' }], faulty: [] }, unread: [] });
  expect(list.acceptances).toMatchObject({
    filled: [{ sheet: 'C', line: 4 }],
    faulty: [
      { sheet: 'A', line: 2, problem: 'the same discrepancy as C, line 2' },
      { sheet: 'C', line: 2, problem: 'the same discrepancy as A, line 2' },
      { sheet: 'C', line: 3, problem: 'the row has a reason, but accept_until is empty' },
    ],
  });
});

it('an export does not overwrite a workbook that is filled on any sheet or has a sheet of the reviewer', async () => {
  const holds = async (sheets: Parameters<typeof write>[0]) => holdsWork(await write(sheets));
  expect(await holds({ A: [headings, empty(one)], 'How to': [['x']] })).toBe(false);
  expect(await holds({ A: [headings, empty(one)], B: [headings, ['', '', '', 'mine']] })).toBe(true);
  expect(await holds({ A: [headings, empty(one)], Notes: [['mine']] })).toBe(true);
});

it('a list with a repeated column that is read is refused, and the message says which and where', async () => {
  const twice = read('alert,disposition,reason, Disposition ', `${one},true_match,him,`);
  await expect(twice).rejects.toThrow(/has columns twice: disposition \(column 2 and column 4\)\./);
  const alerts = read('alert,reason,disposition,alert,reason', `${one},him,true_match,${two},him`);
  await expect(alerts).rejects.toThrow(/alert \(column 1 and column 4\).*reason \(column 2 and column 5\)/);
  const other = await read('alert,disposition,reason,note,note', `${one},true_match,him,a,b`);
  expect(other.filled).toHaveLength(1);
});

it.each([
  ['windows-1252', ';', 'Größe und Geburtsjahr verschieden, fällt weg', 'windows-1252'],
  ['windows-1250', ';', 'inna osoba, różne imię i źródło, zbieżność przypadkowa', 'windows-1250'],
  ['windows-1251', ';', 'другой человек, дата рождения не совпадает', 'windows-1251'],
  ['utf-16le', '\t', 'другой человек', null],
  ['utf-8', ';', 'größer', null],
])(
  'a list that a spreadsheet saved in %s with another delimiter is read as it was written',
  async (encoding, delimiter, reason, guessed) => {
    const path = join(folder, 'saved.csv');
    const cells = [
      ['disposition', 'reason', 'alert'],
      ['false positive', reason, one],
    ];
    const text = cells.map((row) => row.join(delimiter)).join('\r\n');
    await writeFile(path, iconv.encode(text, encoding, { addBOM: encoding.startsWith('utf') }));
    const list = await readReviewList(path, key, async () => []);
    expect(list).toMatchObject({ decisions: { filled: [{ reason }], faulty: [] }, guessedEncoding: guessed });
  },
);
