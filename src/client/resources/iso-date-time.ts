import { z } from 'zod';

/** A date-time as the service writes it: ISO 8601 with any offset, a date that exists. */
export const isoDateTimeSchema = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/, 'is not an ISO 8601 date-time')
  .refine((text) => !Number.isNaN(Date.parse(text)), 'is not a date that exists');
