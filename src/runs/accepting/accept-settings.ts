import { z } from 'zod';
import type { Queryable } from '../../store/database/database.js';
import {
  findSettingsProposer,
  holdOrganisation,
  readAcceptedSettings,
  readSettingsHistory,
  type SettingsRecord,
  saveSettingsProposal,
  saveSettingsRecord,
} from '../../store/organisations.js';
import { openOrganisation } from '../session/run-session.js';
import type { RunSettings, Workplace } from '../workplace.js';
import { type Acceptance, requireLogins } from './acceptance.js';
import {
  compareJudging,
  digestJudging,
  type JudgingComparison,
  keepGuards,
  toJudgingSettings,
} from './judging-settings.js';

/** What of the settings that judge is not as it was accepted; `accepted` is null while none are recorded. */
export async function findUnacceptedSettings(
  database: Queryable,
  settings: Pick<RunSettings, 'organisation'> & Parameters<typeof toJudgingSettings>[0],
): Promise<JudgingComparison & { accepted: SettingsRecord | null }> {
  const accepted = (await readSettingsHistory(database, settings.organisation)).at(-1) ?? null;
  if (accepted === null) return { accepted, differences: [], retired: [] };
  return { accepted, ...compareJudging(accepted.settings, toJudgingSettings(settings)) };
}

/** Whether settings switch on that alerts are closed by a policy, which takes two people wherever four eyes are set. */
const needsTwo = ({ review }: Pick<RunSettings, 'review'>, accepted: SettingsRecord | null): boolean =>
  review.autoClose && review.fourEyes.length > 0 && !isAutoClosing(accepted);

const autoClosing = z.object({ review: z.object({ autoClose: z.literal(true) }) });

/** Whether accepted settings close alerts by policy. */
export const isAutoClosing = (accepted: Pick<SettingsRecord, 'settings'> | null): boolean =>
  accepted !== null && autoClosing.safeParse(accepted.settings).success;

/**
 * Records the settings in force as accepted and gives what differs from those before, in words; an empty list, with nothing recorded, when
 * there is nothing to accept. Before the first run they are recorded whole. `isProposed`: another person has to accept the same.
 */
export async function acceptSettings(
  workplace: Workplace,
  { by, reason }: Acceptance,
): Promise<{ recorded: boolean; isProposed: boolean; differences: readonly string[] }> {
  const { database, clock, settings } = workplace;
  const { organisationId } = await openOrganisation(workplace);
  return database.transaction(async (transaction) => {
    await holdOrganisation(transaction, organisationId);
    const accepted = await readAcceptedSettings(transaction, organisationId);
    const now = toJudgingSettings(settings);
    const { differences, retired } = compareJudging(accepted?.settings ?? now, now);
    const named = [...differences, ...retired];
    if (accepted !== null && named.length === 0) return { recorded: false, isProposed: false, differences: named };
    const kept = keepGuards(accepted?.settings ?? {}, now);
    const digest = digestJudging(kept);
    const acceptance = { digest, acceptedBy: by.name, isAttested: by.isAttested, reason, acceptedAt: clock.now() };
    let proposedBy: string | null = null;
    if (needsTwo(settings, accepted)) {
      requireLogins(database, 'accepting review.autoClose');
      proposedBy = await findSettingsProposer(transaction, organisationId, { digest, except: by.name });
      if (proposedBy === null) {
        await saveSettingsProposal(transaction, organisationId, acceptance);
        return { recorded: false, isProposed: true, differences: named };
      }
    }
    await saveSettingsRecord(transaction, organisationId, {
      ...acceptance,
      settings: kept,
      differences: named,
      proposedBy,
    });
    return { recorded: true, isProposed: false, differences: named };
  });
}
