import { readRosterGroups } from '../../runs/coverage/read-roster-groups.js';
import type { Workplace } from '../../runs/workplace.js';
import { readImportedRosters } from '../../store/coverage.js';
import { readFailing } from '../../store/failing-customers.js';
import type { Incident } from '../../store/incidents.js';
import { findLastNights, type Nights, type RunningFacts } from '../../store/watch-facts.js';
import { findAgeMoment } from './age-moment.js';
import type { Expectations } from './expectations.js';
import { findSame } from './finding.js';
import type { RosterFacts } from './judge-roster.js';

/** What rosters are judged against at a moment. */
export interface RosterContext {
  expectations: Pick<Expectations, 'ofRoster'>;
  running: readonly RunningFacts[];
  /** What has been told of and is not over. */
  open: readonly Incident[];
  /** How long a customer may fail. */
  agedMs: number;
  now: Date;
}

/** Reads what is known of each roster. */
export async function readRosterFacts(
  workplace: Pick<Workplace, 'database' | 'settings'>,
  organisationId: number,
  rosters: readonly string[],
  context: RosterContext,
): Promise<readonly RosterFacts[]> {
  const { database } = workplace;
  const imported = await readImportedRosters(database, organisationId);
  const nights = new Map<string, Nights>();
  for (const roster of rosters) nights.set(roster, await findLastNights(database, organisationId, roster));
  const facts: RosterFacts[] = [];
  for (const [roster, { begun, ended }] of nights) {
    const { expected, isWaiting } = context.expectations.ofRoster(roster);
    const start = { begun, expected, isWaiting: isWaiting || context.running.some((run) => isOtherNight(run, roster)) };
    const others = [...nights].flatMap(([other, { begun: night }]) => (other === roster ? [] : (night ?? [])));
    const rosterId = imported.find((one) => one.roster === roster)?.rosterId ?? null;
    const told = findSame(context.open, { kind: 'customers_failing', subject: roster, roster });
    const ageAt = findAgeMoment(start, others, context);
    facts.push({ roster, ended, ...start, ...(await readCustomers(workplace, rosterId, { ...context, told, ageAt })) });
  }
  return facts;
}

const isOtherNight = (run: RunningFacts, roster: string): boolean =>
  run.kind === 'rescreen' && run.silentMs === null && run.roster !== roster;

async function readCustomers(
  workplace: Pick<Workplace, 'database' | 'settings'>,
  rosterId: number | null,
  { told, ageAt, agedMs, now }: { told: Incident | undefined; ageAt: Date; agedMs: number; now: Date },
): Promise<Pick<RosterFacts, 'failing' | 'overdue'>> {
  if (rosterId === null) return { failing: null, overdue: { customers: 0, oldestScreenedAt: null } };
  const { accountId, groups } = await readRosterGroups(workplace, rosterId, ageAt);
  const late = groups.filter(({ standing, failedBecause }) => standing === 'overdue' && failedBecause === null);
  const dates = late.flatMap(({ oldestScreenedAt }) => oldestScreenedAt?.getTime() ?? []);
  const since = told && { runId: told.runId ?? 0, at: told.toldAt };
  return {
    failing:
      accountId === null
        ? null
        : await readFailing(workplace.database, { rosterId, accountId }, { told: since ?? null, agedMs, now }),
    overdue: {
      customers: late.reduce((sum, { customers }) => sum + customers, 0),
      oldestScreenedAt: dates.length === 0 ? null : new Date(Math.min(...dates)),
    },
  };
}
