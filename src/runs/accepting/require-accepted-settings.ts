import { ConfigError } from '../../errors.js';
import type { Organisation } from '../../store/organisations.js';
import {
  holdOrganisation,
  readAcceptedSettings,
  type SettingsRecord,
  saveSettingsRecord,
} from '../../store/settings-records.js';
import type { Workplace } from '../workplace.js';
import { digestJudging, nameJudgingChanges, toJudgingSettings } from './judging-settings.js';

/** What to type so that settings that were changed hold. */
export const acceptCommand = 'nightscreen config accept --by NAME --reason TEXT';

/**
 * Gives the number of the record of the settings in force; the first run of an organisation records its own. Throws ConfigError, which names
 * each difference with both values and what to type, when settings that judge are not as they were accepted.
 */
export async function requireAcceptedSettings(
  { database, clock, settings }: Workplace,
  { organisationId }: Organisation,
): Promise<number> {
  const now = toJudgingSettings(settings);
  const accepted = await readAcceptedSettings(database, organisationId);
  if (accepted === null) {
    return database.transaction(async (transaction) => {
      await holdOrganisation(transaction, organisationId);
      const sooner = await readAcceptedSettings(transaction, organisationId);
      if (sooner !== null) return requireSame(sooner, nameJudgingChanges(sooner.settings, now));
      return saveSettingsRecord(transaction, organisationId, {
        settings: now,
        digest: digestJudging(now),
        differences: [],
        acceptedBy: 'first settings',
        isAttested: true,
        reason: 'recorded by the first run',
        acceptedAt: clock.now(),
      });
    });
  }
  return requireSame(accepted, nameJudgingChanges(accepted.settings, now));
}

function requireSame(accepted: SettingsRecord, differences: readonly string[]): number {
  if (differences.length === 0) return accepted.recordId;
  const since = `as they were accepted on ${accepted.acceptedAt.toISOString()} (${accepted.acceptedBy})`;
  const message =
    `those that judge are not ${since}: ${differences.join('; ')}. Nothing was asked and nothing was changed. ` +
    `Set them back, or accept them: ${acceptCommand}`;
  throw new ConfigError([{ where: 'settings', path: '', message }]);
}
