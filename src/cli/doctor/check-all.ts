import { existsSync } from 'node:fs';
import { access, constants, rm, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { systemClock } from '../../clock.js';
import type { Config } from '../../config/load-config.js';
import { ConfigError, FolderOwnerError, NightscreenError } from '../../errors.js';
import { findFolderProblem, makePassingFolder } from '../../files.js';
import { listEntries, listRecipients, type MailSettings } from '../../mail/settings.js';
import { countNoun } from '../../reports/text.js';
import { findFiles } from '../../roster/csv/find-files.js';
import { toDurationMs } from '../../roster/duration.js';
import {
  type CsvSettings,
  listPartySources,
  type PartySettings,
  type PostgresSettings,
} from '../../roster/settings.js';
import { readWebhookKeys } from '../../runs/status.js';
import { listNextRuns } from '../../scheduling/due-times.js';
import { findFourEyesProblems, findMissingMail } from '../app-context.js';
import { requireOwnDatabase } from '../open-database.js';
import { planSchedule } from '../schedule/operate-schedule.js';
import { checkDatabase } from './database.js';
import { doubtful, type Finding, well, wrong } from './finding.js';
import { checkService } from './service.js';

export async function checkAll(config: Config, folder: string, isDeep = false): Promise<Finding[]> {
  const { findings, imported } = await checkDatabase(config, isDeep);
  return [
    well('config', config.file ?? `no file in ${folder}, defaults and environment only`),
    ...(await checkService(config)),
    ...findings,
    ...checkImportedMail(config, imported),
    ...(await checkMachine(config)),
    ...(await checkRosters(config, imported ?? [])),
    ...(await checkDelivery(config)),
    ...checkSchedules(config),
  ];
}

const runsShown = 5;

function checkSchedules(config: Config): Finding[] {
  return planSchedule(config).planned.map(({ job, schedule }) => {
    const next = listNextRuns(schedule, systemClock.now(), runsShown).map((moment) => moment.toISOString());
    const words = `${schedule.cron} ${schedule.timezone}`;
    if (next.length > 0) return well(`job ${job.name}`, `${words}, next ${next.join(', ')}`);
    return doubtful(`job ${job.name}`, `${words} is never due`, `correct jobs.${job.name}`);
  });
}

/** Whether the embedded database and reports have the rights and the disk space that they need. */
async function checkMachine(config: Config): Promise<Finding[]> {
  const { database, reports, evidence } = config.settings;
  const ofReports = [
    ...(evidence.dir === null ? [] : [await checkFolder('evidence folder', 'evidence.dir', evidence.dir)]),
    await checkFolder('reports', 'reports.dir', reports.dir),
    await checkSpace('reports space', reports.dir),
  ];
  if (config.secret('DATABASE_URL') !== undefined) return ofReports;
  const { folder } = database;
  const isOwn = await isOwnDatabase(config);
  return [
    ...(isOwn ? [await checkFolder('data folder', 'database.folder', folder)] : []),
    await checkSpace('data space', folder),
    ...ofReports,
  ];
}

/** False when another user owns the folder: the check of the database reports that. */
async function isOwnDatabase(config: Config): Promise<boolean> {
  try {
    await requireOwnDatabase(config, 'doctor');
    return true;
  } catch (error) {
    if (error instanceof FolderOwnerError) return false;
    throw error;
  }
}

function findExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : findExisting(dirname(folder));
}

async function canWriteIn(folder: string): Promise<boolean> {
  try {
    await rm(await makePassingFolder(folder, 'doctor'), { recursive: true });
    return true;
  } catch {
    return false;
  }
}

/** Whether a folder, or its nearest existing parent, can be written. */
async function checkFolder(check: string, setting: string, folder: string): Promise<Finding> {
  if (await canWriteIn(findExisting(resolve(folder)))) return well(check, `${folder} can be written`);
  const problem = findFolderProblem(folder) ?? `${folder} cannot be written`;
  return wrong(check, problem, `grant this user the right, or set ${setting} to another folder`);
}

