import { ConfigError, flagError } from '../../errors.js';

import { type CoverageGap, listOpenGaps, type OpenGap, saveCoverageExceptions } from '../../store/coverage.js';
import type { Acceptance } from '../accepting/acceptance.js';
import type { Workplace } from '../workplace.js';
import { chooseImportedRosters } from './choose-imported-rosters.js';

/** Which gaps are accepted: those of these customers, or with null all that are open, rows without a readable id included. */
export interface GapChoice {
  roster: string | undefined;
  customers: readonly string[] | null;
  /** `yyyy-mm-dd`, UTC; the exception ends with this day. */
  until: string;
}

/**
 * Notes that customers may stay unscreened until a day, by whom and why; their state stays. Throws ConfigError, with nothing noted, for a day
 * that is over, several rosters to choose from, and customers who are not among those who cannot be screened.
 */
export async function acceptGaps(
  workplace: Workplace,
  { roster, customers, until }: GapChoice,
  { by, reason }: Acceptance,
): Promise<readonly OpenGap[]> {
  const { database, clock } = workplace;
  const now = clock.now();
  if (until < now.toISOString().slice(0, until.length)) throw flagError('--until', `${until} is over`);
  const [chosen, ...others] = (await chooseImportedRosters(workplace, roster)).imported;
  if (chosen === undefined || others.length > 0) {
    const message =
      chosen === undefined ? 'no roster was imported yet' : 'several rosters were imported: say which one';
    throw flagError('--roster', message);
  }
  return database.transaction(async (transaction) => {
    const open = await listOpenGaps(transaction, chosen.rosterId, now);
    const unknown = (customers ?? []).filter((customer) => !open.some(({ reference }) => reference === customer));
    if (unknown.length > 0) {
      const names = unknown.map((customer) => JSON.stringify(customer)).join(', ');
      const message = `${names}: nothing is to be accepted; coverage says who cannot be screened`;
      throw new ConfigError([{ where: 'flag --customer', path: '', message }]);
    }
    const accepted = open.filter(({ reference }) => customers === null || customers.some((one) => one === reference));
    const who = { acceptedBy: by.name, isAttested: by.isAttested, because: reason, acceptedAt: now };
    if (accepted.length > 0) {
      await saveCoverageExceptions(transaction, chosen.rosterId, accepted, { until, ...who });
    }
    return accepted;
  });
}

const gapWords: Readonly<Record<CoverageGap['reason'], readonly [string, string]>> = {
  row_rejected: [
    'customer without a record: the row was rejected',
    'customers without a record: their rows were rejected',
  ],
  conflicting_duplicate: [
    'customer without a record: the rows contradict each other',
    'customers without a record: their rows contradict each other',
  ],
  roster_held: ['new customer of a roster that is held', 'new customers of a roster that is held'],
  related_party_unreadable: [
    'customer with a related party that cannot be read',
    'customers with a related party that cannot be read',
  ],
  unreadable_id: ['row without a readable customer id', 'rows without a readable customer id'],
};

/** Says who cannot be screened as the roster stands and is not accepted, and how to accept that; null where there is nobody. */
export function describeGaps(gaps: readonly CoverageGap[], roster: string): string | null {
  const open = gaps.flatMap(({ reason, count, accepted }) => {
    const left = count - accepted;
    return left === 0 ? [] : [`${left} ${gapWords[reason][left === 1 ? 0 : 1]}`];
  });
  if (open.length === 0) return null;
  return `not screened as the roster stands: ${open.join('; ')}. Mend the roster, or accept it until a day: nightscreen roster except --roster ${roster} --all --until DATE --by NAME --reason TEXT`;
}
