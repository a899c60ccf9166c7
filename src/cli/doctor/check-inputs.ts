import { accessSync, constants, statSync } from 'node:fs';
import type { Config } from '../../config/load-config.js';
import type { RosterSettings } from '../../roster/settings.js';
import { findMissingMail } from '../workplace.js';
import { type Finding, well, wrong } from './finding.js';

function checkFile(check: string, path: string): Finding {
  const next = 'correct the path (a relative one starts at the configuration file) or the right to read it';
  try {
    accessSync(path, constants.R_OK);
    if (statSync(path).isFile()) return well(check, path);
    return wrong(check, `${path} is no file`, next);
  } catch {
    return wrong(check, `${path} cannot be read`, next);
  }
}

function checkRoster({ name, csv, postgres }: RosterSettings, config: Config): Finding[] {
  const check = `roster ${name}`;
  if (csv) return [checkFile(check, csv.path)];
  if (!postgres) return [];
  const { urlEnv } = postgres;
  return config.secret(urlEnv) === undefined
    ? [wrong(check, `${urlEnv} is not set`, `set it, or ${urlEnv}_FILE, to the connection string`)]
    : [well(check, `Postgres query by ${urlEnv}`)];
}

/** Whether each configured roster's file can be read, and whether its connection string is set; nothing is read and no server asked. */
export const checkRosters = (config: Config): Finding[] =>
  config.settings.rosters.flatMap((roster) => checkRoster(roster, config));

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