const mebibyte = 1_048_576;
/** With less a night may fail: the database cannot write its log, and a run cannot write its report. */
const leastMegabytes = 200;
const scarceMegabytes = 2_000;

async function checkSpace(check: string, folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(findExisting(resolve(folder)));
  return assessSpace(check, folder, Math.floor((bavail * bsize) / mebibyte));
}

export function assessSpace(check: string, folder: string, megabytes: number): Finding {
  const words = `${megabytes} MB are free for ${folder}`;
  if (megabytes < leastMegabytes) return wrong(check, words, 'free disk space, or move it: a full disk ends a run');
  return megabytes < scarceMegabytes ? doubtful(check, words, 'free disk space before it is full') : well(check, words);
}

type RowOrigin = Pick<PartySettings, 'csv' | 'postgres'>;

/** A roster or its parties; `open` reads its first rows and closes it. */
interface CheckedSource {
  check: string;
  open: (source: RowOrigin) => Promise<void>;
  isMapped: (header: string) => boolean;
}

const mostHeaders = 100;

const toMessage = (error: unknown, otherwise: string): string =>
  error instanceof NightscreenError ? error.message : otherwise;

async function checkFiles({ check, open, isMapped }: CheckedSource, csv: CsvSettings): Promise<Finding> {
  const given = [csv.path].flat();
  const fail = (error: unknown, next: string): Finding =>
    wrong(check, toMessage(error, `${given.join(', ')} cannot be read`), next);
  let paths: readonly string[];
  try {
    paths = await findFiles(given);
    for (const path of paths) if (path !== '-') await access(path, constants.R_OK);
  } catch (error) {
    return fail(error, 'correct the path (a relative one starts at the configuration file) or the right to read it');
  }
  try {
    // A check would consume the content of a pipe before the run reads it.
    if (await isEachFile(paths)) {
      await open({ csv });
      const { checkHeaders } = await import('../../roster/csv/csv-table.js');
      if (paths.length > 1) await checkHeaders(paths.slice(0, mostHeaders), csv, isMapped);
    }
  } catch (error) {
    const inspect = 'nightscreen roster inspect FILE shows how it reads';
    return fail(error, `correct the file, or csv and columns of the roster: ${inspect}`);
  }
  const looked = paths.length > mostHeaders ? `; only the headers of the first ${mostHeaders} were checked` : '';
  return well(check, paths.length === 1 ? (paths[0] ?? '') : `${paths.length} files, ${paths[0]} first${looked}`);
}

async function isEachFile(paths: readonly string[]): Promise<boolean> {
  for (const path of paths) if (path === '-' || !(await stat(path)).isFile()) return false;
  return true;
}

/** A query without rows within `timeout`, a span such as `30s`, is a warning when its own timeout is longer. */
async function checkQuery(
  { check, open }: CheckedSource,
  postgres: PostgresSettings,
  config: Config,
  timeout: string,
): Promise<Finding> {
  const { urlEnv } = postgres;
  if (config.secret(urlEnv) === undefined) {
    return wrong(check, `${urlEnv} is not set`, `set it, or ${urlEnv}_FILE, to the connection string`);
  }
  try {
    await open({ postgres: { ...postgres, timeoutMs: toDurationMs(timeout) } });
  } catch (error) {
    const message = toMessage(error, `the database that ${urlEnv} names cannot be read`);
    if (error instanceof NightscreenError && error.code === 'query_timeout') {
      return doubtful(check, message, 'nothing, if the query needs that long: a run waits an hour');
    }
    return wrong(check, message, `correct ${urlEnv}, the query, or the columns of the roster`);
  }
  return well(check, `Postgres query by ${urlEnv}`);
}

