import type { Queryable } from '../../store/database.js';
import {
  holdOrganisation,
  readAcceptedSettings,
  readSettingsHistory,
  type SettingsRecord,
  saveSettingsRecord,
} from '../../store/settings-records.js';
import { openOrganisation } from '../session/run-session.js';
import type { RunSettings, Workplace } from '../workplace.js';
import type { Acceptance } from './acceptance.js';
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

/**
 * Records the settings in force as accepted and gives what differs from those before, in words; an empty list, with nothing recorded, when
 * there is nothing to accept. Before the first run they are recorded whole.
 */
export async function acceptSettings(
  workplace: Workplace,
  { by, reason }: Acceptance,
): Promise<{ recorded: boolean; differences: readonly string[] }> {
  const { database, clock, settings } = workplace;
  const { organisationId } = await openOrganisation(workplace);
  return database.transaction(async (transaction) => {
    await holdOrganisation(transaction, organisationId);
    const accepted = await readAcceptedSettings(transaction, organisationId);
    const now = toJudgingSettings(settings);
    const { differences, retired } = compareJudging(accepted?.settings ?? now, now);
    const named = [...differences, ...retired];
    if (accepted !== null && named.length === 0) return { recorded: false, differences: named };
    const kept = keepGuards(accepted?.settings ?? {}, now);
    await saveSettingsRecord(transaction, organisationId, {
      settings: kept,
      digest: digestJudging(kept),
      differences: named,
      acceptedBy: by.name,
      isAttested: by.isAttested,
      reason,
      acceptedAt: clock.now(),
    });
    return { recorded: true, differences: named };
  });
}
