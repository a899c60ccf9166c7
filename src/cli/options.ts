import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { findNearMiss } from '../config/near-miss.js';
import { ConfigError, flagError } from '../errors.js';
import { type RosterSettings, toFileRoster } from '../roster/settings.js';
import type { Acceptance } from '../runs/settings-diff.js';
import type { Database } from '../store/database/database.js';

/** A day (its beginning in UTC) or a moment in ISO 8601; throws InvalidArgumentError for anything else. */
export function parseInstant(text: string): Date {
  const isIso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text);
  const date = new Date(text);
  const isReal =
    isIso && !Number.isNaN(date.getTime()) && new Date(text.slice(0, 10)).toISOString().startsWith(text.slice(0, 10));
  if (isReal) return date;
  throw new InvalidArgumentError('It must be a day such as 2026-03-01, or a moment such as 2026-03-01T02:00Z.');
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

/** Examples for the end of a command's help. */
export const examples = (lines: readonly string[]): string =>
  `\nExample${lines.length > 1 ? 's' : ''}:\n${lines.map((line) => `  $ nightscreen ${line}`).join('\n')}\n`;

/** The options that choose a roster, and those that accept it although its guards would hold it. */
export interface RosterChoice {
  roster?: string;
  file?: string;
  /** A part of the roster as a CSV file, whatever the roster itself is read from. */
  delta?: string;
  acceptRoster?: true;
  by?: string;
  reason?: string;
}

/** Adds `--accept-roster`, and who says so and why. */
export const addAcceptOption = (command: Command): Command =>
  command
    .option(
      '--accept-roster',
      'take the roster although guards would hold it; needs --by and --reason, which are stored',
    )
    .option('--by <name>', 'who accepts it; on Postgres the login says so')
    .option('--reason <text>', 'why it is right all the same');

/** Who takes a roster against its guards, and why; undefined where nobody does. Throws ConfigError naming the flag that is missing. */
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

/** The path as it is found from any folder: a run that is gone on with later reads the same file. */
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
      `roster ${name} is read from a database, not from a file; give the file a roster of its own with --roster NAME`,
    );
  return { ...configured, csv: { ...configured.csv, path } };
}

/** Rejected rows of a database come back in a file: under the same columns, however such files are written. */
function withDelta(rosters: readonly RosterSettings[], name: string, file: string): RosterSettings {
  const path = findFile('--delta', file);
  const configured = findRoster(rosters, name);
  const { csv } = toFileRoster(name, path);
  if (!configured) return toFileRoster(name, path);
  return { ...configured, postgres: undefined, csv: configured.csv ? { ...configured.csv, path } : csv };
}

/** Whose file it is where nobody says so: the only configured roster's, or where none is configured that of one named `default`. */
function nameOfFile(rosters: readonly RosterSettings[], flag: 'file' | 'delta'): string {
  const [roster, ...others] = rosters;
  if (others.length === 0) return roster?.name ?? 'default';
  const names = rosters.map((each) => each.name).join(', ');
  throw flagError('--roster', `several rosters are configured: say with --roster whose file --${flag} gives: ${names}`);
}

/**
 * The rosters that a command is about: the one named, that of the file (the only configured one, else `default`), or all configured;
 * throws ConfigError when there is none, or a file may be of several.
 */
export function chooseRosters(rosters: readonly RosterSettings[], choice: RosterChoice): RosterSettings[] {
  if (choice.delta !== undefined)
    return [withDelta(rosters, choice.roster ?? nameOfFile(rosters, 'delta'), choice.delta)];
  if (choice.file !== undefined) return [withFile(rosters, choice.roster ?? nameOfFile(rosters, 'file'), choice.file)];
  if (choice.roster === undefined) {
    if (rosters.length > 0) return [...rosters];
    const message = 'no roster is configured: give one with --file FILE, or write it under `rosters:`';
    throw new ConfigError([{ where: 'rosters', path: '', message }]);
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

/** The one roster that a command is about; throws ConfigError when there is none, or more than one to choose from. */
export function chooseRoster(rosters: readonly RosterSettings[], choice: RosterChoice): RosterSettings {
  const [roster, ...others] = chooseRosters(rosters, choice);
  if (roster && others.length === 0) return roster;
  throw flagError(
    '--roster',
    `several rosters are configured: choose one of ${rosters.map((each) => each.name).join(', ')}`,
  );
}