/** Whether each roster and its parties can be opened and have the mapped columns; reads their first rows only. */
async function checkSources(config: Config, timeout: string): Promise<Finding[]> {
  const { readParties, readRoster } = await import('../../roster/read-roster.js');
  const { createIsMapped, standardHeaders, standardPartyHeaders } = await import('../../roster/headers.js');
  const none = { csv: undefined, postgres: undefined };
  const sources = config.settings.rosters.flatMap((roster) => [
    {
      ...roster,
      check: `roster ${roster.name}`,
      open: async (source: RowOrigin) => (await readRoster({ ...roster, ...none, ...source }, config.secret)).close(),
      isMapped: createIsMapped(roster.columns, standardHeaders),
    },
    ...listPartySources(roster).map((parties) => ({
      ...parties,
      check: `parties of roster ${roster.name}`,
      open: async (source: RowOrigin) => (await readParties({ ...parties, ...none, ...source }, config.secret)).close(),
      isMapped: createIsMapped(parties.columns, standardPartyHeaders),
    })),
  ]);
  const findings = sources.map((source) => {
    if (source.csv) return checkFiles(source, source.csv);
    return source.postgres ? checkQuery(source, source.postgres, config, timeout) : [];
  });
  return (await Promise.all(findings)).flat();
}

/** Warns when no roster is configured for the night; with `imported` rosters from files it may be meant so. */
function checkConfigured({ settings, file }: Config, imported: readonly string[]): Finding[] {
  if (settings.rosters.length > 0) return [];
  const write =
    file === null
      ? 'write a configuration with `nightscreen init`'
      : `write \`rosters:\` into ${file} (\`nightscreen roster inspect FILE\` prints them)`;
  const find = 'or name the file that has them with --config or NIGHTSCREEN_CONFIG';
  if (settings.jobs.rescreen === 'off') {
    return [doubtful('rosters', 'none is configured, and the job rescreen is switched off', `${write}, ${find}`)];
  }
  if (imported.length > 0) {
    const message = `none is configured, so no night screens ${imported.join(', ')} again; these were imported from files`;
    return [doubtful('rosters', message, `${write}, ${find}, or run \`nightscreen onboard --file FILE\` yourself`)];
  }
  const next = `${write}, ${find}; only \`nightscreen onboard --file FILE\` and \`nightscreen demo\` need none`;
  return [wrong('rosters', 'none is configured: `rescreen` is refused, and the scheduler screens no customer', next)];
}

/** Whether a roster is configured and each can be read; `imported` are from files. A query may take `timeout`, a span. */
export const checkRosters = async (
  config: Config,
  imported: readonly string[],
  timeout = '30s',
): Promise<Finding[]> => [...checkConfigured(config, imported), ...(await checkSources(config, timeout))];

/** Whether mail, webhooks, four eyes and the copies of reports work. */
export const checkDelivery = async (config: Config): Promise<Finding[]> => [
  ...(await checkMail(config)),
  ...checkWebhooks(config),
  ...checkReview(config),
  ...(await checkCopies(config)),
];

/** The longest wait for a mail server; a run waits longer. */
const mostWaitMs = 10_000;

/** Whether mail is complete, its transport works, and each configured roster has a recipient; sends no mail. */
async function checkMail(config: Config): Promise<Finding[]> {
  const { mail, rosters } = config.settings;
  if (!mail) return [];
  const [problem] = findMissingMail(config);
  if (problem) {
    const next = problem.message.includes('SMTP_URL') ? 'set it to smtp://host or smtps://host' : 'set it';
    return [wrong('mail', `${problem.path} ${problem.message}`, next)];
  }
  const addresses = new Set(listEntries(mail).flatMap(({ to }) => [to].flat().map((address) => address.toLowerCase())));
  return [
    well('mail', `${mail.transport} to ${countNoun(addresses.size, 'recipient')}`),
    await checkTransport(config, mail),
    ...rosters.flatMap(({ name }) => findUnreported(mail, name)),
  ];
}

