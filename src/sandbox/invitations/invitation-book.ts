import { makeToken } from '../make-token.js';
import type { SandboxClock } from '../sandbox-clock.js';
import type { Invitation, InvitationStatus } from './invitation.js';
import type { NewInvitation } from './new-invitation.js';

/** How an invitation is moved on by what happens outside the service. */
export interface InvitationMove {
  status: InvitationStatus;
  errorMessage?: string | undefined;
  dossierToken?: string | undefined;
}

/** The invitations of one organisation. */
export interface InvitationBook {
  add(request: NewInvitation): Invitation;
  /** By `adi_<token>` or the raw token (interface: Identifier forms). */
  find(token: string): Invitation | undefined;
  /** All of them, newest first. */
  newestFirst(): Invitation[];
  /** Enqueues a delivery anew: `pending` with `sentAt` cleared (interface: Workflow invitation status, resend). */
  redispatch(invitation: Invitation): void;
  /** Plays what a provider, the recipient or a reviewer does. */
  move(invitation: Invitation, move: InvitationMove): void;
}

// How long the provider takes to accept a message, by the sandbox's clock.
const DELIVERY_MS = 1_000;
const PREFIX = 'adi_';

const acceptDelivery = (invitation: Invitation, nowMs: number): Invitation => {
  const acceptedAtMs = invitation.dispatchedAtMs + DELIVERY_MS;
  if (invitation.status === 'pending' && nowMs >= acceptedAtMs) {
    invitation.status = 'sent';
    invitation.sentAtMs = acceptedAtMs;
  }
  return invitation;
};

/** Creates a book without invitations; an invitation is seen as `sent` once its delivery time has passed. */
export const createInvitationBook = (clock: SandboxClock): InvitationBook => {
  const invitations = new Map<string, Invitation>();
  return {
    add: (request) => {
      const nowMs = clock.nowMs();
      const invitation: Invitation = {
        ...request,
        token: `${PREFIX}${makeToken()}`,
        status: 'pending',
        createdAtMs: nowMs,
        dispatchedAtMs: nowMs,
        sentAtMs: null,
        startedAtMs: null,
        completedAtMs: null,
        rejectedAtMs: null,
        errorMessage: null,
        deliveryAttempts: 1,
        dossierToken: null,
      };
      invitations.set(invitation.token, invitation);
      return invitation;
    },
    find: (token) => {
      const found = invitations.get(token.startsWith(PREFIX) ? token : `${PREFIX}${token}`);
      return found && acceptDelivery(found, clock.nowMs());
    },
    newestFirst: () => {
      const nowMs = clock.nowMs();
      return [...invitations.values()].reverse().map((invitation) => acceptDelivery(invitation, nowMs));
    },
    redispatch: (invitation) => {
      invitation.status = 'pending';
      invitation.sentAtMs = null;
      invitation.dispatchedAtMs = clock.nowMs();
      invitation.deliveryAttempts += 1;
    },
    move: (invitation, { status, errorMessage, dossierToken }) => {
      const nowMs = clock.nowMs();
      invitation.status = status;
      if (status === 'pending') invitation.dispatchedAtMs = nowMs;
      invitation.sentAtMs = status === 'pending' || status === 'failed' ? null : (invitation.sentAtMs ?? nowMs);
      if (status === 'started') invitation.startedAtMs = nowMs;
      if (status === 'completed') invitation.completedAtMs = nowMs;
      if (status === 'rejected') invitation.rejectedAtMs = nowMs;
      if (status === 'failed') invitation.errorMessage = errorMessage ?? 'The message could not be delivered.';
      if (dossierToken !== undefined) invitation.dossierToken = dossierToken;
    },
  };
};
