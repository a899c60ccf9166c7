import type { Command } from 'commander';
import type { Mail } from '../../runs/mail/manage.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Outcome } from '../invocation.js';
import { examples, parseWholeNumber } from '../options.js';
import { loadInvocationConfig, withAppContext } from '../session.js';
import { describeMailState, formatTable } from '../text.js';

function addList(mail: Command, act: Act): void {
  mail
    .command('list')
    .description('what waits to be sent, mail and messages to webhooks, and what was refused or given up')
    .option('--all', 'also what was sent or put aside')
    .addHelpText('after', examples(['mail list', 'mail list --all --json']))
    .action(({ all = false }: { all?: boolean }) =>
      act(async (invocation) => {
        const { listMails } = await import('../../runs/mail/manage.js');
        return withAppContext(invocation, { needsDatabase: true }, async ({ database }) =>
          presentMails(await listMails(database, { all }), { isTried: false }),
        );
      }),
    );
}

function addRetry(mail: Command, act: Act): void {
  mail
    .command('retry [ids...]')
    .description('try again now: mails and messages to webhooks by their numbers, or all mail that waits')
    .addHelpText('after', examples(['mail retry', 'mail retry 12 14']))
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

function addDrop(mail: Command, act: Act): void {
  mail
    .command('drop <ids...>')
    .description('put what was refused or given up aside for good; who and why is recorded')
    .option('--reason <text>', 'why it need not be sent any more')
    .option('--by <name>', 'who decides that; on Postgres the login says so')
    .option('--even-queued', 'also what is still being tried')
    .addHelpText('after', examples(['mail drop 12 --reason "the address was closed in May" --by "A. Meyer"']))
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

/** Adds `mail list`, `mail retry` and `mail drop`. */
export function addMailCommand(program: Command, act: Act): void {
  const mail = program
    .command('mail')
    .description('list the mail and messages to webhooks that wait, try them again, or put them aside');
  mail.addHelpText('after', examples(['mail list', 'mail retry', 'mail drop 12 --reason "the address was closed"']));
  addList(mail, act);
  addRetry(mail, act);
  addDrop(mail, act);
}

/** Mails and messages to webhooks one by one; 3 where one of them was not accepted and somebody has asked for that. */
export function presentMails(mails: readonly Mail[], { isTried }: { isTried: boolean }): Outcome {
  const isWell = mails.every(({ state }) => state === 'sent');
  const rows = mails.map((mail) => [
    mail.id,
    mail.recipient ?? 'the recipients of a report that is not written yet',
    mail.subject ?? (mail.kind === 'webhook' ? 'changes of state' : `run ${mail.run}`),
    describeMailState(mail),
  ]);
  return {
    exitCode: isTried && !isWell ? exitCodes.incomplete : exitCodes.complete,
    document: { schema: 'nightscreen/mail-list/1', mails },
    text: mails.length === 0 ? 'nothing waits\n' : formatTable([['mail', 'to', 'subject', 'state'], ...rows]),
  };
}
