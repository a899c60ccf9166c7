import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toDueTime, type WorkCalendar } from '../../../src/changes/change-event.js';
import { toInstant, toLocalTime } from '../../../src/local-time.js';
import { isFullSize } from '../../helpers/figures.js';

const copenhagen: WorkCalendar = {
  timezone: 'Europe/Copenhagen',
  workdays: [1, 2, 3, 4, 5],
  holidays: ['2026-12-24', '2026-12-25'],
};
const due = (severity: Parameters<typeof toDueTime>[0], openedAt: string, calendar = copenhagen) =>
  toDueTime(severity, new Date(openedAt), calendar)?.toISOString() ?? null;

it('what is critical is due after four hours, whatever day it is', () => {
  expect(due('critical', '2026-12-26T23:00:00Z')).toBe('2026-12-27T03:00:00.000Z');
});

it('the others are due at the same local time 1, 5 or 20 business days later', () => {
  // A Tuesday, 03:00 in Copenhagen.
  expect(due('high', '2026-11-17T02:00:00Z')).toBe('2026-11-18T02:00:00.000Z');
  expect(due('medium', '2026-11-17T02:00:00Z')).toBe('2026-11-24T02:00:00.000Z');
  expect(due('low', '2026-11-17T02:00:00Z')).toBe('2026-12-15T02:00:00.000Z');
  expect(due('info', '2026-11-17T02:00:00Z')).toBeNull();
});

it('week-ends and holidays do not count', () => {
  // Friday to Monday; Wednesday to Monday over Christmas.
  expect(due('high', '2026-11-20T15:30:00Z')).toBe('2026-11-23T15:30:00.000Z');
  expect(due('high', '2026-12-23T15:30:00Z')).toBe('2026-12-28T15:30:00.000Z');
});

it('what opens on a day off counts from the beginning of the next business day', () => {
  expect(due('high', '2026-11-21T15:30:00Z')).toBe('2026-11-23T23:00:00.000Z');
});

it('the local time stays the same over a change of clocks', () => {
  // Clocks go back on 25 October 2026.
  expect(due('high', '2026-10-23T10:00:00Z')).toBe('2026-10-26T11:00:00.000Z');
});

it('a local time is the instant at which the clock shows it, in every zone and year', () => {
  const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
  const instants = fc.date({ min: new Date('2000-01-01'), max: new Date('2035-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(zones, instants, (zone, instant) => {
      const local = toLocalTime(instant, zone);
      const back = toInstant(local, zone);
      expect(toLocalTime(back, zone)).toEqual(local);
      // Where clocks are put back, the first of two.
      expect(back.getTime()).toBeLessThanOrEqual(instant.getTime());
    }),
    { numRuns: isFullSize ? 2_000 : 200 },
  );
});

it('a time that does not exist is as much later as clocks are put forward', () => {
  const missing = toInstant({ date: '2026-03-29', time: '02:30:00' }, 'Europe/Copenhagen');
  expect(toLocalTime(missing, 'Europe/Copenhagen')).toEqual({ date: '2026-03-29', time: '03:30:00' });
});
