import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { findKeyProblem, toKeyMode } from '../../client/credentials.js';
import { findBaseUrlProblem } from '../../client/settings.js';
import { keyVariable, readSecret } from '../../config/environment.js';
import { defaultFile, loadConfig } from '../../config/load-config.js';
import { ConfigError, flagError, NightscreenError, readErrorCode, readMessage, usageError } from '../../errors.js';
import { countNoun, formatCount, quoteArgument, toVisibleText } from '../../reports/text.js';
import type { FileInspection } from '../../roster/inspect/inspect-file.js';
import { toInline, toRosterYaml } from '../../roster/inspect/roster-yaml.js';
import { listCompletable } from '../../roster/inspect/unknown-values.js';
import type { RunMode } from '../../vocabulary.js';
import { findMissingService } from '../app-context.js';
import { defineCommand, flag, type OptionValues, text } from '../command.js';
import type { Finding } from '../doctor/finding.js';
import { exitCodes } from '../exit-code.js';
import { type Invocation, type Outcome, toOutcome } from '../invocation.js';
import { shared } from '../options.js';
import { formatTable } from '../text.js';
import { formatFindings } from './doctor.js';
import { describeDelimiter, describeFile, describeGuess, listUnknown } from './roster.js';

const options = {
  url: text('<address>', 'address of the service, with its version prefix'),
  keyFile: shared.keyFile,
  sandbox: { ...flag('try it with `nightscreen sandbox` as the service'), conflicts: ['url'] },
  file: shared.file,
  roster: shared.roster,
};

type InitOptions = OptionValues<typeof options>;

export const command = defineCommand({
  usage: 'init',
  description:
    'write nightscreen.config.yaml for a service and a roster file, check it, and print the next command; asks on a terminal',
  options,
  examples: ['init --sandbox --file customers.csv', 'init --url https://api.example/v1 --key-file key --file crm.csv'],
  run: ({ invocation, options }) => initialise(invocation, options),
});

/** The answers of the flags, the environment and a person at a terminal. */
interface Answers {
  /** Undefined when the environment names the service, or the sandbox is not started yet. */
  url: string | undefined;
  keyFile: string | undefined;
  file: string;
}

async function initialise(invocation: Invocation, options: InitOptions): Promise<Outcome> {
  const { environment, folder } = invocation;
  const isSandbox = options.sandbox === true;
  const named = invocation.options.config ?? (environment['NIGHTSCREEN_CONFIG'] || undefined);
  const target = resolve(folder, named ?? defaultFile);
  if (existsSync(target)) throw refuseExisting(target);
  const { inspectFile, toRosterName } = await import('../../roster/inspect/inspect-file.js');
  let inspected: { file: string; inspection: FileInspection } | undefined;
  // An answer on the terminal is inspected before the next question.
  const inspect = async (file: string): Promise<FileInspection> => {
    if (inspected?.file !== file) {
      const path = resolve(folder, file);
      inspected = { file, inspection: await inspectFile({ path, name: options.roster ?? toRosterName(file) }) };
    }
    return inspected.inspection;
  };
  const answers = await findAnswers(invocation, options, inspect);
  const key = chooseKey(invocation, answers);
  const path = resolve(folder, answers.file);
  const inspection = await inspect(answers.file);
  const service = { url: answers.url, mode: isSandbox ? 'test' : key.mode, isSandbox } as const;
  await writeNew(target, toConfiguration(inspection, relative(dirname(target), path), service));
  const { checkAll } = await import('../doctor/check-all.js');
  const config = loadConfig({ environment: key.environment, folder, file: target });
  const found = await checkAll(config, folder);
  // The sandbox is yet to be started; the next commands say so.
  const isWaiting = isSandbox && findMissingService(config).length > 0;
  const isNew = !existsSync(config.settings.database.folder);
  const checks = found.filter(
    // A new folder has no database yet, and needs none.
    ({ check, state }) =>
      !(isWaiting && (check === 'key' || check === 'service')) &&
      !(isNew && check === 'database' && state === 'warn') &&
      // The two controls of the sandbox are enough to try it.
      !(isSandbox && check === 'controls'),
  );
  const isWell = inspection.settings !== null && checks.every(({ state }) => state !== 'fail');
  const next = [
    ...(isWaiting ? ['nightscreen sandbox --key-file sandbox.key'] : []),
    ...key.commands,
    `nightscreen ${isWell ? 'onboard' : 'doctor'}${named === undefined ? '' : ` --config ${quoteArgument(named)}`}`,
  ];
  const { counts, unknown } = inspection;
  const shown = { toComplete: listToComplete(inspection), checks, next };
  return toOutcome(
    'nightscreen/init/1',
    { file: target, counts, unknown, ...shown },
    describeInit(inspection, { target, ...shown, isWaiting, isSandbox }),
    isWell ? exitCodes.complete : exitCodes.incomplete,
  );
}

