import { z } from 'zod';

const gatewaySchema = z.string().superRefine((text, context) => {
  const complain = (message: string): void => context.addIssue({ code: 'custom', message });
  if (!URL.canParse(text)) return complain('is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') complain('must begin with https:// or http://');
  if (url.search !== '' || url.hash !== '') complain('must not hold a query or a fragment');
});

/** Where commands leave their metrics when they end; the scheduler is asked over HTTP (`schedule --metrics`). */
export const metricsSettingsSchema = z.strictObject({
  textfile: z
    .string()
    .regex(/\.prom$/, 'must end in .prom, or no collector reads it')
    .optional()
    .describe('a file for the textfile collector, written whole'),
  pushgateway: gatewaySchema.optional().describe('the address of a push gateway'),
  timeoutMs: z.number().int().min(100).max(60_000).default(10_000).describe('how long a push may take'),
});
