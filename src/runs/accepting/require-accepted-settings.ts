import { ConfigError } from '../../errors.js';
import {
  holdOrganisation,
  readAcceptedSettings,
  type SettingsRecord,
  saveSettingsRecord,
} from '../../store/organisations.js';
import type { RosterScope } from '../rosters/roster-scope.js';
import type { Workplace } from '../workplace.js';
import { compareJudging, digestJudging, toJudgingSettings } from './judging-settings.js';

/** What to type so that settings that were changed hold. */
export const acceptCommand = 'nightscreen config accept --by NAME --reason TEXT';

/**
 * Gives the number of the record of the settings in force; the first run of an organisation records its own. Throws ConfigError, which names
 * each difference with both values and what to type, when settings that judge this roster are not as they were accepted. What was accepted and
 * is unknown to this version hinders nothing and is told.
 */
export async function requireAcceptedSettings(
  workplace: Workplace,
  { organisation: { organisationId }, roster }: Pick<RosterScope, 'organisation' | 'roster'>,
): Promise<number> {
  const { database, clock, settings } = workplace;
  const now = toJudgingSettings(settings);
  const requireSame = (accepted: SettingsRecord): number => {
    const { differences, retired } = compareJudging(accepted.settings, now, [roster]);
    if (differences.length > 0) throw refuse(accepted, [...differences, ...retired]);
    if (retired.length > 0) {
      const message = `${describeRetired(accepted, retired)}. To record that: ${acceptCommand}`;
      workplace.tell({ kind: 'warning', runId: null, code: 'settings_retired', message });
    }
    return accepted.recordId;
  };
  const accepted = await readAcceptedSettings(database, organisationId);
  if (accepted !== null) return requireSame(accepted);
  // What closes alerts without a person is accepted by a named one, also before the first run.
  if (settings.review.autoClose) {
    const message = `closes alerts without a person, and no one has accepted it. Nothing was searched and nothing was changed. Accept it: ${acceptCommand}`;
    throw new ConfigError([{ where: 'settings', path: 'review.autoClose', message }]);
  }
  return database.transaction(async (transaction) => {
    await holdOrganisation(transaction, organisationId);
    const sooner = await readAcceptedSettings(transaction, organisationId);
    if (sooner !== null) return requireSame(sooner);
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

/** When settings were accepted, and by whom. */
export const describeSince = ({ acceptedAt, acceptedBy }: SettingsRecord): string =>
  `accepted on ${acceptedAt.toISOString()} (${acceptedBy})`;

/** Says what runs do without, because their version does not know it any more. */
export const describeRetired = (accepted: SettingsRecord, retired: readonly string[]): string =>
  `runs go without some of the settings that were ${describeSince(accepted)}: ${retired.join('; ')}`;

function refuse(accepted: SettingsRecord, differences: readonly string[]): ConfigError {
  const message =
    `those that judge are not as they were ${describeSince(accepted)}: ${differences.join('; ')}. Nothing was asked and nothing was changed. ` +
    `Set them back, or accept them: ${acceptCommand}`;
  return new ConfigError([{ where: 'settings', path: '', message }]);
}
