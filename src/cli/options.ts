import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { flagError } from '../errors.js';
import { findNearMiss } from '../near-miss.js';
import { type RosterSettings, toFileRoster } from '../roster/settings.js';
import type { Acceptance } from '../runs/settings-diff.js';
import type { Database } from '../store/database/database.js';
import { partyTypes } from '../vocabulary.js';
import { choice, flag, negated, type OptionValues, parsed, text } from './command.js';

/** Parses a day (its start in UTC) or a moment in ISO 8601; throws InvalidArgumentError for anything else. */
export function parseInstant(text: string): Date {
  const isIso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text);
  const date = new Date(text);
  const isReal =
    isIso && !Number.isNaN(date.getTime()) && new Date(text.slice(0, 10)).toISOString().startsWith(text.slice(0, 10));
  if (isReal) return date;
  throw new InvalidArgumentError('It must be a day such as 2026-03-01, or a moment such as 2026-03-01T02:00Z.');
}

/** A day, or a moment in ISO 8601; throws InvalidArgumentError for anything else. */
export const parseMoment = (given: string): { day: string } | Date => {
  const moment = parseInstant(given);
  return given.includes('T') ? moment : { day: given };
};

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

/** Where metrics are served; without a host on all addresses of this machine. */
export interface MetricsAddress {
  host: string | undefined;
  port: number;
}

/** Reads `:9464`, `127.0.0.1:9464` or `[::1]:9464`; throws ConfigError. Port 0 takes a free one. */
export function parseMetricsAddress(text: string): MetricsAddress {
  const [, ipv6, name, port = ''] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  if (port === '' || Number(port) > 65_535) {
    throw flagError('--metrics', `must be an address such as :9464 or 127.0.0.1:9464, not ${text}`);
  }
  return { host: ipv6 ?? (name === '' ? undefined : name), port: Number(port) };
}

/** The options that several commands have, each with one meaning. */
export const shared = {
  all: flag('all of them, not only the usual selection'),
  by: text('<name>', 'who decides; on Postgres this is the login'),
  dirty: flag('only what events or changes of dossiers have marked'),
  dryRun: flag('show what would happen, and the cost; store nothing'),
  file: text('<file>', 'roster file (CSV or .xlsx) in place of the configured one'),
  keyFile: text('<file>', 'file of the private key: `init` reads it, `sandbox` writes it'),
  metrics: parsed('<address>', 'serve /metrics, /healthz and /readyz, as in :9464', parseMetricsAddress),
  maxSearches: parsed('<count>', 'stop after this many searches', parseWholeNumber(1)),
  report: negated('store the results without writing a report'),
  port: parsed('<number>', 'port to listen on; 0 takes a free one', parseWholeNumber(0, 65_535)),
  reason: text('<text>', 'why; it is stored with the name'),
  roster: text('<name>', 'name of the roster'),
  send: flag('send it'),
  type: choice('<type>', 'the type of the name', partyTypes),
} as const;

/** The meanings of options whose values differ between commands. */
export const meanings = {
  at: 'the moment to look at (now); a day counts to its end',
  customer: 'the customers with these references',
  html: 'also write it as a page to print',
  limit: 'how many at most',
  new: 'customers never screened; alerts of the last night',
  out: 'the file or folder to write',
  run: 'which run (report: by default the latest of each roster)',
  since: 'only from then on',
  until: 'until then; a day counts to its end',
} as const;

export const limitTo = (most: number) => parsed('<count>', meanings.limit, parseWholeNumber(1, most));

export const acceptOptions = {
  acceptRoster: flag('import the roster although its guards hold it'),
  by: shared.by,
  reason: shared.reason,
};

/** The options that choose a roster, and those that accept a roster that its guards hold; `delta`: a CSV file with a part of it. */
export type RosterChoice = OptionValues<typeof acceptOptions & Pick<typeof shared, 'roster' | 'file'>> & {
  delta?: string;
};

/** Who accepts a roster against its guards, and why; undefined without `--accept-roster`. Throws ConfigError. */
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

/** The roster of a file: the named one, the only configured one, or `default` when none is configured. */
function toRosterOfFile(rosters: readonly RosterSettings[], named: string | undefined, flag: string, file: string) {
  const [first, ...others] = rosters;
  if (named === undefined && others.length > 0) {
    const names = rosters.map((each) => each.name).join(', ');
    throw flagError('--roster', `several rosters are configured: name the roster of the file in ${flag}: ${names}`);
  }
  const name = named ?? first?.name ?? 'default';
  const path = findFile(flag, file);
  const ofFile = toFileRoster(name, path);
  const configured = findRoster(rosters, name);
  if (!configured) return ofFile;
  const { csv } = configured;
  // Corrected rows of a database roster come back in a file with the same columns.
  if (csv === undefined && flag === '--file') {
    const advice = 'name another roster for the file with --roster NAME';
    throw flagError(flag, `roster ${name} is read from a database, not from a file; ${advice}`);
  }
  return { ...configured, postgres: undefined, csv: csv ? { ...csv, path } : ofFile.csv };
}

/**
 * The rosters of a command: the named one, the one of the file (the only configured one, else `default`), or all
 * configured rosters. Throws ConfigError when there is none, or when a file may belong to several.
 */
export function chooseRosters(rosters: readonly RosterSettings[], choice: RosterChoice): RosterSettings[] {
  const { roster: named, file, delta } = choice;
  if (delta !== undefined) return [toRosterOfFile(rosters, named, '--delta', delta)];
  if (file !== undefined) return [toRosterOfFile(rosters, named, '--file', file)];
  if (named === undefined) {
    if (rosters.length > 0) return [...rosters];
    const message = 'is missing, and no roster is configured: give one with --file FILE, or write it under `rosters:`';
    throw flagError('--file', message);
  }
  const roster = findRoster(rosters, named);
  if (roster) return [roster];
  const names = rosters.map((each) => each.name);
  const meant = findNearMiss(named, names);
  const known = names.length > 0 ? `there are: ${names.join(', ')}` : 'none is configured';
  const advice = meant ? `did you mean ${meant}?` : known;
  throw flagError('--roster', `no roster is named ${named}; ${advice}`);
}

/** The one roster of a command; throws ConfigError when there is none or more than one. */
export function chooseRoster(rosters: readonly RosterSettings[], choice: RosterChoice): RosterSettings {
  const [roster, ...others] = chooseRosters(rosters, choice);
  if (roster && others.length === 0) return roster;
  const names = rosters.map((each) => each.name).join(', ');
  throw flagError('--roster', `several rosters are configured: choose one of ${names}`);
}
