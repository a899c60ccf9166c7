import type { Clock } from '../../clock.js';
import {
  ConnectionError,
  NightscreenError,
  ResponseError,
  ServerError,
  ServiceUnavailableError,
} from '../../errors.js';
import type { Answer } from '../operation.js';
import type { Invitation, InvitationPage } from './invitation.js';

const maxSends = 3;

/** How one invitation is sent and found again. */
export interface InvitationSending {
  send(): Promise<Answer<Invitation>>;
  /** The newest invitations that the service lists for this one's reference, workflow and channel. */
  lookUp(): Promise<Answer<InvitationPage>>;
  reference: string;
  /** The waits before one look-up after the other. */
  lookUpDelaysMs: readonly number[];
  clock: Clock;
  signal: AbortSignal | undefined;
}

const isOutcomeUnknown = (error: unknown): boolean => {
  if (error instanceof ConnectionError) return error.mayHaveArrived;
  return error instanceof ServerError || error instanceof ServiceUnavailableError || error instanceof ResponseError;
};

/** Whether the service itself said that it created something (interface: POST /autodoc/invitations, Response 201). */
const isCreated = (error: unknown): boolean => error instanceof ResponseError && error.status === 201;

/** What a look-up shows: the invitation, that there is none, or nothing that can be relied on. */
const judge = (
  answer: Answer<InvitationPage>,
  reference: string,
  error: unknown,
): Answer<Invitation> | 'absent' | 'unclear' => {
  const { invitations } = answer.data;
  const [found, another] = invitations.filter((invitation) => invitation.reference === reference);
  if (another !== undefined) {
    throw new NightscreenError(
      'reference_not_unique',
      'invitations.create: it is unknown whether the invitation was created, and several have its reference',
      { cause: error },
    );
  }
  if (found !== undefined) return { ...answer, data: found };
  // Others in the list mean that the service does not filter by reference, or does not show it.
  return invitations.length === 0 && answer.data.pagination.total === 0 ? 'absent' : 'unclear';
};

/**
 * Sends an invitation and, while its outcome is unknown, waits and looks its reference up; it is sent again (3 times in all) only after
 * every look-up showed that it does not exist. Throws the error of the last sending, NightscreenError `reference_not_unique` when several
 * invitations have the reference, or the signal's reason.
 */
export const sendInvitation = async (sending: InvitationSending): Promise<Answer<Invitation>> => {
  const { reference, clock, signal } = sending;

  const findSent = async (error: unknown): Promise<Answer<Invitation> | 'absent' | 'unclear'> => {
    for (const delayMs of sending.lookUpDelaysMs) {
      await clock.sleep(delayMs, signal);
      const answer = await sending.lookUp().catch(() => undefined);
      signal?.throwIfAborted();
      const verdict = answer === undefined ? 'unclear' : judge(answer, reference, error);
      if (verdict !== 'absent') return verdict;
    }
    return 'absent';
  };

  for (let sends = 1; ; sends += 1) {
    try {
      return await sending.send();
    } catch (error) {
      if (!isOutcomeUnknown(error)) throw error;
      const verdict = await findSent(error);
      if (typeof verdict === 'object') return verdict;
      if (verdict === 'unclear' || isCreated(error) || sends === maxSends) throw error;
    }
  }
};
