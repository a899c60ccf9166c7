import { z } from 'zod';
import type { Workplace } from '../../runs/workplace.js';

/** Clocks that are further apart than this are not both right. */
const mostApartMs = 5 * 60_000;

/**
 * The workplace by the database's clock, with a warning, where this machine's is more than five minutes from it: watchdogs on several hosts
 * would contradict one another otherwise. The embedded database has no other clock.
 */
export async function goByDatabaseClock(workplace: Workplace): Promise<Workplace> {
  const { database, clock, tell } = workplace;
  if (database.dialect === 'embedded') return workplace;
  const askedAt = clock.now();
  const [row] = await database.query(z.object({ now: z.date() }), 'select clock_timestamp() as now', []);
  if (!row) return workplace;
  const apartMs = row.now.getTime() - (askedAt.getTime() + clock.now().getTime()) / 2;
  if (Math.abs(apartMs) <= mostApartMs) return workplace;
  const minutes = Math.round(Math.abs(apartMs) / 60_000);
  const message = `the clock of this host is ${minutes} minutes ${apartMs > 0 ? 'behind' : 'ahead of'} the database's, by which the watchdog goes; set it (NTP), because jobs here go by it`;
  tell({ kind: 'warning', runId: null, code: 'clock_apart', message });
  return { ...workplace, clock: { ...clock, now: () => new Date(clock.now().getTime() + apartMs) } };
}
