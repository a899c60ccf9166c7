import { findReviewer } from '../../src/runs/review/people.js';
import { acceptSettings } from '../../src/runs/settings-acceptance.js';
import type { Acceptance } from '../../src/runs/settings-diff.js';
import type { Workplace } from '../../src/runs/workplace.js';
import { readSettingsHistory } from '../../src/store/organisations.js';

/** Somebody's word, as the database demands it. */
export const makeAcceptance = async ({ database }: Pick<Workplace, 'database'>): Promise<Acceptance> => ({
  by: await findReviewer(database, database.dialect === 'embedded' ? 'T. Tester' : undefined),
  reason: 'the test wants it so',
});

/** Accepts the settings that a test has changed since its last run; the first run records its own. */
export async function acceptChanges(workplace: Workplace): Promise<void> {
  const records = await readSettingsHistory(workplace.database, workplace.settings.organisation);
  if (records.length > 0) await acceptSettings(workplace, await makeAcceptance(workplace));
}
