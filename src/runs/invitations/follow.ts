import type { Client } from '../../client/client.js';
import type { Invitation } from '../../client/invitations.js';
import type { CallOptions } from '../../client/operation.js';
import { NightscreenError, NotFoundError, StoreError } from '../../errors.js';
import { toFailureReason } from '../../screening/screen.js';
import { endInvitations, listToFollow, saveShown } from '../../store/invitations.js';
import type { RunSession } from '../session.js';

/**
 * The newest invitation that the service has under a reference; null when it lists none. Throws NightscreenError
 * `reference_not_filtered` when it lists others only: then nothing shows that there is none.
 */
export async function lookUpInvitation(
  { invitations }: Pick<Client, 'invitations'>,
  reference: string,
  options: CallOptions,
): Promise<Invitation | null> {
  const { data } = await invitations.page({ reference, per_page: 100 }, options);
  const found = data.invitations.find((listed) => listed.reference === reference);
  if (found === undefined && (data.invitations.length > 0 || data.pagination.total > 0)) {
    const message = 'GET /autodoc/invitations: lists other invitations than those of the reference that was asked for';
    throw new NightscreenError('reference_not_filtered', message);
  }
  return found ?? null;
}

const mostPerSweep = 500;

/**
 * Stage of a sweep: looks at the invitations whose status may still change, at most 500, those of the longest ago first, and stores what has
 * changed. Whatever the service does, the sweep goes on. Throws only what the database does.
 */
export async function followInvitations(session: RunSession, client: Client, accountId: number): Promise<void> {
  const { app, run, runId, signal } = session;
  const { clock, database, emit } = app;
  const open = await listToFollow(database, accountId, mostPerSweep);
  for (const { invitationId, reference, token } of open) {
    const save = (shown: Invitation | null): Promise<void> =>
      session.write((transaction) =>
        saveShown(transaction, invitationId, shown, { kind: 'status', runId: run.runId, now: clock.now() }),
      );
    try {
      await save(
        token === null
          ? await lookUpInvitation(client, reference, { signal })
          : (await client.invitations.retrieve(token, { signal })).data,
      );
    } catch (error) {
      if (signal.aborted || error instanceof StoreError || !(error instanceof NightscreenError)) throw error;
      if (error instanceof NotFoundError) {
        await save(null);
        continue;
      }
      const message = `the status of invitations was not read to the end (${toFailureReason(error)}); the next sweep goes on with it`;
      emit({ kind: 'warning', runId, code: 'invitations_left', message });
      break;
    }
  }
  await session.write((transaction) => endInvitations(transaction, accountId, { runId: run.runId, now: clock.now() }));
}
