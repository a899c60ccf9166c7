import { z } from 'zod';

const addressSchema = z.email({ error: 'must be an e-mail address' });

/** Who gets the report and how: by SMTP (the address of the server is a secret, `SMTP_URL`) or as `.eml` files in `directory`. */
export const mailSettingsSchema = z.strictObject({
  transport: z.enum(['smtp', 'file']).default('file'),
  directory: z.string().min(1).default('./reports/mail'),
  from: addressSchema,
  to: z.array(addressSchema).min(1),
  /** `full` attaches the report's page, which holds personal data; `none` only says where it is. */
  attach: z.enum(['none', 'full']).default('none'),
  /** Whether critical changes are mailed while a run is still going on, at most every five minutes and marked provisional. */
  earlyWarning: z.boolean().default(true),
  /** Milliseconds without progress after which the mail server counts as gone. */
  timeoutMs: z.number().int().positive().default(30_000),
});
export type MailSettings = z.infer<typeof mailSettingsSchema>;
