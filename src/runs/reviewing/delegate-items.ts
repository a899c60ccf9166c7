import { flagError } from '../../errors.js';
import { toInstant, toLocalTime, toNextDay } from '../../local-time/local-time.js';
import { readOrganisation } from '../../store/organisations.js';
import { type Delegation, insertDelegation, readDelegations } from '../../store/review/waiting.js';
import type { Workplace } from '../workplace.js';
import type { Reviewer } from './decide-items.js';
import { requirePerson } from './require-known.js';

/** Who stands in for whom; without `to` and `until` it ends what was said before. */
export interface DelegationRequest {
  from: string;
  to: string | null;
  /** The last day, `yyyy-mm-dd`, by the clock of `review.timezone`. */
  until: string | null;
  reason: string;
  by: Reviewer;
}

/**
 * Has somebody stand in for somebody else, or ends that. Throws ConfigError when the last day is over, when they would stand in for each
 * other, or when there is nothing to end.
 */
export async function delegateItems(workplace: Workplace, request: DelegationRequest): Promise<void> {
  const { database, settings, clock } = workplace;
  const { from, to, until, reason, by } = request;
  const now = clock.now();
  const { timezone } = settings.review;
  const { organisationId } = await readOrganisation(database, settings.organisation);
  if (to !== null) await requirePerson(database, organisationId, { name: from, flag: '--from' });
  const endsAt = until === null ? null : toInstant({ date: toNextDay(until), time: '00:00:00' }, timezone);
  await database.transaction(async (transaction) => {
    const standing = await readDelegations(transaction, organisationId, now);
    if (to === null && !standing.some((each) => each.from === from)) {
      throw flagError('--end', `has nothing to end: nobody stands in for ${from}`);
    }
    if (endsAt !== null && endsAt <= now) {
      throw flagError('--until', `is over: in ${timezone} it is ${toLocalTime(now, timezone).date}`);
    }
    if (to !== null && leadsTo(standing, to, from)) throw flagError('--to', `is ${to}, for whom ${from} stands in`);
    await insertDelegation(transaction, { organisationId, from, to, until, endsAt, reason, actor: by }, now);
  });
}

/** Who stands in for whom now. */
export async function listDelegations({ database, settings, clock }: Workplace): Promise<readonly Delegation[]> {
  const { organisationId } = await readOrganisation(database, settings.organisation);
  return readDelegations(database, organisationId, clock.now());
}

/** Whether what is given to somebody ends with somebody else. */
function leadsTo(delegations: readonly Delegation[], start: string, end: string): boolean {
  const next = new Map(delegations.map(({ from, to }) => [from, to]));
  const passed = new Set<string>();
  for (let person: string | undefined = start; person !== undefined; person = next.get(person)) {
    if (person === end) return true;
    if (passed.has(person)) return false;
    passed.add(person);
  }
  return false;
}
