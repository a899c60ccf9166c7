import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';
import { createProgram } from '../../../src/cli/program.js';
import { nameInCommands } from '../../../src/reports/text.js';
import { listUnnamedCommands } from '../../helpers/report-files.js';
import { findRefusal, root } from '../../helpers/shipped-files.js';
import { listFiles } from '../architecture/read-imports.js';

/** What stands where a message has a value that is known only when it is written. */
const value = 'VALUE';

/** The texts of a file; a value within a text, or its `{name}`, becomes a word, and what is joined to a word is left out. */
function listTexts(file: string): string[] {
  const texts: string[] = [];
  const { program } = parseSync(file, readFileSync(join(root, file), 'utf8'));
  new Visitor({
    Literal: (node) => {
      if (typeof node.value === 'string') texts.push(node.value.replaceAll(/\{\w+\}/g, value));
    },
    TemplateLiteral: ({ quasis }) => {
      const parts = quasis.map(({ value: { cooked, raw } }) => cooked ?? raw);
      texts.push(parts.reduce((text, part) => `${text}${/[\s"'(]$/.test(text) ? value : ''}${part}`));
    },
  }).visit(program);
  return texts;
}

const program = await createProgram(() => {}, { writeOut: () => {}, writeErr: () => {} });

const isPlaceholder = (word: string): boolean => /^(?:[A-Z][A-Z_]*|.*\d.*|.*\.\w+|["'].*)$/.test(word);

/** What a person would type for a placeholder. */
const fillIn = (word: string, option?: Option): string => {
  if (!/^[A-Z][A-Z_]*$/.test(word)) return word.replaceAll(/["']/g, '');
  if (option?.long === '--until' || word === 'DATE') return '2099-01-31';
  return option?.argChoices?.[0] ?? (word === 'FILE' ? 'file.csv' : '12');
};

/** The word without what closes it: punctuation, a quotation, an element of HTML, the end of its line. */
const trim = (word: string): string => word.replace(/[`<\n][\s\S]*$/, '').replace(/[.;,:)]+$/, '');

/** The words of the command at the start of a text; they end where its clause ends, or with the first word that cannot belong to it. */
function readCommand(text: string): string[] {
  const words: string[] = [];
  const given = text.split(' ');
  let command: Command = program;
  let taken = 0;
  const take = (option?: Option): void => {
    const word = given.shift() ?? '';
    words.push(word.startsWith('--') ? trim(word) : fillIn(trim(word), option));
    if (trim(word) !== word) given.length = 0;
  };
  while (given.length > 0) {
    const next = trim(given[0] ?? '');
    const inner = command.commands.find((each) => each.name() === next);
    const option = [...command.options, ...program.options].find(({ long }) => long === next);
    const argument = command.registeredArguments[taken];
    if (words.length === 0 && next === 'help') return [next];
    if (inner) command = inner;
    else if (argument && isPlaceholder(next)) taken += argument.variadic ? 0 : 1;
    else if (!next.startsWith('--')) break;
    take();
    if (option?.required && given.length > 0) take(option);
  }
  return words;
}

const texts = [...listFiles('src'), ...listFiles('jobs')].flatMap((file) =>
  listTexts(file).map((text) => ({ file, text })),
);
const suggested = texts.flatMap(({ file, text }) =>
  // Not where a value names the command, and not the name of a connection.
  [...text.matchAll(/(?<![\w/.-])nightscreen (?!VALUE|COMMAND|roster$)(?=[a-z])/g)].map(({ index }) => ({
    file,
    text: text.slice(index, index + 90),
    words: readCommand(text.slice(index + 'nightscreen '.length)),
  })),
);

test('every command that a message suggests is one that the program takes as it is printed', async () => {
  expect(suggested.length).toBeGreaterThan(120);
  const refused = await Promise.all(
    suggested.map(async ({ file, text, words }) => {
      const refusal = await findRefusal(words);
      return refusal === null ? null : `${file}: ${text}: ${refusal}`;
    }),
  );
  expect(refused.filter((each) => each !== null)).toEqual([]);
});

test('each of them names the organisation, in JSON and in a page as well', async () => {
  const printed = [
    ...texts.map(({ text }) => text),
    JSON.stringify(texts),
    `<code>nightscreen runs</code>\nnightscreen doctor`,
  ];
  expect(listUnnamedCommands(printed.join('\n'), 'north').length).toBeGreaterThan(2 * 110);
  expect(printed.flatMap((text) => listUnnamedCommands(nameInCommands(text, 'north'), 'north'))).toEqual([]);
  for (const text of [
    'nightscreen sandbox',
    'nightscreen --help',
    'nightscreen --organisation north runs',
    '/nightscreen runs',
  ])
    expect(nameInCommands(text, 'north')).toBe(text);
  expect(await findRefusal(['--organisation', 'north', 'runs', 'show', '12'])).toBeNull();
});

test('a command that does not exist, an unknown option and a missing argument would be found', async () => {
  for (const text of ['mail list shows them', 'coverage --list 20', 'runs show` describes it', 'db backup` wrote']) {
    expect([text, await findRefusal(readCommand(text))]).not.toEqual([text, null]);
  }
  expect(readCommand('outbox retry VALUE tries again')).toEqual(['outbox', 'retry', '12']);
  expect(readCommand('import --file FILE --roster retail. Then')).toEqual([
    'import',
    '--file',
    'file.csv',
    '--roster',
    'retail',
  ]);
});
