import type { Config } from '../../config/load-config.js';
import { countNoun, formatCount } from '../../reports/text.js';
import type { InvitingResult } from '../../runs/invitations/invite.js';
import type { ListenerParts } from '../../webhooks/listener.js';
import { defineCommand, defineDatabaseCommand, flag, mandatory } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { type Invocation, type Outcome, toOutcome } from '../invocation.js';
import { locateDatabase, requireDatabase, requireOwnDatabase, toEventsFolder } from '../open-database.js';
import { limitTo, shared } from '../options.js';
import { presentRun } from '../present-run.js';
import { waitForAbort } from '../process.js';
import { loadInvocationConfig, openLogger, withAppContext } from '../session.js';
import { formatTable, isForTerminal, type Row } from '../text.js';

const invite = defineDatabaseCommand({
  usage: 'invite',
  description: 'invite customers without a dossier (billed); without --send only print who and the cost',
  options: {
    roster: shared.roster,
    limit: limitTo(1_000_000),
    remind: flag('send invitations again that were sent a week ago and not opened'),
    send: shared.send,
  },
  examples: ['reconcile invite', 'reconcile invite --send --limit 100'],
  needs: ({ send = false }) => ({ service: send, isLasting: send }),
  run: async (app, { options: { remind = false, send = false, ...choice }, signal }) => {
    const { inviteCustomers } = await import('../../runs/invitations/invite.js');
    const options = { ...choice, isSent: send, isReminder: remind };
    return presentInviting(await inviteCustomers(app, options, signal));
  },
});

const listen = defineCommand({
  usage: 'listen',
  description: 'receive events of the service until a signal; they mark dossiers for sweep --dirty and screen --dirty',
  options: { port: mandatory(shared.port) },
  examples: ['reconcile listen --port 8090', 'reconcile listen --port 8090 --json'],
  run: ({ options: { port }, invocation }) => listenOn(invocation, port),
});

export const command = defineDatabaseCommand({
  usage: 'reconcile',
  description: 'compare rosters, screenings and dossiers, and report discrepancies; makes no call to the service',
  options: { roster: shared.roster, report: shared.report },
  examples: ['reconcile', 'reconcile --roster retail --json'],
  commands: [invite, listen],
  needs: { isLasting: true },
  run: async (app, { options: { roster, report: writeReport }, signal }) => {
    const { runReconciliation } = await import('../../runs/reconcile-run.js');
    return presentRun(await runReconciliation(app, { roster, writeReport }, signal));
  },
});

const mostShown = 50;

const outcomeWords = {
  sent: 'sent',
  found: 'sent before, found at the service',
  unknown: 'may have been sent: run the same command again in five minutes',
  refused: 'refused by the service',
} as const;

/** The result of `reconcile invite`; the reasons why customers are not invited stay private. */
function presentInviting(result: InvitingResult): Outcome {
  const { isSent, isReminder, isTest, customers, cost, stoppedBecause } = result;
  const count = (channel: 'email' | 'sms'): number => customers.filter((one) => one.channel === channel).length;
  const what = isReminder ? 'reminded' : 'invited';
  const done = (Object.keys(outcomeWords) as (keyof typeof outcomeWords)[]).map((outcome): Row => {
    const number = customers.filter((one) => one.outcome === outcome).length;
    return number > 0 && [outcome, `${formatCount(number)}${outcome === 'sent' ? '' : `; ${outcomeWords[outcome]}`}`];
  });
  const paid =
    cost === null
      ? 'unknown: set budget.pricePerEmail and budget.pricePerSms'
      : `${cost.amount.toFixed(2)} ${cost.currency}`;
  const lines: Row[] = [
    ['invite', isSent ? 'sent' : 'dry run, nothing was sent; --send sends'],
    [
      'customers',
      isSent
        ? countNoun(customers.length, 'customer')
        : `${countNoun(customers.length, 'customer')} would be ${what}: ${formatCount(count('email'))} by e-mail, ${formatCount(count('sms'))} by SMS`,
    ],
    ...done,
    ['cost', `${paid}${isTest ? '; a test key is not billed' : ''}`],
    !isReminder && ['invited before', formatCount(result.alreadyInvited)],
    !isReminder && [
      'not invitable',
      `${formatCount(result.notInvitable)} without a usable recipient or channel in the roster`,
    ],
    ['not now', formatCount(result.notNow)],
    stoppedBecause !== null && ['stopped', stoppedBecause],
  ];
  const isPartial = customers.some(({ outcome }) => outcome === 'unknown' || outcome === 'refused');
  return toOutcome(
    'nightscreen/invitations/1',
    result,
    // Who asks for a preview asks for the customers.
    formatTable(lines) + formatInvited(customers, !isSent || isForTerminal() ? mostShown : 0),
    stoppedBecause !== null ? exitCodes.stopped : isPartial ? exitCodes.incomplete : exitCodes.complete,
  );
}

function formatInvited(customers: InvitingResult['customers'], most: number): string {
  if (customers.length === 0) return '';
  const rows = customers
    .slice(0, most)
    .map(({ roster, customer, channel, outcome }) => [
      roster,
      customer,
      'customer without a dossier',
      channel,
      outcome ?? '',
    ]);
  const rest = customers.length - rows.length;
  const left = rows.length === 0 ? countNoun(rest, 'customer') : `and ${formatCount(rest)} more`;
  return `\n${formatTable(rows)}${rest === 0 ? '' : `${left}: --json lists all\n`}`;
}

const forgetEveryMs = 600_000;

async function listenOn(invocation: Invocation, port: number): Promise<Outcome> {
  const { readEventKey } = await import('../../webhooks/settings.js');
  const config = loadInvocationConfig(invocation);
  const { settings } = config;
  const publicKey = readEventKey(settings.listen, config.originOf(['listen', 'key']));
  const parts = { settings: settings.listen, port, publicKey };
  if (config.secret('DATABASE_URL') !== undefined) return listenOnPostgres(invocation, config, parts);
  // The embedded database has one owner at a time, and events may arrive at any time: they wait in files.
  requireDatabase(locateDatabase(config));
  await requireOwnDatabase(config, 'reconcile listen');
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
    const { forgetEvents, markDossiers } = await import('../../store/dossiers/event-marks.js');
    const { organisationId } = await openOrganisation(app);
    const { database, clock } = app;
    let forgetAtMs = 0;
    const keep: ListenerParts['keep'] = async (events) => {
      const now = clock.now();
      if (now.getTime() >= forgetAtMs) {
        forgetAtMs = now.getTime() + forgetEveryMs;
        await forgetEvents(database, organisationId, now);
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
  return toOutcome('nightscreen/listen/1', counts, formatTable(rows.map(([what, count]) => [what, String(count)])));
}