const refuseExisting = (target: string): ConfigError =>
  usageError(
    'file',
    `${target} is there already and stays as it is. Name another file with --config FILE, or edit it: \`nightscreen roster inspect FILE\` prints the part for a roster, \`nightscreen doctor\` checks it`,
  );

/** Never overwrites a file, also one that another process writes meanwhile. */
async function writeNew(target: string, lines: readonly string[]): Promise<void> {
  try {
    await writeFile(target, `${lines.join('\n')}\n`, { flag: 'wx' });
  } catch (error) {
    if (readErrorCode(error) === 'EEXIST') throw refuseExisting(target);
    throw usageError('file', `${target} cannot be written: ${readMessage(error)}`, error);
  }
}

interface Question {
  flag: string;
  /** What a program that has no terminal must give. */
  missing: string;
  ask: string;
  /** What is wrong with an answer; undefined for a good one. */
  check: (answer: string) => Promise<string | undefined>;
}

/** Asks for what neither flags nor the environment give; without a terminal throws ConfigError with all missing flags. */
async function findAnswers(
  invocation: Invocation,
  { url, keyFile, sandbox, file }: InitOptions,
  inspect: (file: string) => Promise<FileInspection>,
): Promise<Answers> {
  const { environment } = invocation;
  const ofUrl: Question = {
    flag: '--url',
    missing: 'is missing: the address of the service with its version prefix, or --sandbox to try it without one',
    ask: 'Address of the service, such as https://service.example/v1 (or http://127.0.0.1:8080/v1 on this machine): ',
    check: async (answer) => findBaseUrlProblem(answer),
  };
  const ofKey: Question = {
    flag: '--key-file',
    missing: `is missing: the file that holds the private key (or set ${keyVariable})`,
    ask: 'File that holds the private key: ',
    check: async (answer) => readKey(invocation, answer).problem,
  };
  const ofFile: Question = {
    flag: '--file',
    missing: 'is missing: the roster file (CSV or .xlsx)',
    ask: 'Roster file (CSV or .xlsx): ',
    check: (answer) => findProblem(inspect(answer)),
  };
  const missing: Question[] = [];
  if (url !== undefined) await requireGood(ofUrl, url);
  else if (!sandbox && !environment['NIGHTSCREEN_BASE_URL']) missing.push(ofUrl);
  if (keyFile !== undefined) await requireGood(ofKey, keyFile);
  else if (!sandbox && readSecret(environment, keyVariable) === undefined) missing.push(ofKey);
  if (file === undefined) missing.push(ofFile);
  const answered = missing.length === 0 ? new Map<Question, string>() : await ask(invocation, missing);
  return {
    url: url ?? answered.get(ofUrl),
    keyFile: keyFile ?? answered.get(ofKey),
    file: file ?? answered.get(ofFile) ?? '',
  };
}

async function requireGood({ flag, check }: Question, value: string): Promise<void> {
  const problem = await check(value);
  if (problem !== undefined) throw flagError(flag, problem);
}

async function findProblem(attempt: Promise<unknown>): Promise<string | undefined> {
  try {
    await attempt;
    return undefined;
  } catch (error) {
    if (error instanceof NightscreenError) return error.message;
    throw error;
  }
}

