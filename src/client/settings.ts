import { z } from 'zod';

const mebibyte = 1_048_576;

const fieldName = z.string().regex(/^[A-Za-z][A-Za-z0-9_.-]*$/, 'must be a plain field name');

/** Refuses a name that the request uses for something else. */
const isFree = (taken: readonly string[]): [(field: string) => boolean, string] => [
  (field) => !taken.includes(field),
  'is taken by the request itself',
];

/** How fast a service may be asked, both parts given. */
export const rateSchema = z.object({
  perSecond: z.number().positive().max(10_000),
  concurrency: z.number().int().min(1).max(1_000),
});

/** How the service is reached and how fast: the `service` part of the configuration, strict, with every default filled in. */
export const serviceSettingsSchema = z.strictObject({
  /** Includes the version prefix, as in `https://service.example/v1`. */
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  /** Must agree with the key (interface: Mode rules 1). */
  mode: z.enum(['test', 'live']).optional(),
  rate: z
    .strictObject({
      /** Attempts in any sliding second, retries included; a fraction above one is rounded down. */
      perSecond: rateSchema.shape.perSecond.default(10),
      /** Attempts under way at the same time. */
      concurrency: rateSchema.shape.concurrency.default(8),
    })
    .prefault({}),
  /** The total deadline of one attempt: connect, headers and body. */
  timeoutSeconds: z.number().positive().max(3_600).default(30),
  /** How the private key is presented (interface: Authentication 1). */
  authentication: z.enum(['basic', 'bearer']).default('basic'),
  retry: z
    .strictObject({
      maxAttempts: z.number().int().min(1).max(100).default(6),
      baseDelayMs: z.number().int().min(1).default(500),
      maxDelayMs: z.number().int().min(1).max(3_600_000).default(20_000),
    })
    .prefault({}),
  /** A longer answer is not read to its end. */
  maxResponseBytes: z
    .number()
    .int()
    .min(1_024)
    .default(16 * mebibyte),
  aml: z
    .strictObject({
      /** The search's name parameter, which the interface does not show (interface: AML search). */
      nameField: fieldName.refine((field) => field !== 'type', 'is taken by the search itself').default('name'),
    })
    .prefault({}),
  dossiers: z
    .strictObject({
      /** The parameter of POST /dossiers that names the level, which the interface does not show (interface: Dossiers). */
      levelField: fieldName
        .refine(...isFree(['type', 'send_sms', 'send_email', 'phone_number', 'email_address']))
        .default('level'),
    })
    .prefault({}),
  invitations: z
    .strictObject({
      /** The body field that names the workflow, which the interface does not show (interface: Workflow invitations). */
      workflowField: fieldName
        .refine(...isFree(['channel', 'recipient', 'reference', 'locale']))
        .default('workflowToken'),
    })
    .prefault({}),
  sessions: z
    .strictObject({
      /** The parameter of POST /sessions that names the level, which the interface does not show (interface: Sessions). */
      levelField: fieldName
        .refine(
          ...isFree(['unique_id', 'first_name', 'last_name', 'email_address', 'phone_number', 'i18n', 'generate_qr']),
        )
        .default('kyc_level'),
    })
    .prefault({}),
});
/** The `service` settings with their defaults filled in. */
export type ServiceSettings = z.output<typeof serviceSettingsSchema>;
/** The `service` settings as a person writes them, defaults left out. */
export type ServiceSettingsInput = z.input<typeof serviceSettingsSchema>;
/** When and how long to wait before an attempt is repeated. */
export type RetrySettings = ServiceSettings['retry'];
