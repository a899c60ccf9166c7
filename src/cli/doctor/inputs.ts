import { access, constants, stat } from 'node:fs/promises';
import type { Config } from '../../config/load-config.js';
import { NightscreenError } from '../../errors.js';
import { findFiles } from '../../roster/csv/find-files.js';
import { toDurationMs } from '../../roster/duration.js';
import type { CsvSettings, PartySettings, PostgresSettings, RosterSettings } from '../../roster/settings.js';
import { doubtful, type Finding, well, wrong } from './finding.js';

/** A roster or its parties: `open` reads it up to its first rows and gives it up again, `openHeaders` opens files as far as their headers. */
interface Source extends Pick<RosterSettings | PartySettings, 'csv' | 'postgres'> {
  check: string;
  open: (source: Pick<RosterSettings, 'csv' | 'postgres'>) => Promise<void>;
  openHeaders: (paths: readonly string[], csv: CsvSettings) => Promise<void>;
}

/** Of how many files of a roster the headers are looked at. */
const mostHeaders = 100;

const toMessage = (error: unknown, otherwise: string): string =>
  error instanceof NightscreenError ? error.message : otherwise;

async function checkFiles({ check, open, openHeaders }: Source, csv: CsvSettings): Promise<Finding> {
  const given = [csv.path].flat();
  let paths: readonly string[];
  try {
    paths = await findFiles(given);
    for (const path of paths) if (path !== '-') await access(path, constants.R_OK);
  } catch (error) {
    const next = 'correct the path (a relative one starts at the configuration file) or the right to read it';
    return wrong(check, toMessage(error, `${given.join(', ')} cannot be read`), next);
  }
  try {
    // What comes through a pipe would be gone for the run that is meant to read it.
    if (await isEachFile(paths)) {
      await open({ csv });
      if (paths.length > 1) await openHeaders(paths.slice(0, mostHeaders), csv);
    }
  } catch (error) {
    const next =
      'correct the file, or csv and columns of the roster: nightscreen roster inspect FILE shows how it reads';
    return wrong(check, toMessage(error, `${given.join(', ')} cannot be read`), next);
  }
  const looked = paths.length > mostHeaders ? `; only the headers of the first ${mostHeaders} were looked at` : '';
  return well(check, paths.length === 1 ? (paths[0] ?? '') : `${paths.length} files, ${paths[0]} first${looked}`);
}

async function isEachFile(paths: readonly string[]): Promise<boolean> {
  for (const path of paths) if (path === '-' || !(await stat(path)).isFile()) return false;
  return true;
}

/** A query that gives no rows within `timeout`, a span such as `30s`, is doubtful where its own timeout is longer. */
async function checkDatabase(
  { check, open }: Source,
  postgres: PostgresSettings,
  config: Config,
  timeout: string,
): Promise<Finding> {
  const { urlEnv, table, statementTimeout } = postgres;
  if (config.secret(urlEnv) === undefined) {
    return wrong(check, `${urlEnv} is not set`, `set it, or ${urlEnv}_FILE, to the connection string`);
  }
  const isShort = toDurationMs(statementTimeout) > toDurationMs(timeout);
  try {
    await open({ postgres: isShort ? { ...postgres, statementTimeout: timeout } : postgres });
  } catch (error) {
    const message = toMessage(error, `the database that ${urlEnv} names cannot be read`);
    if (isShort && error instanceof NightscreenError && error.code === 'query_timeout') {
      return doubtful(check, message, `nothing, if it takes so long: a run waits ${statementTimeout}`);
    }
    return wrong(check, message, `correct ${urlEnv}, the query or table, or the columns of the roster`);
  }
  return well(check, `Postgres ${table === undefined ? 'query' : `table ${table}`} by ${urlEnv}`);
}

/**
 * Whether each configured roster and its parties can be opened and have the columns that are mapped; only their first rows are read, and
 * of several files the headers of the first hundred.
 */
async function checkSources(config: Config, timeout: string): Promise<Finding[]> {
  const { readParties, readRoster } = await import('../../roster/read-roster.js');
  const { checkHeaders } = await import('../../roster/csv/csv-table.js');
  const { createIsMapped, standardHeaders, standardPartyHeaders } = await import('../../roster/headers.js');
  const none = { csv: undefined, postgres: undefined };
  const sources = config.settings.rosters.flatMap((roster): Source[] => [
    {
      ...roster,
      check: `roster ${roster.name}`,
      open: async (source) => (await readRoster({ ...roster, ...none, ...source }, config.secret)).close(),
      openHeaders: (paths, csv) => checkHeaders(paths, csv, createIsMapped(roster.columns, standardHeaders)),
    },
    ...roster.parties.map((parties) => ({
      ...parties,
      check: `parties of roster ${roster.name}`,
      open: async (source: Pick<Source, 'csv' | 'postgres'>) =>
        (await readParties({ ...parties, ...none, ...source }, config.secret)).close(),
      openHeaders: (paths: readonly string[], csv: CsvSettings) =>
        checkHeaders(paths, csv, createIsMapped(parties.columns, standardPartyHeaders)),
    })),
  ]);
  const findings = sources.map((source) => {
    if (source.csv) return checkFiles(source, source.csv);
    return source.postgres ? checkDatabase(source, source.postgres, config, timeout) : [];
  });
  return (await Promise.all(findings)).flat();
}

/**
 * Whether there is a roster that a night could screen; nothing is said where there is. `imported`: the rosters that were ever given as
 * files, by which an installation without any of its own may be meant so.
 */
function checkConfigured({ settings, file }: Config, imported: readonly string[]): Finding[] {
  if (settings.rosters.length > 0) return [];
  const write = `write \`rosters:\` into ${file ?? 'nightscreen.config.yaml'} (nightscreen.config.example.yaml shows how)`;
  const find = 'or name the file that has them with --config or NIGHTSCREEN_CONFIG';
  if (settings.jobs.rescreen?.enabled === false) {
    return [doubtful('rosters', 'none is configured, and the job rescreen is switched off', `${write}, ${find}`)];
  }
  if (imported.length > 0) {
    const message = `none is configured, so no night screens ${imported.join(', ')} again, imported from files`;
    return [doubtful('rosters', message, `${write}, ${find}, or start \`nightscreen onboard --file FILE\` by hand`)];
  }
  const next = `${write}, ${find}; only \`nightscreen onboard --file FILE\` and \`nightscreen demo\` need none`;
  return [wrong('rosters', 'none is configured: `rescreen` is refused, and the scheduler screens nobody', next)];
}

/**
 * Whether there is a roster, and whether each configured one can be read; `imported`: the rosters that were ever given as files. A query may
 * take `timeout`, a span: a run has more.
 */
export const checkRosters = async (
  config: Config,
  imported: readonly string[],
  timeout = '30s',
): Promise<Finding[]> => [...checkConfigured(config, imported), ...(await checkSources(config, timeout))];
