import { dropMails, listMails, type Mail, retryMails } from '../../runs/mail/manage.js';
import { defineDatabaseCommand, definePreparedCommand } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { type Outcome, toOutcome } from '../invocation.js';
import { parseWholeNumber, shared } from '../options.js';
import { describeMailState, formatTable } from '../text.js';

const parseNumbers = (ids: readonly string[]): number[] => ids.map((id) => parseWholeNumber(1)(id));

const retry = definePreparedCommand({
  usage: 'retry [ids...]',
  description:
    'send again now: mails and messages to webhooks by their numbers, or all that wait; exit code 3 when some stay queued',
  examples: ['outbox retry', 'outbox retry 12 14'],
  prepare: ({ argument: ids }) => parseNumbers(ids),
  run: async (app, { prepared: numbers, signal }) =>
    presentMails(await retryMails(app, numbers, signal), { isTried: true }),
});

const drop = definePreparedCommand({
  usage: 'drop <ids...>',
  description: 'drop refused or given-up messages for good, with --all also queued ones; name and reason are recorded',
  options: { by: shared.by, reason: shared.reason, all: shared.all },
  examples: ['outbox drop 12 --by Meyer --reason "the address was closed"', 'outbox drop 12 14 --reason tests'],
  prepare: ({ argument: ids }) => parseNumbers(ids),
  run: async (app, { prepared: ids, options: { by, reason, all: evenQueued = false } }) =>
    presentMails(await dropMails(app, { ids, reason, by, evenQueued }), { isTried: false }),
});

export const command = defineDatabaseCommand({
  usage: 'outbox',
  isForEach: true,
  description: 'list queued, refused and given-up mail and messages to webhooks; with --all also sent and dropped ones',
  options: { all: shared.all },
  examples: ['outbox', 'outbox retry 12'],
  commands: [retry, drop],
  run: async ({ database, settings }, { options: { all = false } }) =>
    presentMails(await listMails(database, settings.organisation, { all }), { isTried: false }),
});

/** Mails and messages to webhooks one by one; after a retry the exit code is 3 unless all were accepted. */
export function presentMails(mails: readonly Mail[], { isTried }: { isTried: boolean }): Outcome {
  const isWell = mails.every(({ state }) => state === 'sent');
  const rows = mails.map((mail) => [
    String(mail.id),
    mail.recipient ?? 'the recipients of a report that is not written yet',
    mail.subject ?? (mail.kind === 'webhook' ? 'changes of state' : `run ${mail.run}`),
    describeMailState(mail),
  ]);
  return toOutcome(
    'nightscreen/mail-list/1',
    { mails },
    mails.length === 0 ? 'no message is queued\n' : formatTable([['mail', 'to', 'subject', 'state'], ...rows]),
    isTried && !isWell ? exitCodes.incomplete : exitCodes.complete,
  );
}
