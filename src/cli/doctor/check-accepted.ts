import type { Config } from '../../config/load-config.js';
import type { Database } from '../../store/database.js';
import { doubtful, type Finding, well } from './finding.js';

/** Says by day that runs would be refused because nobody has accepted the settings that judge. */
export async function checkAccepted(database: Database, { settings }: Config): Promise<Finding[]> {
  const { findUnacceptedSettings } = await import('../../runs/accepting/accept-settings.js');
  const { acceptCommand, describeRetired, describeSince } = await import(
    '../../runs/accepting/require-accepted-settings.js'
  );
  const { accepted, differences, retired } = await findUnacceptedSettings(database, settings);
  if (accepted === null) return [well('settings', 'the first run records those that judge')];
  const since = describeSince(accepted);
  if (differences.length > 0) {
    const named = [...differences, ...retired].join('; ');
    const message = `those that judge are not as they were ${since}, and a run that goes by them is refused: ${named}`;
    return [doubtful('settings', message, `set them back, or accept them: ${acceptCommand}`)];
  }
  if (retired.length === 0) return [well('settings', `those that judge are as they were ${since}`)];
  return [doubtful('settings', describeRetired(accepted, retired), `to record that: ${acceptCommand}`)];
}
