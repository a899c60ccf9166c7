import type { WebhookMessage } from './sign-message.js';

/** That a customer's state has changed, by its reference and without its name. */
export interface StateChange {
  /** Grows with each change; the later one of a customer has the greater number. */
  sequence: number;
  roster: string;
  reference: string;
  /** Null for a customer whose first state this is. */
  from: string | null;
  to: string;
  /** Why it is not screened. */
  reason: string | null;
  asOf: Date | null;
  dueAt: Date | null;
  /** From when it counts as not screened unless it is screened again, which nobody is told of at that moment. */
  expiresAt: Date | null;
  runId: string | null;
  mode: 'test' | 'live';
  changedAt: Date;
}

/** The most changes that one message carries. */
export const mostChanges = 100;

/**
 * One message of these changes; its id is of the webhook and the last of them, which are in no other message to it. Of the last: what waited
 * in a backup and is told together with something newer must not look like the message that had told it before.
 */
export function buildMessage(webhookId: number, changes: readonly StateChange[]): WebhookMessage {
  const id = `nightscreen_${webhookId}_${changes.at(-1)?.sequence ?? 0}`;
  const events = changes.map((change) => ({ id: `status_${change.sequence}`, ...change, isProvisional: false }));
  return { id, body: JSON.stringify({ schema: 'nightscreen/status-changes/1', id, events }) };
}
