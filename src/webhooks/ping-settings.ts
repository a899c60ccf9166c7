import { z } from 'zod';

const pingSchema = z.strictObject({
  urlEnv: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/, 'must be the name of an environment variable')
    .describe('the variable that holds the address, which is as good as a password (or NAME_FILE)'),
});

/** Which work tells an outside monitor, in the manner of healthchecks, that it began and how it ended. */
export const pingsSettingsSchema = z.strictObject({
  rescreen: pingSchema.optional().describe('the monitor of the rescreening'),
  sweep: pingSchema.optional().describe('the monitor of the sweep'),
  watchdog: pingSchema.optional().describe('the monitor of the watchdog'),
  timeoutMs: z.number().int().min(100).max(60_000).default(10_000).describe('how long one ping may take'),
});

/** Work that can be pinged for. */
export const pingedWork = ['rescreen', 'sweep', 'watchdog'] as const;
export type PingedWork = (typeof pingedWork)[number];
