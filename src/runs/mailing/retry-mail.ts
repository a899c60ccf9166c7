import { ConfigError } from '../../errors.js';
import { listOutbox, makeDue, type OutboxRow, readOutbox } from '../../store/outbox.js';
import { makeWebhooksDue } from '../../store/webhooks.js';
import { tellStates, toTellingEnd } from '../telling/tell-states.js';
import { readWebhookKeys } from '../telling/webhook-keys.js';
import type { Workplace } from '../workplace.js';
import { deliverDue, mailKinds } from './deliver-due.js';
import { type Mail, toMails } from './list-mail.js';
import { toGiveUpAt } from './mail-times.js';

const isWebhook = ({ kind }: OutboxRow): boolean => kind === 'webhook';
const isQueued = ({ state }: OutboxRow): boolean => state === 'queued';
const toIds = (rows: readonly OutboxRow[]): readonly number[] => rows.map(({ outboxId }) => outboxId);
const refuse = (message: string): ConfigError => new ConfigError([{ where: 'mail', path: '', message }]);

/**
 * Tries again now: the mails and messages to webhooks of these numbers, whatever became of them, or all mail that waits. Messages go with
 * the ids and bytes that they had, after what is older and waits for the same webhook. Gives the named ones and all of their sort that are
 * still not accepted. Throws ConfigError, with nothing tried, for a number that there is not, for what was put aside, where no mail is
 * configured, and where a webhook or its secret is not.
 */
export async function retryMails(workplace: Workplace, ids: readonly number[]): Promise<readonly Mail[]> {
  const { database } = workplace;
  const named = await readOutbox(database, ids);
  const missing = ids.filter((id) => !named.some(({ outboxId }) => outboxId === id));
  if (missing.length > 0) throw refuse(`there is no mail ${missing.join(', ')}; nightscreen mail list shows them`);
  const aside = named.find(({ state }) => state === 'dropped');
  if (aside) throw refuse(`${aside.outboxId} was put aside for good by ${aside.droppedBy}: ${aside.droppedBecause}`);
  const webhooks = named.filter(isWebhook);
  const isMailMeant = webhooks.length < named.length || ids.length === 0;
  if (isMailMeant && !workplace.settings.mail) {
    throw refuse('is not configured, so none can be sent; messages to webhooks that wait: nightscreen status send');
  }
  if (webhooks.length > 0) requireReachable(workplace, webhooks);
  const mails =
    ids.length > 0
      ? named.filter((row) => !isWebhook(row))
      : (await listOutbox(database, mailKinds, { all: false })).filter(isQueued);
  if (isMailMeant) await retryMail(workplace, mails);
  if (webhooks.length > 0) {
    await makeWebhooksDue(database, toIds(webhooks), workplace.clock.now(), toTellingEnd(workplace.clock.now()));
    await tellStates(workplace);
  }
  const tried = [...(isMailMeant ? mailKinds : []), ...(webhooks.length > 0 ? (['webhook'] as const) : [])];
  const wanted = new Set(toIds([...mails, ...webhooks]));
  const after = await listOutbox(database, tried, { all: true });
  return toMails(
    database,
    after.filter((row) => isQueued(row) || wanted.has(row.outboxId)),
  );
}

async function retryMail(workplace: Workplace, mails: readonly OutboxRow[]): Promise<void> {
  const { database, settings, clock } = workplace;
  if (!settings.mail) return;
  const now = clock.now();
  await makeDue(database, toIds(mails), { now, giveUpAt: toGiveUpAt(settings.mail, now) });
  await deliverDue(workplace);
}

/** Throws ConfigError where a message goes to an address that is no webhook here, or has no secret here. */
function requireReachable(workplace: Workplace, webhooks: readonly OutboxRow[]): void {
  const keysByUrl = readWebhookKeys(workplace);
  const strange = webhooks.find(({ destination }) => !keysByUrl.has(destination ?? ''));
  if (strange) {
    throw refuse(
      `${strange.outboxId} is a message to ${strange.destination}, which is no webhook in this configuration; nightscreen mail drop ${strange.outboxId} puts it aside`,
    );
  }
}
