import type { Command } from 'commander';
import type { Mail } from '../../runs/mail/manage.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Outcome } from '../invocation.js';
import { addByOption, examples, parseWholeNumber, shared } from '../options.js';
import { loadInvocationConfig, withAppContext } from '../session.js';
import { describeMailState, formatTable } from '../text.js';

function addList(outbox: Command, act: Act): void {
  outbox
    .command('list')
    .description(
      'list queued, refused and given-up mail and messages to webhooks; with --all also sent and dropped ones',
    )
    .addOption(shared('all'))
    .addHelpText('after', examples(['outbox list', 'outbox list --all --json']))
    .action(({ all = false }: { all?: boolean }) =>
      act(async (invocation) => {
        const { listMails } = await import('../../runs/mail/manage.js');
        return withAppContext(invocation, { needsDatabase: true }, async ({ database, settings }) =>
          presentMails(await listMails(database, settings.organisation, { all }), { isTried: false }),
        );
      }),
    );
}

function addRetry(outbox: Command, act: Act): void {
  outbox
    .command('retry [ids...]')
    .description('send again now: mails and messages to webhooks by their numbers, or all queued mail')
    .addHelpText('after', examples(['outbox retry', 'outbox retry 12 14']))
    .action((ids: readonly string[]) =>
      act(async (invocation) => {
        const { retryMails } = await import('../../runs/mail/manage.js');
        const parse = parseWholeNumber(1, Number.MAX_SAFE_INTEGER);
        const config = loadInvocationConfig(invocation);
        const numbers = ids.map((id) => parse(id));
        return withAppContext(invocation, { config, needsDatabase: true }, async (app) =>
          presentMails(await retryMails(app, numbers), { isTried: true }),
        );
      }),
    );
}

function addDrop(outbox: Command, act: Act): void {
  addByOption(outbox.command('drop <ids...>'))
    .description('drop refused or given-up messages for good; name and reason are recorded')
    .addOption(shared('reason', '<text>'))
    .option('--even-queued', 'also queued ones')
    .addHelpText(
      'after',
      examples(['outbox drop 12 --by Meyer --reason "the address was closed"', 'outbox drop 12 14 --reason tests']),
    )
    .action((ids: readonly string[], options: { reason?: string; by?: string; evenQueued?: true }) =>
      act(async (invocation) => {
        const { dropMails } = await import('../../runs/mail/manage.js');
        const parse = parseWholeNumber(1, Number.MAX_SAFE_INTEGER);
        const { reason, by, evenQueued = false } = options;
        const config = loadInvocationConfig(invocation);
        const numbers = ids.map((id) => parse(id));
        return withAppContext(invocation, { config, needsDatabase: true }, async (app) =>
          presentMails(await dropMails(app, { ids: numbers, reason, by, evenQueued }), { isTried: false }),
        );
      }),
    );
}

/** Adds `outbox list`, `outbox retry` and `outbox drop`. */
export function addOutboxCommand(program: Command, act: Act): void {
  const outbox = program
    .command('outbox')
    .summary('list, send again or drop queued mail and messages')
    .description('list queued mail and messages to webhooks, send them again, or drop them');
  outbox.addHelpText('after', examples(['outbox list', 'outbox retry 12']));
  addList(outbox, act);
  addRetry(outbox, act);
  addDrop(outbox, act);
}

/** Mails and messages to webhooks one by one; after a retry the exit code is 3 unless all were accepted. */
export function presentMails(mails: readonly Mail[], { isTried }: { isTried: boolean }): Outcome {
  const isWell = mails.every(({ state }) => state === 'sent');
  const rows = mails.map((mail) => [
    String(mail.id),
    mail.recipient ?? 'the recipients of a report that is not written yet',
    mail.subject ?? (mail.kind === 'webhook' ? 'changes of state' : `run ${mail.run}`),
    describeMailState(mail),
  ]);
  return {
    exitCode: isTried && !isWell ? exitCodes.incomplete : exitCodes.complete,
    document: { schema: 'nightscreen/mail-list/1', mails },
    text: mails.length === 0 ? 'no message is queued\n' : formatTable([['mail', 'to', 'subject', 'state'], ...rows]),
  };
}
