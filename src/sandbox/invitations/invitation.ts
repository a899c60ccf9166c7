import { z } from 'zod';

/** The states of an invitation (interface: Workflow invitation status). */
export const invitationStatusSchema = z.enum([
  'pending',
  'sent',
  'delivered',
  'opened',
  'started',
  'failed',
  'completed',
  'rejected',
]);
/** A state of an invitation (interface: Workflow invitation status). */
export type InvitationStatus = z.infer<typeof invitationStatusSchema>;
/** How an invitation is delivered. */
export const channelSchema = z.enum(['email', 'sms']);

/** One invitation as the sandbox keeps it. */
export interface Invitation {
  /** With its prefix `adi_`. */
  token: string;
  workflowToken: string;
  channel: z.infer<typeof channelSchema>;
  recipient: string;
  reference: string | null;
  locale: string;
  status: InvitationStatus;
  createdAtMs: number;
  /** When the latest delivery was enqueued. */
  dispatchedAtMs: number;
  sentAtMs: number | null;
  startedAtMs: number | null;
  completedAtMs: number | null;
  rejectedAtMs: number | null;
  errorMessage: string | null;
  deliveryAttempts: number;
  dossierToken: string | null;
}

const LINK_LIFETIME_MS = 30 * 24 * 3_600_000;

/** When the link of an invitation ends (interface: Limits, invitation link validity). */
export const toExpiryMs = (invitation: Invitation): number => invitation.createdAtMs + LINK_LIFETIME_MS;

const toTime = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** The invitation as it is shown (service facts: invitation record). */
export const toInvitationRecord = (invitation: Invitation) => ({
  token: invitation.token,
  workflowToken: invitation.workflowToken,
  channel: invitation.channel,
  recipient: invitation.recipient,
  reference: invitation.reference,
  locale: invitation.locale,
  status: invitation.status,
  sentAt: toTime(invitation.sentAtMs),
  startedAt: toTime(invitation.startedAtMs),
  completedAt: toTime(invitation.completedAtMs),
  rejectedAt: toTime(invitation.rejectedAtMs),
  createdAt: toTime(invitation.createdAtMs),
  expiresAt: toTime(toExpiryMs(invitation)),
  errorMessage: invitation.errorMessage,
  deliveryAttempts: invitation.deliveryAttempts,
  dossierToken: invitation.dossierToken,
});
