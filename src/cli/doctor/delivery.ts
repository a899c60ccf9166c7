import { mkdtemp, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../config/load-config.js';
import { ConfigError } from '../../errors.js';
import { listEntries, listRecipients, type MailSettings } from '../../mail/settings.js';
import { countNoun } from '../../reports/text.js';
import { readWebhookKeys } from '../../runs/status.js';
import { readImportedRosters } from '../../store/coverage.js';
import type { Queryable } from '../../store/database/database.js';
import { findOrganisation } from '../../store/organisations.js';
import { findFourEyesProblems, findMissingMail } from '../app-context.js';
import { findPingAddress } from '../watchdog.js';
import { doubtful, type Finding, well, wrong } from './finding.js';
import { checkFolder } from './machine.js';

/** Whether mail, webhooks and pings would leave, two people can be asked, and what is left beside the database can be written. */
export const checkDelivery = async (config: Config): Promise<Finding[]> => [
  ...(await checkMail(config)),
  ...checkWebhooks(config),
  ...checkPings(config),
  ...checkReview(config),
  ...(await checkOutputs(config)),
];

/** The longest wait for a mail server; a run waits longer. */
const mostWaitMs = 10_000;

/**
 * Whether mail is set up whole, whether it would leave, and whether somebody is notified of every configured roster; nothing is said where none
 * is configured, and no mail is sent.
 */
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
    ...findUnreported(
      mail,
      rosters.map(({ name }) => name),
    ),
  ];
}

/**
 * The same for rosters that commands were given as files: whether somebody is notified of each that was imported, and whether each that mail is
 * restricted to was.
 */
export async function checkImportedMail(database: Queryable, { settings }: Config): Promise<Finding[]> {
  const { mail, organisation, rosters } = settings;
  const known = await findOrganisation(database, organisation);
  if (!mail || known === undefined) return [];
  const configured = rosters.map(({ name }) => name);
  const imported = (await readImportedRosters(database, known.organisationId)).map(({ roster }) => roster);
  const names = new Set([...configured, ...imported]);
  const unknown = new Set(
    listEntries(mail).flatMap(({ rosters: named = [] }) => named.filter((one) => !names.has(one))),
  );
  return [
    ...findUnreported(
      mail,
      imported.filter((name) => !configured.includes(name)),
    ),
    ...[...unknown].map((name) =>
      doubtful(
        'mail',
        `mail.recipients names the roster ${name}, which is neither configured nor was ever imported: nothing is mailed of it`,
        names.size === 0
          ? 'nothing, if its first import is still to come; else correct the name'
          : `correct the name under mail.recipients; there are: ${[...names].join(', ')}`,
      ),
    ),
  ];
}

/** A night of a roster that is not whole must be reported to somebody. */
function findUnreported(mail: MailSettings, rosters: readonly string[]): Finding[] {
  return rosters.flatMap((roster) => {
    const recipients = listRecipients(mail, { kind: 'report', roster, level: 'partial', severities: [] });
    if (recipients.length > 0) return [];
    const message = `nobody is mailed about the roster ${roster}: of a night that is partial, red or did not run, nobody would hear`;
    const next = `add ${roster} to the rosters of a recipient under mail.recipients whose kinds have report, summary or failure, or a recipient without rosters`;
    return [doubtful('mail', message, next)];
  });
}

async function checkTransport({ secret }: Config, mail: MailSettings): Promise<Finding> {
  if (mail.transport === 'file') return checkFolder('mail folder', 'mail.directory', mail.directory);
  const { probeSmtp } = await import('../../mail/delivery.js');
  const said = await probeSmtp(secret('SMTP_URL') ?? '', Math.min(mail.timeoutMs, mostWaitMs));
  if (said.kind === 'ready') return well('mail server', said.message);
  return wrong('mail server', said.message, said.next);
}

/** Why nothing can be written into a folder that is never made; null when something can. */
async function findFolderTrouble(folder: string): Promise<string | null> {
  try {
    if (!(await stat(folder)).isDirectory()) return `${folder} is not a folder`;
  } catch {
    return `the folder ${folder} is not there`;
  }
  try {
    const trial = await mkdtemp(join(folder, '.nightscreen-doctor-'));
    await rm(trial, { recursive: true });
    return null;
  } catch {
    return `the folder ${folder} cannot be written to`;
  }
}

/**
 * Whether what is left beside the database can be written where the settings say: copies of reports, metrics, and the watchdog's note. None
 * of these folders is ever made, so each must be there.
 */
async function checkOutputs({ settings }: Config): Promise<Finding[]> {
  const { reports, metrics, watchdog } = settings;
  const findings: Finding[] = [];
  const check = async (name: string, path: string, folder: string, next: string): Promise<void> => {
    const problem = await findFolderTrouble(folder);
    findings.push(problem === null ? well(name, `${path} can be written`) : wrong(name, problem, next));
  };
  if (reports.publishTo !== undefined) {
    const next =
      'mount or make it, with the right to write for this user: until then reports are not copied (reports.publishTo)';
    await check('published reports', reports.publishTo, reports.publishTo, next);
  }
  if (metrics.textfile !== undefined) {
    const next =
      'make it, with the right to write for this user, or set metrics.textfile to another file: until then alerts go by old figures';
    await check('metrics', metrics.textfile, dirname(metrics.textfile), next);
  }
  const problem = await findFolderTrouble(dirname(watchdog.noteFile));
  if (problem !== null) {
    const message = `${problem}: that the database is out of reach would be mailed at each look`;
    findings.push(
      doubtful('watchdog note', message, 'set watchdog.noteFile to a file in a folder that this user may write to'),
    );
  }
  return findings;
}

/** Whether each webhook has a secret that signs, without which runs are refused; nothing is said where there is none, and nothing is sent. */
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

/** Whether the watchdog's monitor has an address, without which it is refused; nothing is said where there is none, and nothing is sent. */
function checkPings(config: Config): Finding[] {
  const check = 'ping of watchdog';
  try {
    return findPingAddress(config) === null ? [] : [well(check, 'its monitor has an address')];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const next = 'set it, or take pings.watchdog out: the watchdog and the scheduler are refused without it';
    return error.problems.map(({ path, message }) => wrong(check, `${path} ${message}`, next));
  }
}

/** Whether two people can be asked for where the settings want them, without which every command is refused; nothing is said when all is well. */
function checkReview(config: Config): Finding[] {
  return findFourEyesProblems(config).map(({ path, message }) =>
    wrong('review', `${path} ${message}`, 'until then every command that opens the database is refused'),
  );
}
