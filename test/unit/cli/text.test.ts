import { describe, expect, test } from 'vitest';
import { formatTable, measureWidth, showTimes } from '../../../src/cli/text.js';
import { describeSpan } from '../../../src/reports/text.js';

test.each([
  ['Zoe\u0308', 3],
  ['王小明', 6],
  ['مُحَمَّد', 4],
  ['नमस्ते', 3],
  ['a\u001bb', '[U+001B]'.length + 2],
])('%s takes %i columns of a screen', (text, columns) => {
  expect(measureWidth(text)).toBe(columns);
});

describe('a table', () => {
  test('aligns native scripts by the columns that they take', () => {
    const table = formatTable([
      ['王小明', 'CN', 1],
      ['مُحَمَّد', 'SA', 20],
      ['Erika Muster', 'DE', 300],
    ]);
    const lines = table.trimEnd().split('\n');
    expect(lines.map((line) => measureWidth(line.slice(0, line.search(/(?:CN|SA|DE)/))))).toEqual([14, 14, 14]);
    expect(lines.map(measureWidth)).toEqual([21, 21, 21]);
  });

  const because =
    'the list was cut off, so the roster is held: correct it, then nightscreen runs resume 2026-11-25-onboard-1';
  const table = (width: number): string =>
    formatTable(
      [
        ['run', '2026-11-25-onboard-1'],
        ['because', because],
      ],
      width,
    );

  test('wraps a long cell within its column, and loses no character of it', () => {
    for (const width of [40, 60, 80, 100]) {
      const lines = table(width).trimEnd().split('\n');
      expect(lines.filter((line) => measureWidth(line) > width && !line.includes('nightscreen runs'))).toEqual([]);
      const cell = lines.slice(1).map((line) => line.slice(9));
      expect(cell.join(' ')).toBe(because);
      expect(lines.slice(2).every((line) => line.startsWith(' '.repeat(9)))).toBe(true);
    }
  });

  test('keeps a command to copy on one line', () => {
    expect(table(50)).toMatch(/^ {9}nightscreen runs resume 2026-11-25-onboard-1$/m);
  });

  test('breaks a command that is wider than the screen before its options, so that a shell reads it as one', () => {
    const command = 'nightscreen roster except --roster retail --all --until 2026-12-24 --by NAME --reason TEXT';
    const lines = formatTable([['2026-11-25-onboard-1', `accept it: ${command}`]], 60)
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(22));
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.filter((line) => line.length > 38)).toEqual([]);
    expect(
      lines
        .slice(1)
        .join('\n')
        .replaceAll(/\\\n +/g, ''),
    ).toBe(command);
  });

  test('aligns a column of counts to the right with its head, and counts have commas between the thousands', () => {
    expect(
      formatTable([
        ['tier', 'valid'],
        ['high', 1_000_000],
        ['low', '-'],
      ]),
    ).toBe('tier      valid\nhigh  1,000,000\nlow           -\n');
  });

  test('is not wrapped where it goes to a file or another program', () => {
    expect(table(Number.POSITIVE_INFINITY).trimEnd().split('\n')).toHaveLength(2);
  });

  test('writes a last column without room below its row', () => {
    const row = [...Array.from({ length: 6 }, (_, at) => `${at}`.repeat(11)), because];
    const lines = formatTable([row], 80).trimEnd().split('\n');
    expect(lines[0]).toBe(row.slice(0, 6).join('  '));
    expect(lines.slice(1).join(' ').replaceAll(/ {2,}/g, ' ').trim()).toBe(because);
    expect(lines.filter((line) => measureWidth(line) > 80)).toEqual([]);
  });
});

test.each([
  [59, '59 s'],
  [89, '1 min 29 s'],
  [3_600, '1 h 0 min'],
  [180_000, '2 d 2 h'],
])('%i seconds are %s, exact below an hour', (seconds, words) => {
  expect(describeSpan(seconds)).toBe(words);
});

test('a text shows its instants to the second in UTC, and leaves days and times of the day as they are', () => {
  expect(showTimes('since 2026-03-01T02:00:09.120Z, due 2026-03-02T02:00:00Z; born 1959-03-01, 02:00')).toBe(
    'since 2026-03-01 02:00:09 UTC, due 2026-03-02 02:00:00 UTC; born 1959-03-01, 02:00',
  );
  expect(formatTable([['time', '2026-03-01T02:00:09.120Z']])).toBe('time  2026-03-01 02:00:09 UTC\n');
});

test('an item of a list begins a line of its own, and its further lines are indented', () => {
  const text = 'the roster is held:\n- 149 of 295 customers are missing\naccept it: nightscreen import --accept-roster';
  expect(formatTable([['because', text]], 38)).toBe(
    [
      'because  the roster is held:',
      '         - 149 of 295 customers are',
      '           missing',
      '         accept it:',
      '         nightscreen import \\',
      '           --accept-roster',
      '',
    ].join('\n'),
  );
});
