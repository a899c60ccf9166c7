import { access, constants } from 'node:fs/promises';
import type { Config } from '../../config/load-config.js';
import { NightscreenError } from '../../errors.js';
import { findFiles } from '../../roster/csv/find-files.js';
import type { PartySettings, RosterSettings } from '../../roster/settings.js';
import { findMissingMail } from '../workplace.js';
import { type Finding, well, wrong } from './finding.js';

async function checkFiles(check: string, pattern: string | readonly string[]): Promise<Finding> {
  const next = 'correct the path (a relative one starts at the configuration file) or the right to read it';
  try {
    const paths = await findFiles([pattern].flat());
    for (const path of paths) if (path !== '-') await access(path, constants.R_OK);
    return well(check, paths.length === 1 ? (paths[0] ?? '') : `${paths.length} files, ${paths[0]} first`);
  } catch (error) {
    return wrong(
      check,
      error instanceof NightscreenError ? error.message : `${[pattern].flat().join(', ')} cannot be read`,
      next,
    );
  }
}

function checkSource(
  check: string,
  { csv, postgres }: Pick<RosterSettings | PartySettings, 'csv' | 'postgres'>,
  config: Config,
): Finding | Promise<Finding> | [] {
  if (csv) return checkFiles(check, csv.path);
  if (!postgres) return [];
  const { urlEnv } = postgres;
  return config.secret(urlEnv) === undefined
    ? wrong(check, `${urlEnv} is not set`, `set it, or ${urlEnv}_FILE, to the connection string`)
    : well(check, `Postgres ${postgres.table === undefined ? 'query' : `table ${postgres.table}`} by ${urlEnv}`);
}

/** Whether each configured roster's files can be read, and whether its connection strings are set; nothing is read and no server asked. */
export async function checkRosters(config: Config): Promise<Finding[]> {
  const findings = config.settings.rosters.flatMap((roster) => [
    checkSource(`roster ${roster.name}`, roster, config),
    ...roster.parties.map((parties) => checkSource(`parties of roster ${roster.name}`, parties, config)),
  ]);
  return (await Promise.all(findings)).flat();
}

/** Whether mail is set up whole; nothing is said where none is configured, and nothing is sent. */
export function checkMail(config: Config): Finding[] {
  const { mail } = config.settings;
  if (!mail) return [];
  const [problem] = findMissingMail(config);
  if (problem) return [wrong('mail', `${problem.path} ${problem.message}`, 'set it to smtp://host or smtps://host')];
  return [
    well('mail', `${mail.transport} to ${mail.to.length === 1 ? '1 recipient' : `${mail.to.length} recipients`}`),
  ];
}
