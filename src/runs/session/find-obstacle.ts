import type { RunKind } from '../../reports/run-facts.js';
import { readRoster } from '../../roster/read-roster.js';
import type { RosterSettings } from '../../roster/settings.js';
import { readLastActivity } from '../../store/find-runs.js';
import { readImportOrigin } from '../../store/merge-roster.js';
import type { Account } from '../../store/organisations.js';
import type { RunRow } from '../../store/run-row.js';
import { hasOutcomes, type PlanSelection } from '../../store/screening-plan.js';
import type { Workplace } from '../workplace.js';

const resumableForMs = 12 * 60 * 60 * 1_000;

/** What somebody wants to run now. */
export interface Intention {
  kind: RunKind;
  selection: PlanSelection;
  mode: 'test' | 'live';
  /** Null while the service cannot be asked. */
  account: Account | null;
  /** The roster to be read first, or null when it is not. */
  roster: RosterSettings | null;
  /** Somebody named the run to go on with: neither its age nor the roster of today matters. */
  isNamed: boolean;
}

/** Why an open run must not be gone on with in place of what is wanted now, or null; throws RosterError when the roster cannot be read. */
export async function findObstacle(workplace: Workplace, open: RunRow, intention: Intention): Promise<string | null> {
  const { database, clock, settingsDigest } = workplace;
  const { account } = intention;
  if (open.kind !== intention.kind) return `it was a run of kind ${open.kind}`;
  if (open.selection !== intention.selection) return `it asked about ${open.selection} customers`;
  if (open.settingsDigest !== settingsDigest) return 'the settings have changed since';
  if (open.mode !== intention.mode) return `it ran with a ${open.mode} key`;
  if (account && account.accountId !== open.accountId && (await hasOutcomes(database, open.runId))) {
    return 'it ran under another account';
  }
  if (intention.isNamed) return null;
  const idleMs = clock.now().getTime() - (await readLastActivity(database, open)).getTime();
  if (idleMs > resumableForMs) return 'nothing has been saved by it for twelve hours';
  return intention.roster && open.stage !== 'started' && (await hasRosterChanged(workplace, open, intention.roster))
    ? 'the roster has changed since'
    : null;
}

async function hasRosterChanged(workplace: Workplace, open: RunRow, roster: RosterSettings): Promise<boolean> {
  const imported = await readImportOrigin(workplace.database, open.runId);
  const reading = await readRoster(roster, workplace.secret);
  try {
    for await (const _ of reading.rows);
    return imported?.source !== reading.source || imported.digest !== reading.digest();
  } finally {
    await reading.close();
  }
}
