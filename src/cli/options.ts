import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { findNearMiss } from '../config/near-miss.js';
import { flagError } from '../errors.js';
import { type RosterSettings, toFileRoster } from '../roster/settings.js';
import type { Acceptance } from '../runs/settings-diff.js';
import type { Database } from '../store/database/database.js';

/** Parses a day (its start in UTC) or a moment in ISO 8601; throws InvalidArgumentError for anything else. */
export function parseInstant(text: string): Date {
  const isIso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text);
  const date = new Date(text);
  const isReal =
    isIso && !Number.isNaN(date.getTime()) && new Date(text.slice(0, 10)).toISOString().startsWith(text.slice(0, 10));
  if (isReal) return date;
  throw new InvalidArgumentError('It must be a day such as 2026-03-01, or a moment such as 2026-03-01T02:00Z.');
}

/** Checks a day as `yyyy-mm-dd`; throws InvalidArgumentError for anything else. */
export function parseDay(text: string): string {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text;
  if (!isDay) throw new InvalidArgumentError('It must be a day as yyyy-mm-dd.');
  return text;
}

/** A parser of whole numbers from `minimum` to `maximum` for options; throws commander's InvalidArgumentError. */
export const parseWholeNumber =
  (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    const range = maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum}` : `from ${minimum} to ${maximum}`;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };

/** The two examples at the end of a command's help. */
export const examples = (lines: readonly [string, string]): string =>
  `\nExamples:\n${lines.map((line) => `  $ nightscreen ${line}`).join('\n')}\n`;

/** The one meaning of each option that several commands have. */
const meanings = {
  all: 'all of them, not only the usual selection',
  by: 'who decides; on Postgres this is the login',
  customer: 'the customers with these references',
  dirty: 'only what events or changes of dossiers have marked',
  'dry-run': 'print plan and cost; store nothing, search nothing',
  file: 'roster file (CSV) in place of the configured one',
  'key-file': 'file of the private key: `init` reads it, `sandbox` writes it',
  limit: 'how many at most',
  'max-searches': 'stop after this many searches',
  'no-report': 'store the results without writing a report',
  out: 'the file or folder to write',
  port: 'port to listen on; 0 takes a free one',
  reason: 'why; it is stored with the name',
  roster: 'name of the roster',
  send: 'send it',
  since: 'only from then on',
  to: 'the reviewer who gets the alerts',
  type: 'the type of the name',
  until: 'until then; a day counts to its end',
} as const;

/** An option that several commands have; `value` is the placeholder of its value, as in `<name>`. */
export const shared = (name: keyof typeof meanings, value = ''): Option =>
  new Option(`--${name} ${value}`.trim(), meanings[name]);

/** Adds `--by`, and its synonym `--reviewer`, which help does not list. */
export function addByOption(command: Command): Command {
  const synonym = new Option('--reviewer <name>', meanings.by).hideHelp();
  synonym.attributeName = () => 'by';
  return command.addOption(shared('by', '<name>')).addOption(synonym);
}

/** The options that choose a roster, and those that accept a roster that its guards hold. */
export interface RosterChoice {
  roster?: string;
  file?: string;
  /** A CSV file with a part of the roster. */
  delta?: string;
  acceptRoster?: true;
  by?: string;
  reason?: string;
}

/** Adds `--accept-roster`, `--by` and `--reason`. */
export const addAcceptOption = (command: Command): Command =>
  addByOption(command.option('--accept-roster', 'import the roster although its guards hold it')).addOption(
    shared('reason', '<text>'),
  );

/** Who accepts a roster against its guards, and why; undefined without `--accept-roster`. Throws ConfigError with the missing flag. */
export async function findRosterAcceptance(
  database: Database,
  { acceptRoster, by, reason }: RosterChoice,
): Promise<Acceptance | undefined> {
  if (!acceptRoster) return undefined;
  const { findAcceptance } = await import('../runs/settings-acceptance.js');
  return findAcceptance(database, { by, reason });
}

function findRoster(rosters: readonly RosterSettings[], name: string): RosterSettings | undefined {
  return rosters.find((roster) => roster.name === name);
}

/** The absolute path, so that a resumed run reads the same file from any folder. */
function findFile(flag: string, file: string): string {
  if (file === '-') return file;
  if (!/[*?[]/.test(file) && !existsSync(file)) throw flagError(flag, `no file at ${file}`);
  return resolve(file);
}

function withFile(rosters: readonly RosterSettings[], name: string, file: string): RosterSettings {
  const path = findFile('--file', file);
  const configured = findRoster(rosters, name);
  if (!configured) return toFileRoster(name, path);
  if (!configured.csv)
    throw flagError(
      '--file',
      `roster ${name} is read from a database, not from a file; name another roster for the file with --roster NAME`,
    );
  return { ...configured, csv: { ...configured.csv, path } };
}

/** Corrected rows of a database roster come back in a file with the same columns. */
function withDelta(rosters: readonly RosterSettings[], name: string, file: string): RosterSettings {
  const path = findFile('--delta', file);
  const configured = findRoster(rosters, name);
  const { csv } = toFileRoster(name, path);
  if (!configured) return toFileRoster(name, path);
  return { ...configured, postgres: undefined, csv: configured.csv ? { ...configured.csv, path } : csv };
}

/** The roster of a file without `--roster`: the only configured roster, or `default` when none is configured. */
function nameOfFile(rosters: readonly RosterSettings[], flag: 'file' | 'delta'): string {
  const [roster, ...others] = rosters;
  if (others.length === 0) return roster?.name ?? 'default';
  const names = rosters.map((each) => each.name).join(', ');
  throw flagError('--roster', `several rosters are configured: name the roster of the file in --${flag}: ${names}`);
}

/**
 * The rosters of a command: the named one, the one of the file (the only configured one, else `default`), or all configured rosters.
 * Throws ConfigError when there is none, or when a file may belong to several.
 */
export function chooseRosters(rosters: readonly RosterSettings[], choice: RosterChoice): RosterSettings[] {
  if (choice.delta !== undefined)
    return [withDelta(rosters, choice.roster ?? nameOfFile(rosters, 'delta'), choice.delta)];
  if (choice.file !== undefined) return [withFile(rosters, choice.roster ?? nameOfFile(rosters, 'file'), choice.file)];
  if (choice.roster === undefined) {
    if (rosters.length > 0) return [...rosters];
    const message = 'is missing, and no roster is configured: give one with --file FILE, or write it under `rosters:`';
    throw flagError('--file', message);
  }
  const roster = findRoster(rosters, choice.roster);
  if (roster) return [roster];
  const names = rosters.map((each) => each.name);
  const meant = findNearMiss(choice.roster, names);
  const advice = meant
    ? `did you mean ${meant}?`
    : names.length > 0
      ? `there are: ${names.join(', ')}`
      : 'none is configured';
  throw flagError('--roster', `no roster is named ${choice.roster}; ${advice}`);
}

/** The one roster of a command; throws ConfigError when there is none or more than one. */
export function chooseRoster(rosters: readonly RosterSettings[], choice: RosterChoice): RosterSettings {
  const [roster, ...others] = chooseRosters(rosters, choice);
  if (roster && others.length === 0) return roster;
  throw flagError(
    '--roster',
    `several rosters are configured: choose one of ${rosters.map((each) => each.name).join(', ')}`,
  );
}
