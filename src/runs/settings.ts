import { z } from 'zod';
import { isTimezone } from '../clock.js';

/** How runs behave when the service is out of reach. */
export const runSettingsSchema = z.strictObject({
  /** How long a run waits for a service that is out of reach: a span such as `8h`, or a time of day such as `06:30`. */
  deadline: z
    .string()
    .regex(
      /^(\d{1,6}(ms|s|m|h|d)|([01]\d|2[0-3]):[0-5]\d)$/,
      'must be a span such as 30m, 8h or 1d, or a time such as 06:30',
    )
    .default('8h'),
  /** The IANA time zone of a time of day. */
  timezone: z.string().refine(isTimezone, 'is no IANA time zone').default('UTC'),
});
/** The `run` settings with their defaults filled in. */
export type RunDeadlineSettings = z.output<typeof runSettingsSchema>;
