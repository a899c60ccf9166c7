import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toLocalTime } from '../../../src/local-time.js';
import { listNextRuns, toDueTimes } from '../../../src/scheduling/due-times.js';

const at = (text: string): Date => new Date(text);
const between = (cron: string, timezone: string, after: string, until: string) =>
  toDueTimes({ cron, timezone })
    .between(at(after), at(until))
    .map(({ dueSlot, dueAt }) => [dueSlot, dueAt.toISOString().replace(':00.000Z', 'Z')]);

describe('one time on each local date', () => {
  it('a time that a change of clocks skips is due at the first instant after it', () => {
    expect(between('30 2 * * *', 'Europe/Copenhagen', '2026-03-27T12:00Z', '2026-03-30T12:00Z')).toEqual([
      ['2026-03-28', '2026-03-28T01:30Z'],
      ['2026-03-29', '2026-03-29T01:00Z'],
      ['2026-03-30', '2026-03-30T00:30Z'],
    ]);
  });

  it('a time that comes twice is due the first time only', () => {
    expect(between('30 2 * * *', 'Europe/Copenhagen', '2026-10-24T12:00Z', '2026-10-26T12:00Z')).toEqual([
      ['2026-10-25', '2026-10-25T00:30Z'],
      ['2026-10-26', '2026-10-26T01:30Z'],
    ]);
  });

  it('half an hour is skipped and doubled as well', () => {
    expect(between('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', '2026-10-04T00:00Z')).toEqual([
      ['2026-10-04', '2026-10-03T15:30Z'],
    ]);
    expect(between('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00Z', '2026-04-05T00:00Z')).toEqual([
      ['2026-04-05', '2026-04-04T14:45Z'],
    ]);
  });

  it('where clocks pass over midnight, the end of the date and the beginning of the next are both due', () => {
    expect(between('30 23 * * *', 'America/Nuuk', '2026-03-28T12:00Z', '2026-03-30T12:00Z')).toEqual([
      ['2026-03-28', '2026-03-29T01:00Z'],
      ['2026-03-29', '2026-03-30T00:30Z'],
    ]);
    expect(between('0 0 * * *', 'America/Nuuk', '2026-03-28T12:00Z', '2026-03-29T12:00Z')).toEqual([
      ['2026-03-29', '2026-03-29T01:00Z'],
    ]);
    expect(between('0 0 * * *', 'Africa/Cairo', '2026-04-23T12:00Z', '2026-04-24T12:00Z')).toEqual([
      ['2026-04-24', '2026-04-23T22:00Z'],
    ]);
  });

  it('a date that a zone has left out is never due', () => {
    const dates = between('30 2 * * *', 'Pacific/Apia', '2011-12-29T00:00Z', '2011-12-31T23:00Z').map(([date]) => date);
    expect(dates).toEqual(['2011-12-29', '2011-12-31', '2012-01-01']);
  });

  it('of two times that clocks move to one instant the last is due', () => {
    expect(between('0,30 2 * * *', 'Europe/Copenhagen', '2026-03-28T12:00Z', '2026-03-29T12:00Z')).toEqual([
      ['2026-03-29 02:30:00', '2026-03-29T01:00Z'],
    ]);
  });

  it('weekdays, months and the last days of months are the library’s own', () => {
    const next = (cron: string) => listNextRuns({ cron, timezone: 'UTC' }, at('2026-02-10T12:00Z'))[0]?.toISOString();
    expect(next('0 2 * * 1')).toBe('2026-02-16T02:00:00.000Z');
    expect(next('0 2 L * *')).toBe('2026-02-28T02:00:00.000Z');
    expect(next('0 2 29 2 *')).toBe('2028-02-29T02:00:00.000Z');
    expect(next('0 2 * * 5#3')).toBe('2026-02-20T02:00:00.000Z');
  });

  it.each([
    ['30 2 * * *', 'Europe/Copenhagen'],
    ['15 2 * * *', 'Australia/Lord_Howe'],
    ['30 23 * * *', 'America/Nuuk'],
    ['0 0 * * *', 'America/Havana'],
    ['30 2 * * *', 'Africa/Casablanca'],
  ])('%s in %s: whatever the moments of looking, each date is due once', (cron, timezone) => {
    const start = at('2026-01-01T12:00Z').getTime();
    const spans = fc.array(fc.integer({ min: 1, max: 20 * 86_400 }), { minLength: 1, maxLength: 60 });
    const times = toDueTimes({ cron, timezone });
    fc.assert(
      fc.property(spans, (seconds) => {
        const seen: string[] = [];
        let after = new Date(start);
        for (const span of seconds) {
          const until = new Date(after.getTime() + span * 1_000);
          for (const { dueSlot, dueAt } of times.between(after, until)) {
            expect(dueAt > after && dueAt <= until).toBe(true);
            seen.push(dueSlot);
          }
          after = until;
        }
        const all = times.between(new Date(start), after).map(({ dueSlot }) => dueSlot);
        expect(seen).toEqual(all);
        expect(new Set(seen).size).toBe(seen.length);
        const days = Math.round((after.getTime() - start) / 86_400_000);
        expect(Math.abs(seen.length - days)).toBeLessThanOrEqual(1);
      }),
      { numRuns: 40 },
    );
  });
});

describe('what comes round every hour', () => {
  it('goes by instants: nothing is skipped and nothing left out when clocks are changed', () => {
    const count = (after: string, until: string) => between('*/15 * * * *', 'Europe/Copenhagen', after, until).length;
    expect(count('2026-03-28T23:00Z', '2026-03-29T05:00Z')).toBe(24);
    expect(count('2026-10-24T22:00Z', '2026-10-25T05:00Z')).toBe(28);
  });

  it('is named by its instant', () => {
    expect(between('0 * * * *', 'Asia/Kolkata', '2026-11-22T00:00Z', '2026-11-22T01:00Z')).toEqual([
      ['2026-11-22T00:30:00.000Z', '2026-11-22T00:30Z'],
    ]);
  });
});

it('the next times follow one another', () => {
  const next = listNextRuns({ cron: '0 2 * * *', timezone: 'Asia/Tokyo' }, at('2026-11-22T00:00Z'), 3);
  expect(next.map((moment) => toLocalTime(moment, 'Asia/Tokyo'))).toEqual([
    { date: '2026-11-23', time: '02:00:00' },
    { date: '2026-11-24', time: '02:00:00' },
    { date: '2026-11-25', time: '02:00:00' },
  ]);
});
