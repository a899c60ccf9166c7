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

  it('of a day finds everybody due the next night, also when it starts an hour early', () => {
    const [high] = listTierDues(toCadence({ cadenceHours: 24 }), now);
    expect(high).toMatchObject({ tier: 'high', place: 0, nights: 1 });
    expect(now.getTime() - (high?.dueBefore.getTime() ?? 0)).toBe(23 * hourMs);
    expect(now.getTime() - (high?.overdueBefore.getTime() ?? 0)).toBe(48 * hourMs);
  });

  it('of a week is due at the last night that does not come too late, and in one night of seven before', () => {
    const [, medium] = listTierDues(toCadence({ cadenceHours: 24, cadence: { medium: '7d', reason: 'r' } }), now);
    expect(medium).toMatchObject({ nights: 7, nightBeganAt: new Date('2026-11-21T00:00:00Z') });
    expect(now.getTime() - (medium?.dueBefore.getTime() ?? 0)).toBe((6 * 24 + 1) * hourMs);
  });
});