async function ask(
  { terminal, options, signal }: Invocation,
  missing: readonly Question[],
): Promise<Map<Question, string>> {
  const refuse = (left: readonly Question[]): ConfigError =>
    new ConfigError(left.map(({ flag, missing: message }) => ({ where: `flag ${flag}`, path: '', message })));
  if (process.stdin.isTTY !== true || !terminal.isScreen || options.json) throw refuse(missing);
  const lines = createInterface({ input: process.stdin, output: process.stderr, signal });
  // Lines that were pasted together wait here for their question.
  const typed = lines[Symbol.asyncIterator]();
  const answers = new Map<Question, string>();
  try {
    for (const [at, question] of missing.entries()) {
      while (!answers.has(question)) {
        lines.setPrompt(question.ask);
        lines.prompt();
        const { value, done } = await typed.next();
        signal.throwIfAborted();
        if (done) throw refuse(missing.slice(at));
        const answer = String(value).trim();
        if (answer === '') continue;
        const problem = await question.check(answer);
        if (problem === undefined) answers.set(question, answer);
        else process.stderr.write(`  ${toVisibleText(answer)}: ${problem}\n`);
      }
    }
    return answers;
  } finally {
    lines.close();
  }
}

const keyFileName = `${keyVariable}_FILE`;

/** Reads a key from its file, with the environment of the commands that use it. */
function readKey({ environment, folder }: Pick<Invocation, 'environment' | 'folder'>, keyFile: string) {
  const file = resolve(folder, keyFile);
  const given = { ...environment, [keyVariable]: undefined, [keyFileName]: file };
  try {
    const key = readSecret(given, keyVariable)?.value ?? '';
    const problem = findKeyProblem(key, undefined);
    return { file, given, key, problem: problem === undefined ? undefined : `${file} ${problem}` };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { file, given, key: '', problem: error.problems.map(({ message }) => message).join('; ') };
  }
}

/** The mode of the key, the environment with it, and the commands that give it to the next command. */
function chooseKey(invocation: Invocation, { keyFile }: Answers) {
  const { environment } = invocation;
  if (keyFile === undefined) {
    const key = readSecret(environment, keyVariable)?.value;
    return { mode: toMode(key), environment, commands: [] };
  }
  const { file, given, key } = readKey(invocation, keyFile);
  const commands = [
    ...(environment[keyVariable] ? [`unset ${keyVariable}`] : []),
    ...(environment[keyFileName] === file ? [] : [`export ${keyFileName}=${quoteArgument(file)}`]),
  ];
  return { mode: toMode(key), environment: given, commands };
}

const toMode = (key: string | undefined): RunMode | null => {
  const mode = key === undefined ? 'unknown' : toKeyMode(key);
  return mode === 'unknown' ? null : mode;
};

const controlsToComplete = [
  '# Control searches have known answers; without them no run with a live key is complete. Fill in the names:',
  '# controls:',
  '#   - { type: person, name: "", expect: match, topics: [sanction] } # a person on a sanctions list',
  '#   - { type: entity, name: "", expect: match, topics: [sanction] } # a company on a sanctions list',
  '#   - { type: person, name: "", expect: match, topics: [role.pep] } # a politically exposed person',
  '#   - { type: person, name: "", expect: none } # a name that is on no list',
];

const controlsOfSandbox = [
  '# Control searches have known answers. These are for the invented list of the sandbox; replace them for a real service.',
  'controls:',
  '  - { type: person, name: "Balthasar Quenneville-Ortiz", expect: match, topics: [sanction] }',
  '  - { type: person, name: "Zephyrine Ottakringer-Mbaluka", expect: none }',
];

const mostLines = 40;

