import { type Invitation, toExpiryMs } from './invitation.js';

/** Why an invitation cannot be sent again now, as status, code and message. */
export interface ResendRefusal {
  status: 422 | 429;
  code: string;
  message: string;
}

const MAX_ATTEMPTS = 10;
const COOLDOWN_MS = 3 * 60_000;

const invalidState = (message: string): ResendRefusal => ({ status: 422, code: 'invalid_state', message });

/** Says why an invitation cannot be sent again, or undefined when it can (interface: Resend eligibility, Limits). */
export const judgeResend = (invitation: Invitation, nowMs: number): ResendRefusal | undefined => {
  if (invitation.status !== 'sent') return invalidState(`An invitation that is ${invitation.status} cannot be resent.`);
  if (nowMs >= toExpiryMs(invitation)) return invalidState('The invitation has expired.');
  if (invitation.deliveryAttempts >= MAX_ATTEMPTS) {
    const message = `The invitation was sent ${MAX_ATTEMPTS} times, which is the most.`;
    return { status: 422, code: 'max_attempts_reached', message };
  }
  const readyAtMs = (invitation.sentAtMs ?? 0) + COOLDOWN_MS;
  if (nowMs >= readyAtMs) return undefined;
  const remainingSeconds = Math.ceil((readyAtMs - nowMs) / 1_000);
  return {
    status: 429,
    code: 'cooldown_active',
    message: `Sent too recently; remaining_seconds: ${remainingSeconds}`,
  };
};