/** The same for rosters that were imported from files; and whether each roster that a recipient names exists. */
export function checkImportedMail({ settings }: Config, imported: readonly string[] | null): Finding[] {
  const { mail, rosters } = settings;
  if (!mail || imported === null) return [];
  const configured = rosters.map(({ name }) => name);
  const names = new Set([...configured, ...imported]);
  const unknown = new Set(
    listEntries(mail).flatMap(({ rosters: named = [] }) => named.filter((one) => !names.has(one))),
  );
  const next =
    names.size === 0
      ? 'before its first import: nothing. Otherwise correct the name'
      : `correct the name under mail.recipients; there are: ${[...names].join(', ')}`;
  const fate = 'which is not configured and was never imported: it has no mail';
  return [
    ...imported.filter((name) => !configured.includes(name)).flatMap((name) => findUnreported(mail, name)),
    ...[...unknown].map((name) => doubtful('mail', `mail.recipients names the roster ${name}, ${fate}`, next)),
  ];
}

/** A roster needs a recipient for its incomplete nights. */
function findUnreported(mail: MailSettings, roster: string): Finding[] {
  const recipients = listRecipients(mail, { kind: 'report', roster, level: 'partial', severities: [] });
  if (recipients.length > 0) return [];
  const message = `the roster ${roster} has no mail recipient: a night that is partial, red or not run would go unnoticed`;
  const next = `add ${roster} to the rosters of a recipient under mail.recipients whose kinds have report, summary or failure, or a recipient without rosters`;
  return [doubtful('mail', message, next)];
}

async function checkTransport({ secret, variableOf, settings }: Config, mail: MailSettings): Promise<Finding> {
  const { probeSmtp, toDelivery } = await import('../../mail/delivery.js');
  const { transport, folder, timeoutMs } = toDelivery(mail, settings.reports);
  if (transport === 'file') return checkFolder('mail folder', 'reports.dir', folder);
  const said = await probeSmtp(secret('SMTP_URL') ?? '', Math.min(timeoutMs, mostWaitMs));
  const toOwn = (text: string): string => text.replaceAll('SMTP_URL', variableOf('SMTP_URL'));
  if (said.kind === 'ready') return well('mail server', toOwn(said.message));
  return wrong('mail server', toOwn(said.message), toOwn(said.next));
}

/** Why a folder that Nightscreen never creates cannot be written to; null when it can. */
async function findFolderTrouble(folder: string): Promise<string | null> {
  const found = await stat(folder).catch(() => null);
  if (found === null) return `the folder ${folder} does not exist`;
  if (!found.isDirectory()) return `${folder} is not a folder`;
  return (await canWriteIn(folder)) ? null : `the folder ${folder} cannot be written to`;
}

/** Whether copies of reports can be written; Nightscreen does not create their folder. */
async function checkCopies({ settings }: Config): Promise<Finding[]> {
  const { publishTo } = settings.reports;
  if (publishTo === undefined) return [];
  const problem = await findFolderTrouble(publishTo);
  if (problem === null) return [well('published reports', `${publishTo} can be written`)];
  const next =
    'mount or create it, with the right to write for this user: until then reports are not copied (reports.publishTo)';
  return [wrong('published reports', problem, next)];
}

/** Whether each webhook has its signing secret, without which runs are refused; sends nothing. */
function checkWebhooks(config: Config): Finding[] {
  const { webhooks } = config.settings;
  if (webhooks.length === 0) return [];
  try {
    readWebhookKeys(config);
    return [well('webhooks', `${countNoun(webhooks.length, 'address', 'addresses')}, each with a secret`)];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const next = 'set it (docs/status.md, Webhooks): runs are refused without it';
    return error.problems.map(({ where, message }) => wrong('webhooks', `${where} ${message}`, next));
  }
}

function checkReview(config: Config): Finding[] {
  return findFourEyesProblems(config).map(({ path, message }) =>
    wrong('review', `${path} ${message}`, 'until then every command that opens the database is refused'),
  );
}
