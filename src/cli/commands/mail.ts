import type { Command } from 'commander';
import { examples } from '../examples.js';
import type { Act } from '../invocation.js';
import { parseWholeNumber } from '../parse-number.js';
import { presentMails } from '../present-mail.js';
import { withWorkplace } from '../session.js';

function addList(mail: Command, act: Act): void {
  mail
    .command('list')
    .description('what waits to be sent, and what was refused or given up')
    .option('--all', 'also what was sent')
    .addHelpText('after', examples(['mail list', 'mail list --all --json']))
    .action(({ all = false }: { all?: boolean }) =>
      act(async (invocation) => {
        const { listMails } = await import('../../runs/mailing/list-mail.js');
        return withWorkplace(invocation, {
          command: 'mail list',
          needsDatabase: true,
          prepare: () => {},
          work: async ({ database }) => presentMails(await listMails(database, { all }), { isTried: false }),
        });
      }),
    );
}

function addRetry(mail: Command, act: Act): void {
  mail
    .command('retry [ids...]')
    .description('try again now: the mails of these numbers, or all that wait')
    .addHelpText('after', examples(['mail retry', 'mail retry 12 14']))
    .action((ids: readonly string[]) =>
      act(async (invocation) => {
        const { retryMails } = await import('../../runs/mailing/list-mail.js');
        const parse = parseWholeNumber(1, Number.MAX_SAFE_INTEGER);
        return withWorkplace(invocation, {
          command: 'mail retry',
          needsDatabase: true,
          prepare: () => ids.map((id) => parse(id)),
          work: async (workplace, numbers) => presentMails(await retryMails(workplace, numbers), { isTried: true }),
        });
      }),
    );
}

/** Adds `mail list` and `mail retry`. */
export function addMailCommand(program: Command, act: Act): void {
  const mail = program.command('mail').description('list the mail that waits, or try it again');
  mail.addHelpText('after', examples(['mail list', 'mail retry']));
  addList(mail, act);
  addRetry(mail, act);
}
