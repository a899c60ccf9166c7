import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listTierDues, toCadence } from '../../../src/screening/cadence.js';
import { screeningSettingsSchema } from '../../../src/screening/settings.js';

const hourMs = 60 * 60 * 1_000;
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
    const [high] = listTierDues(toCadence({ cadenceHours }), now, next);
    return (now.getTime() - (high?.dueBefore.getTime() ?? 0)) / hourMs;
  };

  it('of a day finds everybody due the next night, also when the clocks were changed or the last run came late', () => {
    const [high] = listTierDues(toCadence({ cadenceHours: 24 }), now);
    expect(high).toMatchObject({ tier: 'high', place: 0, nights: 1 });
    expect(now.getTime() - (high?.overdueBefore.getTime() ?? 0)).toBe(48 * hourMs);
    expect(now.getTime() - (high?.staleBefore.getTime() ?? 0)).toBe(25 * hourMs);
    expect(dueAge(24)).toBe(16);
  });

  it('of two days is due the night before it would be exceeded, also when nobody has written down when nights begin', () => {
    expect(dueAge(48)).toBe(25);
    expect(dueAge(36)).toBe(16);
    expect(dueAge(12)).toBe(8);
  });

  it('is due when the next run on the schedule would come too late, and not before', () => {
    // A night at two after a run at nine, one after a change of the clocks, and a second run in the morning.
    expect(dueAge(24, 24)).toBeLessThan(17);
    expect(dueAge(24, 23)).toBe(2);
    expect(dueAge(24, 16)).toBe(9);
    expect(dueAge(24, 2)).toBe(23);
    expect(dueAge(24, 24 * 7)).toBe(1);
    // A timer may be a moment early: the run that is about to start is this one.
    expect(dueAge(24, 0.001)).toBe(16);
  });

  it('never lets more than the cadence and an hour pass between two runs on a schedule, whatever else is started', () => {
    const starts = fc.array(fc.integer({ min: 0, max: 24 * 10 - 1 }), { maxLength: 20 });
    fc.assert(
      fc.property(starts, (extra) => {
        const nights = Array.from({ length: 11 }, (_, day) => day * 24);
        const runs = [...new Set([...nights, ...extra])].sort((one, other) => one - other);
        let last = Number.NEGATIVE_INFINITY;
        for (const run of runs) {
          const next = nights.find((night) => night > run);
          if (next === undefined) return;
          if (run - last >= dueAge(24, next - run)) last = run;
          expect(next - last).toBeLessThanOrEqual(25);
        }
      }),
    );
  });

  it('of a week is due at the last night that does not come too late, and in one night of seven before', () => {
    const [, medium] = listTierDues(toCadence({ cadenceHours: 24, cadence: { medium: '7d', reason: 'r' } }), now);
    expect(medium).toMatchObject({ nights: 7, nightBeganAt: new Date('2026-11-21T00:00:00Z') });
    expect(now.getTime() - (medium?.dueBefore.getTime() ?? 0)).toBe((6 * 24 + 1) * hourMs);
  });
});
