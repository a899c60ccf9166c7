import type { Config } from '../../config/load-config.js';
import type { Database } from '../../store/database.js';
import { doubtful, type Finding, well } from './finding.js';

/** Says by day that the next run would refuse settings that judge because nobody has accepted them. */
export async function checkAccepted(database: Database, { settings }: Config): Promise<Finding[]> {
  const { findUnacceptedSettings } = await import('../../runs/accepting/accept-settings.js');
  const { acceptCommand } = await import('../../runs/accepting/require-accepted-settings.js');
  const { accepted, differences } = await findUnacceptedSettings(database, settings);
  if (accepted === null) return [well('settings', 'the first run records those that judge')];
  const since = `accepted on ${accepted.acceptedAt.toISOString()} (${accepted.acceptedBy})`;
  if (differences.length === 0) return [well('settings', `those that judge are as they were ${since}`)];
  const message = `those that judge are not as they were ${since}, and the next run is refused: ${differences.join('; ')}`;
  return [doubtful('settings', message, `set them back, or accept them: ${acceptCommand}`)];
}
