import { z } from 'zod';
import { isTimezone } from '../clock.js';

/** How runs behave when the service is out of reach. */
export const runSettingsSchema = z.strictObject({
  deadline: z
    .string()
    .regex(
      /^(\d{1,6}(ms|s|m|h|d)|([01]\d|2[0-3]):[0-5]\d)$/,
      'must be a span such as 30m, 8h or 1d, or a time such as 06:30',
    )
    .meta({ title: 'span or time of day' })
    .default('8h')
    .describe(
      'how long a run or sweep waits for a service that is out of reach: a span, or a time of day such as 06:30',
    ),
  timezone: z
    .string()
    .refine(isTimezone, 'is no IANA time zone')
    .meta({ title: 'time zone' })
    .default('UTC')
    .describe('the IANA time zone of a time of day, and of the day and month of the budget'),
});
/** The `run` settings with their defaults filled in. */
export type RunDeadlineSettings = z.output<typeof runSettingsSchema>;
