import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listNextRuns } from '../../../src/scheduling/due-times.js';
import { listTierDueTimes, toCadence } from '../../../src/screening/cadence.js';
import { screeningSettingsSchema } from '../../../src/screening/settings.js';
import { isFullSize } from '../../helpers/figures.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const now = new Date('2026-11-21T02:00:00Z');

describe('cadence by risk tier', () => {
  it('is a day for every tier without any setting, and the base where a tier has none of its own', () => {
    expect(toCadence(screeningSettingsSchema.parse({}))).toEqual({
      hours: { high: 24, medium: 24, low: 24 },
      reason: null,
    });
    const cadence = { low: '30d', reason: 'policy 4.2' };
    expect(toCadence(screeningSettingsSchema.parse({ cadenceHours: 12, cadence }))).toEqual({
      hours: { high: 12, medium: 12, low: 720 },
      reason: 'policy 4.2',
    });
  });

  it('longer than a day is refused without a written reason, each tier by its name', () => {
    const findPaths = (input: unknown) =>
      screeningSettingsSchema.safeParse(input).error?.issues.map((issue) => issue.path.join('.'));
    expect(findPaths({ cadence: { medium: '7d', low: '30d' } })).toEqual(['cadence.medium', 'cadence.low']);
    expect(findPaths({ cadenceHours: 48 })).toEqual(['cadenceHours']);
    expect(findPaths({ cadence: { high: '6h', low: '24h' } })).toBeUndefined();
    expect(findPaths({ cadence: { low: '30d', reason: ' ' } })).toEqual(['cadence.reason']);
    expect(findPaths({ cadence: { low: '30d', reason: 'policy 4.2' } })).toBeUndefined();
  });

  /** The age in hours at which somebody of a cadence is due when the next run comes so many hours from now. */
  const dueAge = (cadenceHours: number, nextHours?: number): number => {
    const next = nextHours === undefined ? null : new Date(now.getTime() + nextHours * hourMs);
    const [high] = listTierDueTimes(toCadence({ cadenceHours }), now, next);
    return (now.getTime() - (high?.dueBefore.getTime() ?? 0)) / hourMs;
  };

  it('of a day finds everybody due the next night, also when the clocks were changed or the last run came late', () => {
    const [high] = listTierDueTimes(toCadence({ cadenceHours: 24 }), now);
    expect(high).toMatchObject({ tier: 'high', place: 0, nights: 1 });
    expect(now.getTime() - (high?.overdueBefore.getTime() ?? 0)).toBe(48 * hourMs);
    expect(now.getTime() - (high?.staleBefore.getTime() ?? 0)).toBe(27 * hourMs);
    expect(dueAge(24)).toBe(16);
  });

  it('of two days is due the night before it would be exceeded, also when nobody has written down when nights begin', () => {
    expect(dueAge(48)).toBe(26);
    expect(dueAge(36)).toBe(16);
    expect(dueAge(12)).toBe(8);
  });

  it('is due when the next run on the schedule would come too late, and not before', () => {
    // A night at two after a run at nine, one after a change of the clocks, and a second run in the morning.
    expect(dueAge(24, 24)).toBe(2);
    expect(dueAge(24, 23)).toBe(3);
    expect(dueAge(24, 25)).toBe(1);
    expect(dueAge(24, 16)).toBe(10);
    expect(dueAge(24, 2)).toBe(23);
    expect(dueAge(24, 24 * 7)).toBe(1);
  });

  it('below a day has one hour of grace, and keeps to it', () => {
    const [high] = listTierDueTimes(toCadence({ cadenceHours: 12 }), now);
    expect(now.getTime() - (high?.staleBefore.getTime() ?? 0)).toBe(13 * hourMs);
    expect(dueAge(12, 12)).toBe(1);
  });

  it('skips in a night whom a run that began less than two hours before it has screened', () => {
    const isSkipped = (ageHours: number, nextHours = 24) => ageHours < dueAge(24, nextHours);
    expect([0.1, 1.5, 1.9, 2, 12, 1.9 + 24].map((age) => isSkipped(age))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
    // A night that is followed by one of 25 hours has an hour less to give.
    expect([0.9, 1.1].map((age) => isSkipped(age, 25))).toEqual([true, false]);
  });

  it.each([1, 7, 30])(
    'of %i days is kept to within three hours when the next run is an hour late, and no night repeats another',
    (days) => {
      // Clocks are set back in the night of 25 October, and forward in that of 28 March.
      const begin = fc.constantFrom(new Date('2026-10-21T12:00:00Z'), new Date('2027-03-24T12:00:00Z'));
      const minutes = (max: number) => fc.integer({ min: 0, max });
      const night = fc.record({ late: minutes(60), caughtUp: fc.option(minutes(1_439), { freq: 2 }) });
      const nights = fc.array(night, { minLength: 7, maxLength: 40 });
      const others = fc.array(minutes(40 * 1_440), { maxLength: 20 });
      const cadence = toCadence({ cadenceHours: days * 24, cadence: { reason: 'policy 4.2' } });
      fc.assert(
        fc.property(begin, nights, others, fc.integer({ min: 0, max: 29 }), (began, held, extra, request) => {
          const planned = listNextRuns({ cron: '0 2 * * *', timezone: 'Europe/Copenhagen' }, began, held.length + 2);
          const starts = held.map(
            ({ late, caughtUp }, index) => (planned[index]?.getTime() ?? 0) + (caughtUp ?? late) * minuteMs,
          );
          const runs = [...starts, ...extra.map((minute) => began.getTime() + minute * minuteMs)];
          let lastMs = began.getTime();
          for (const runMs of runs.toSorted((one, other) => one - other)) {
            const next = planned.find((at) => at.getTime() > runMs + minuteMs);
            if (next === undefined) return;
            const [high] = listTierDueTimes(cadence, new Date(runMs), next);
            if (!high) throw new Error('no tier');
            const isOfTonight = high.nights > 1 && request % high.nights === high.tonight;
            const isDue = lastMs <= high.dueBefore.getTime() || (isOfTonight && lastMs < high.nightBeganAt.getTime());
            if (isDue) {
              const leastHours = next.getTime() - runMs > 24 * hourMs ? 1 : 2;
              expect(runMs - lastMs).toBeGreaterThanOrEqual(leastHours * hourMs);
              lastMs = runMs;
            } else {
              // A timer may be a minute early.
              const latestMs = next.getTime() + hourMs - minuteMs;
              expect(latestMs - lastMs).toBeLessThanOrEqual(runMs - high.staleBefore.getTime());
            }
          }
        }),
        { numRuns: isFullSize ? 1_000 : 200 },
      );
    },
  );

  it('of a week is due at the last night that does not come too late, and in one night of seven before', () => {
    const [, medium] = listTierDueTimes(toCadence({ cadenceHours: 24, cadence: { medium: '7d', reason: 'r' } }), now);
    expect(medium).toMatchObject({ nights: 7, nightBeganAt: new Date('2026-11-21T00:00:00Z') });
    expect(now.getTime() - (medium?.dueBefore.getTime() ?? 0)).toBe((6 * 24 + 2) * hourMs);
  });
});