/** The lines of the configuration file; where they are too many, unknown words are left to `roster inspect`. */
function toConfiguration(
  inspection: FileInspection,
  path: string,
  { url, mode, isSandbox }: { url: string | undefined; mode: RunMode | null; isSandbox: boolean },
): readonly string[] {
  const head = [
    `# docs/configuration.md describes each setting. Secrets are never in this file: ${keyVariable} has the key.`,
    'service:',
    url === undefined
      ? '  # baseUrl: https://service.example/v1 # NIGHTSCREEN_BASE_URL gives it now'
      : `  baseUrl: ${toInline(url)}`,
    mode === null
      ? '  # mode: test # or live; it must agree with the key'
      : `  mode: ${mode} # it must agree with the key`,
  ];
  const tail = [
    ...(isSandbox ? controlsOfSandbox : controlsToComplete),
    'reports: { dir: ./reports }',
    '# A live key needs a limit and the price: budget: { maxSearchesPerMonth: 50000, pricePerSearch: 0.02, currency: EUR }',
  ];
  for (let mostUnknown = 20; ; mostUnknown = Math.floor(mostUnknown / 2)) {
    const lines = [...head, ...toRosterYaml(inspection, path, mostUnknown), ...tail];
    if (lines.length <= mostLines || mostUnknown === 0) return lines;
  }
}

/** What an import does with values that it does not understand. */
const untilThen = {
  type: 'these rows are rejected and listed as not screened',
  birthDate: 'these customers are screened without a birth date',
  countries: 'these customers are screened, with an unknown country',
  riskTier: 'these customers are screened, and count as high',
} as const;

function listToComplete({ guess, settings, unknown }: FileInspection): readonly string[] {
  const { id, name } = guess.columns;
  return [
    ...(id === undefined ? ['rosters[0].columns.id: no column looks like a customer id'] : []),
    ...(name === undefined ? ['rosters[0].columns.name: no column looks like a name'] : []),
    ...(settings === null && id !== undefined && name !== undefined
      ? ['rosters[0].columns: more than half of the rows would be rejected with this mapping']
      : []),
    ...listCompletable(unknown).map(({ key, column, values, isMapped }) => {
      const rows = values.reduce((sum, each) => sum + each.rows, 0);
      const what = key === 'birthDate' ? 'form' : 'word';
      const effect = isMapped ? untilThen[key] : 'the column is not used';
      return `rosters[0].columns.${key}: ${countNoun(values.length, what)} of ${column} in ${countNoun(rows, 'row')}; until then ${effect}`;
    }),
  ];
}

interface InitFacts {
  target: string;
  toComplete: readonly string[];
  checks: readonly Finding[];
  next: readonly string[];
  isWaiting: boolean;
  isSandbox: boolean;
}

function describeInit(
  inspection: FileInspection,
  { target, toComplete, checks, next, isWaiting, isSandbox }: InitFacts,
): string {
  const { sheet, encoding, delimiter, guess, counts, unknown } = inspection;
  const form =
    sheet === null ? `${encoding}, delimiter ${describeDelimiter(delimiter)}` : `sheet ${toVisibleText(sheet)}`;
  const { customers, rejected, repeated } = counts;
  const problems = checks.filter(({ state }) => state !== 'ok');
  const list = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? '' : `\n${title}\n${lines.map((line) => `  - ${toVisibleText(line)}\n`).join('')}`;
  const commands = next.map((command) => `  ${command}\n`);
  const [first = '', ...others] = commands;
  return [
    `wrote ${target}\n`,
    `\nRoster ${describeFile(inspection)} (${form})\n`,
    formatTable(describeGuess(inspection)),
    `  ${formatCount(customers)} customers + ${formatCount(rejected)} rejected + ${formatCount(repeated)} repeated rows\n`,
    listUnknown(unknown),
    list('To check', guess.doubts),
    list(`To complete in ${target}`, toComplete),
    `\nChecks: ${checks.length - problems.length} passed${problems.length === 0 ? '' : ', and'}\n`,
    formatFindings(problems),
    isSandbox
      ? '\nThe names in the list of the sandbox are invented: it finds no real sanctioned name. Try Clémence Montévrain.\n'
      : '',
    isWaiting
      ? `\nNext, in a second terminal\n${first}\nThen paste its two export lines here, and\n${others.join('')}`
      : `\nNext\n${commands.join('')}`,
  ].join('');
}
