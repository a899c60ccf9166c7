import type { CustomerState } from '../../matches/customer-state.js';
import { type CoverageGap, countAccepted, readCoverageGaps } from '../../store/coverage.js';
import { type CustomerStatus, readCustomerStatuses } from '../../store/webhooks.js';
import { chooseImportedRosters } from '../coverage/choose-imported-rosters.js';
import type { Workplace } from '../workplace.js';

/** Which customers are meant. */
export interface StatusChoice {
  /** Of this roster; left out for all that were ever imported or are configured. */
  roster?: string | undefined;
  /** In one of these states; left out for all. */
  states?: readonly CustomerState[] | undefined;
  /** Whose state is another since this moment, or so new that nothing has recorded it yet. */
  changedSince?: Date | undefined;
}

/** How customers stand at one moment. */
export interface StatusExport {
  rosters: readonly string[];
  /** Configured rosters that were never imported: nothing is known of their customers. */
  neverImported: readonly string[];
  /** Those that are meant, to be read once. */
  batches: AsyncIterable<readonly CustomerStatus[]>;
  /** Once all are read: how many there were, and the states of all customers in scope, with how many have no valid screening or one whose successor is held. */
  sums: { exported: number; inScope: number; notValid: number; states: Record<string, number> };
  /** Once all are read: whether everybody in scope has a valid screening, or an exception was accepted. */
  isCovered(): boolean;
}

/** Opens an export of how customers stand; throws ConfigError when there is no such roster. */
export async function exportStatus(
  workplace: Workplace,
  choice: StatusChoice,
  signal: AbortSignal,
): Promise<StatusExport> {
  const { database, clock, settings } = workplace;
  const { imported, neverImported } = await chooseImportedRosters(workplace, choice.roster);
  const rosters = imported.map(({ roster }) => roster);
  const sums: StatusExport['sums'] = { exported: 0, inScope: 0, notValid: 0, states: {} };
  const isMeant = toFilter(choice);
  const read = async function* () {
    for await (const batch of readCustomerStatuses(database, settings.organisation, rosters)) {
      signal.throwIfAborted();
      for (const { state, reason, inScope, held } of batch) {
        if (!inScope) continue;
        sums.states[state] = (sums.states[state] ?? 0) + 1;
        sums.inScope += 1;
        if (reason !== null || held) sums.notValid += 1;
      }
      const meant = batch.filter(isMeant);
      sums.exported += meant.length;
      yield meant;
    }
  };
  const gaps: CoverageGap[] = [];
  for (const { rosterId } of imported) gaps.push(...(await readCoverageGaps(database, rosterId, clock.now())));
  const isCovered = (): boolean =>
    gaps.every((gap) => gap.accepted === gap.count) && sums.notValid <= countAccepted(gaps);
  return { rosters, neverImported, batches: read(), sums, isCovered };
}

function toFilter({ states, changedSince }: StatusChoice): (status: CustomerStatus) => boolean {
  const wanted: ReadonlySet<string> | null = states === undefined ? null : new Set(states);
  return ({ state, changedAt }) =>
    (wanted === null || wanted.has(state)) &&
    (changedSince === undefined || changedAt === null || changedAt >= changedSince);
}
