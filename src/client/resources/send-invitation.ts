import type { Clock } from '../../clock.js';
import {
  ConnectionError,
  NightscreenError,
  ResponseError,
  ServerError,
  ServiceUnavailableError,
  TimeoutError,
} from '../../errors.js';
import type { Answer } from '../operation.js';
import type { Invitation, InvitationPage } from './invitation.js';
import type { InvitationInput } from './invitation-inputs.js';
import { isSameRecipient } from './is-same-recipient.js';

/** How far the service's clock may be behind ours. */
const clockSlackMs = 5 * 60_000;

/** How one invitation is sent and found again. */
export interface InvitationSending {
  send(): Promise<Answer<Invitation>>;
  /** The newest invitations that the service lists for this one's reference, workflow and channel. */
  lookUp(): Promise<Answer<InvitationPage>>;
  /** What was sent, and what tells it from an older one in the list. */
  invitation: Pick<InvitationInput, 'channel' | 'recipient'> & { reference: string };
  /** How often it is sent at most. */
  maxSends: number;
  /** The waits before one look-up after the other. */
  lookUpDelaysMs: readonly number[];
  clock: Clock;
  signal: AbortSignal;
}

const isOutcomeUnknown = (error: unknown): boolean => {
  if (error instanceof ConnectionError) return error.mayHaveArrived;
  return error instanceof ServerError || error instanceof ServiceUnavailableError || error instanceof ResponseError;
};

/**
 * Whether it may exist although no look-up shows it: the service said that it created something (interface: POST /autodoc/invitations,
 * Response 201), or nobody knows that it has stopped working on it.
 */
const mayStillAppear = (error: unknown): boolean =>
  error instanceof TimeoutError || (error instanceof ResponseError && error.status === 201);

/** What a look-up shows: the invitation, that there is none, or nothing that can be relied on. */
const judge = (
  answer: Answer<InvitationPage>,
  isOurs: (listed: Invitation) => boolean,
  error: unknown,
): Answer<Invitation> | 'absent' | 'unclear' => {
  const { invitations, pagination } = answer.data;
  const [found, another] = invitations.filter(isOurs);
  if (another !== undefined) {
    throw new NightscreenError(
      'reference_not_unique',
      'invitations.create: it is unknown whether the invitation was created, and several have its reference',
      { cause: error },
    );
  }
  if (found !== undefined) return { ...answer, data: found };
  // Others in the list mean that the reference was used before, or that the service does not filter by it or does not show it.
  return invitations.length === 0 && pagination.total === 0 ? 'absent' : 'unclear';
};

/**
 * Sends an invitation and, while its outcome is unknown, waits and looks it up: one with its reference and recipient that was created since.
 * It is sent again only after every look-up showed that the reference is unused, and never after a TimeoutError. Throws the
 * error of the last sending, NightscreenError `reference_not_unique` when several could be it, or the signal's reason.
 */
export const sendInvitation = async (sending: InvitationSending): Promise<Answer<Invitation>> => {
  const { clock, signal, maxSends } = sending;
  const { reference, channel, recipient } = sending.invitation;
  const earliestMs = clock.now().getTime() - clockSlackMs;

  const isOurs = (listed: Invitation): boolean =>
    listed.reference === reference &&
    isSameRecipient(channel, recipient, listed.recipient ?? '') &&
    Date.parse(listed.createdAt ?? '') >= earliestMs;

  const findSent = async (error: unknown): Promise<Answer<Invitation> | 'absent' | 'unclear'> => {
    let isClear = true;
    for (const delayMs of sending.lookUpDelaysMs) {
      await clock.sleep(delayMs, signal);
      const answer = await sending.lookUp().catch(() => undefined);
      const verdict = answer === undefined ? 'unclear' : judge(answer, isOurs, error);
      if (typeof verdict === 'object') return verdict;
      signal.throwIfAborted();
      isClear &&= verdict === 'absent';
    }
    return isClear ? 'absent' : 'unclear';
  };

  for (let sends = 1; ; sends += 1) {
    try {
      return await sending.send();
    } catch (error) {
      if (!isOutcomeUnknown(error)) throw error;
      const verdict = await findSent(error);
      if (typeof verdict === 'object') return verdict;
      if (verdict === 'unclear' || mayStillAppear(error) || sends === maxSends) throw error;
    }
  }
};
