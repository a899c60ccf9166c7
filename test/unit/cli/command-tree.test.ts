import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { beforeAll, describe, expect, test } from 'vitest';
import { renderCompletion } from '../../../src/cli/completion.js';
import { createProgram, findOverview } from '../../../src/cli/program.js';
import { findProgram } from '../../helpers/cli-process.js';
import { findRefusal, splitWords } from '../../helpers/shipped-files.js';

const program = await createProgram(() => {}, { writeOut: () => {}, writeErr: () => {} });

const toPath = (command: Command): string =>
  command.parent === null ? '' : `${toPath(command.parent)} ${command.name()}`.trim();

const listCommands = (command: Command): Command[] => [command, ...command.commands.flatMap(listCommands)];

function renderHelp(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => 80,
  });
  command.outputHelp();
  return text;
}

const commands = listCommands(program)
  .filter((command) => command !== program)
  .map((command) => ({ path: toPath(command), command }));

const listExamples = (help: string): string[] =>
  [...help.matchAll(/^ {2}\$ nightscreen (.*)$/gm)].map(([, words = '']) => words);

/** The names of all options, those of the program included. */
const listOptionNames = (): string[] => [
  ...new Set(listCommands(program).flatMap(({ options }) => options.map(({ long }) => long ?? ''))),
];

test('there are at most 67 commands, 27 of them at the top, and at most 70 names of options', () => {
  expect(program.commands.length).toBeLessThanOrEqual(27);
  expect(commands.length).toBeLessThanOrEqual(67);
  expect(listOptionNames().length).toBeLessThanOrEqual(70);
  // The check counts what is there.
  expect([commands.length, listOptionNames().length]).toEqual([
    expect.toSatisfy((count) => count > 40),
    expect.toSatisfy((count) => count > 40),
  ]);
});

describe.each(commands)('nightscreen $path --help', ({ command }) => {
  const help = renderHelp(command);

  test('fits 24 lines of 80 columns', () => {
    const lines = help.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  test('has two examples that work as printed, of this command', async () => {
    const examples = listExamples(help);
    expect(examples).toHaveLength(2);
    for (const example of examples) {
      expect(example.split(' ')).toEqual(expect.arrayContaining(toPath(command).split(' ')));
      expect(await findRefusal(splitWords(example))).toBeNull();
    }
  });
});

test('the help of the program fits 80 columns, with a line for each command', () => {
  const lines = renderHelp(program).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  for (const { command } of commands.filter(({ command }) => command.parent === program)) {
    const summary = command.summary() || command.description();
    expect(lines.filter((line) => line.endsWith(` ${summary}`))).toHaveLength(1);
  }
});

test('the overview, which loads no command, is the help of the program', () => {
  const help = renderHelp(program);
  for (const word of ['-h', '--help', 'help']) expect(findOverview([word])).toBe(help);
  expect(findOverview(['-v'])).toMatch(/^\d+\.\d+\.\d+\n$/);
  for (const words of [[], ['runs'], ['--help', '--json'], ['help', 'runs'], ['runs', '--help']]) {
    expect(findOverview(words)).toBeNull();
  }
});

test('a command that is loaded alone is the one of the whole program, and other words load all', async () => {
  const load = (...words: string[]) => createProgram(() => {}, { writeOut: () => {}, writeErr: () => {} }, words);
  for (const whole of program.commands.filter((command) => command.name() !== 'config')) {
    const { commands: loaded } = await load(whole.name());
    expect(loaded.flatMap(listCommands).map(renderHelp)).toEqual(listCommands(whole).map(renderHelp));
  }
  for (const words of [[], ['--json', 'runs'], ['help', 'runs'], ['config', 'completion'], ['toString']]) {
    expect((await load(...words)).commands).toHaveLength(program.commands.length);
  }
});

test('an option has one meaning in all commands', () => {
  const meanings = new Map<string, Set<string>>();
  for (const command of listCommands(program)) {
    for (const { long, description } of command.options) {
      const known = meanings.get(long ?? '') ?? new Set();
      meanings.set(long ?? '', known.add(description));
    }
  }
  expect([...meanings].filter(([, each]) => each.size > 1)).toEqual([]);
});

describe('completion', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'nightscreen-completion-'));
    writeFileSync(join(folder, 'my roster.csv'), '');
    writeFileSync(join(folder, 'script.sh'), renderCompletion(program));
  });

  const run = (shell: string, script: string): string[] =>
    execFileSync(shell, ['-c', script], { cwd: folder, encoding: 'utf8' }).split('\n').filter(Boolean);

  /** The words typed so far, the last one unfinished, and what is offered for it. */
  const typed: [words: string[], offered: string[]][] = [
    [['nightscreen', 'resc'], ['rescreen']],
    [
      ['nightscreen', 'outbox', ''],
      ['drop', 'retry'],
    ],
    [
      ['nightscreen', '--config', 'review', 'config', ''],
      ['accept', 'completion', 'replay'],
    ],
    [['nightscreen', 'review', 'export', '--ou'], ['--out']],
    [['nightscreen', 'runs', '--js'], ['--json']],
    [
      ['nightscreen', 'check', '--type', ''],
      ['entity', 'person'],
    ],
    [['nightscreen', 'onboard', '--file', 'my'], ['my roster.csv']],
    [['nightscreen', 'check', '--reason', ''], []],
  ];

  test('bash offers commands, options, choices and files', () => {
    for (const [words, offered] of typed) {
      const quoted = words.map((word) => `'${word}'`).join(' ');
      const script = `source script.sh; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _nightscreen; printf '%s\\n' "\${COMPREPLY[@]}"`;
      expect(run('bash', script).toSorted()).toEqual(offered);
    }
  });

  test.skipIf(findProgram('zsh') === null)('zsh reads the same script, and completes by it', () => {
    const script = 'autoload -U compinit; compinit -u -D; source script.sh; print $_comps[nightscreen]';
    expect(run('zsh', script)).toEqual(['_bash_complete -F _nightscreen']);
  });
});
