import { z } from 'zod';

const errorStatus = z.number().int().min(400).max(599).default(503);
const seed = z.number().int().default(1);

const limitSchema = z.strictObject({
  /** The most calls let through per private key in any second that slides. */
  perSecond: z.number().int().min(1),
  /** Whether a refusal says in `Retry-After` when there is room again, in whole seconds. */
  retryAfter: z.boolean().default(false),
});
const refuseSchema = z.strictObject({
  /** The share of calls that fail, by chance. */
  share: z.number().min(0).max(1),
  status: errorStatus,
  seed,
  /** The `Retry-After` header as it is sent. */
  retryAfter: z.string().optional(),
});
const outageSchema = z.strictObject({ status: errorStatus.or(z.enum(['cut', 'hang'])) });
const latencySchema = z
  .strictObject({ min: z.number().min(0), max: z.number().max(600_000), seed })
  .refine((range) => range.min <= range.max, 'min is above max');

/** What `PUT /_sandbox/weather` takes; an empty object is fair weather. */
export const weatherSchema = z.strictObject({
  /** Only requests to this path below the version prefix. */
  path: z.string().startsWith('/').optional(),
  limit: limitSchema.optional(),
  refuse: refuseSchema.optional(),
  outage: outageSchema.optional(),
  latencyMs: latencySchema.optional(),
});
/** A lasting trouble as a caller writes it: a rate limit, failures by chance, an outage, slow answers. */
export type Weather = z.input<typeof weatherSchema>;
/** A lasting trouble with its defaults filled in. */
export type ActiveWeather = z.output<typeof weatherSchema>;
