import { z } from 'zod';

/** Where commands leave their metrics when they end; the scheduler is asked over HTTP (`schedule --metrics`). */
export const metricsSettingsSchema = z.strictObject({
  textfile: z
    .string()
    .regex(/\.prom$/, 'must end in .prom, or no collector reads it')
    .optional()
    .describe('a file for the textfile collector, written whole'),
  hosts: z
    .array(z.string().regex(/^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/, 'must be a host name without a port'))
    .optional()
    .describe('names by which `schedule --metrics` may be asked; IP addresses and localhost always may'),
});
