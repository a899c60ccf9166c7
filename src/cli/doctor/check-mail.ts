import type { Config } from '../../config/load-config.js';
import { countRecipients, listNamedRosters, listRecipients } from '../../mail/recipients.js';
import type { MailSettings } from '../../mail/settings.js';
import { countNoun } from '../../reports/text.js';
import { readImportedRosters } from '../../store/coverage.js';
import type { Queryable } from '../../store/database/database.js';
import { findOrganisation } from '../../store/organisations.js';
import { findMissingMail } from '../workplace.js';
import { checkFolder } from './check-folder.js';
import { doubtful, type Finding, well, wrong } from './finding.js';

/** The longest wait for a mail server; a run has more patience. */
const mostPatienceMs = 10_000;

/**
 * Whether mail is set up whole, whether it would leave, and whether somebody is told of every configured roster; nothing is said where none
 * is configured, and no mail is sent.
 */
export async function checkMail(config: Config): Promise<Finding[]> {
  const { mail, rosters } = config.settings;
  if (!mail) return [];
  const [problem] = findMissingMail(config);
  if (problem) {
    const next = problem.message.includes('SMTP_URL') ? 'set it to smtp://host or smtps://host' : 'set it';
    return [wrong('mail', `${problem.path} ${problem.message}`, next)];
  }
  return [
    well('mail', `${mail.transport} to ${countNoun(countRecipients(mail), 'recipient')}`),
    await checkTransport(config, mail),
    ...findUntold(
      mail,
      rosters.map(({ name }) => name),
    ),
  ];
}

/**
 * The same for rosters that commands were given as files: whether somebody is told of each that was imported, and whether each that mail is
 * restricted to was.
 */
export async function checkImportedMail(database: Queryable, { settings }: Config): Promise<Finding[]> {
  const { mail, organisation, rosters } = settings;
  const known = await findOrganisation(database, organisation);
  if (!mail || known === undefined) return [];
  const configured = rosters.map(({ name }) => name);
  const imported = (await readImportedRosters(database, known.organisationId)).map(({ roster }) => roster);
  const names = new Set([...configured, ...imported]);
  const unknown = listNamedRosters(mail).filter((name) => !names.has(name));
  return [
    ...findUntold(
      mail,
      imported.filter((name) => !configured.includes(name)),
    ),
    ...unknown.map((name) =>
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

/** A night of a roster that is not whole must be told to somebody. */
function findUntold(mail: MailSettings, rosters: readonly string[]): Finding[] {
  return rosters.flatMap((roster) => {
    const told = listRecipients(mail, { kind: 'report', roster, level: 'partial', severities: [] });
    if (told.length > 0) return [];
    const message = `nobody is mailed about the roster ${roster}: of a night that is partial, red or did not run, nobody would hear`;
    const next = `add ${roster} to the rosters of a recipient under mail.recipients whose kinds have report, summary or failure, or a recipient without rosters`;
    return [doubtful('mail', message, next)];
  });
}

async function checkTransport({ secret }: Config, mail: MailSettings): Promise<Finding> {
  if (mail.transport === 'file') return checkFolder('mail folder', 'mail.directory', mail.directory);
  const { probeSmtp } = await import('../../mail/probe-smtp.js');
  const said = await probeSmtp(secret('SMTP_URL') ?? '', Math.min(mail.timeoutMs, mostPatienceMs));
  if (said.kind === 'ready') return well('mail server', said.message);
  return wrong('mail server', said.message, said.next);
}
