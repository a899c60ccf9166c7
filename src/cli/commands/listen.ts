import type { Command } from 'commander';
import type { Config } from '../../config/load-config.js';
import type { ListenerParts } from '../../webhooks/listener.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Invocation, Outcome } from '../invocation.js';
import { locateDatabase, requireDatabase, requireOwnDatabase, toEventsFolder } from '../open-database.js';
import { examples, parseWholeNumber } from '../options.js';
import { waitForAbort } from '../process.js';
import { loadInvocationConfig, openLogger, withAppContext } from '../session.js';
import { formatTable } from '../text.js';

const forgetEveryMs = 600_000;

/** Adds `listen`. */
export function addListenCommand(program: Command, act: Act): void {
  program
    .command('listen')
    .description(
      'receive events of the service until a signal; they mark dossiers for sweep --dirty and screen --dirty',
    )
    .requiredOption('--port <number>', 'port to listen on; 0 takes a free one', parseWholeNumber(0, 65_535))
    .addHelpText('after', examples(['listen --port 8090', 'listen --port 8090 --json']))
    .action(({ port }: { port: number }) => act((invocation) => listen(invocation, port)));
}

async function listen(invocation: Invocation, port: number): Promise<Outcome> {
  const { readEventKey } = await import('../../webhooks/settings.js');
  const config = loadInvocationConfig(invocation);
  const { settings } = config;
  const publicKey = readEventKey(settings.listen, config.originOf(['listen', 'key']));
  const parts = { settings: settings.listen, port, publicKey };
  if (config.secret('DATABASE_URL') !== undefined) return listenOnPostgres(invocation, config, parts);
  // The embedded database has one owner at a time, and events may arrive at any time: they wait in files.
  requireDatabase(locateDatabase(config));
  await requireOwnDatabase(config, 'listen');
  const { openEventSpool } = await import('../../runs/event-spool.js');
  const spool = await openEventSpool(toEventsFolder(config));
  return serve(invocation, config, { ...parts, keep: spool.keep }).finally(spool.close);
}

function listenOnPostgres(
  invocation: Invocation,
  config: Config,
  parts: Pick<ListenerParts, 'settings' | 'port' | 'publicKey'>,
): Promise<Outcome> {
  return withAppContext(invocation, { isLasting: true, needsDatabase: true }, async (app) => {
    const { openOrganisation } = await import('../../runs/session.js');
    const { forgetEvents, markDossiers } = await import('../../store/event-marks.js');
    const { organisationId } = await openOrganisation(app);
    const { database, clock } = app;
    let forgetAtMs = 0;
    const keep: ListenerParts['keep'] = async (events) => {
      const now = clock.now();
      if (now.getTime() >= forgetAtMs) {
        forgetAtMs = now.getTime() + forgetEveryMs;
        await forgetEvents(database, now);
      }
      return markDossiers(database, organisationId, events, now);
    };
    return serve(invocation, config, { ...parts, keep });
  });
}

async function serve(invocation: Invocation, config: Config, parts: Omit<ListenerParts, 'complain'>): Promise<Outcome> {
  const { startListener } = await import('../../webhooks/listener.js');
  const logger = openLogger(invocation, config);
  const complain: ListenerParts['complain'] = (code, message) => logger.warn({ code, message }, 'warning');
  const listener = await startListener({ ...parts, complain });
  logger.info({ host: parts.settings.host, port: listener.port }, 'listening');
  await waitForAbort(invocation.signal);
  await listener.stop();
  const { counts } = listener;
  logger.info(counts, 'listened');
  const rows: [string, number][] = [
    ['events accepted', counts.taken],
    ['of these without a dossier', counts.withoutDossier],
    ['repeated', counts.repeated],
    ['of an unknown type', counts.unknownType],
    ['forged, expired or unsigned', counts.forged],
    ['malformed', counts.malformed],
    ['too large', counts.tooLarge],
    ['not stored, the service sends them again', counts.notKept],
  ];
  return {
    exitCode: exitCodes.complete,
    document: { schema: 'nightscreen/listen/1', ...counts },
    text: formatTable(rows.map(([what, count]) => [what, String(count)])),
  };
}
