import { z } from 'zod';
import type { Severity } from '../changes/change-event.js';

const addressSchema = z.email({ error: 'must be an e-mail address' });

/** What a mail shows: the reviewers' report, the managers' summary, the operators' failure, or a provisional warning. */
export const mailKinds = ['report', 'summary', 'failure', 'warning'] as const;
export type MailKind = (typeof mailKinds)[number];

/** What goes with a mail: nothing, the masked page, the page in full, or all files as an encrypted archive. */
export const attachments = ['none', 'masked', 'full', 'archive'] as const;
export type Attach = (typeof attachments)[number];

const severities = ['critical', 'high', 'medium', 'low', 'info'] as const satisfies readonly Severity[];

const recipientSchema = z.strictObject({
  to: z.union([addressSchema, z.array(addressSchema).min(1)]),
  /** Rosters that are told of; all where it is left out. */
  rosters: z.array(z.string().min(1)).min(1).optional(),
  kinds: z.array(z.enum(mailKinds)).min(1).default(['report', 'warning']),
  /** Told only of runs that found changes or first matches of these severities; a red run is told all the same, and a partial one that nobody else is told of. */
  severities: z.array(z.enum(severities)).min(1).optional(),
  attach: z.enum(attachments).default('none'),
});
export type RecipientSettings = z.infer<typeof recipientSchema>;

/** Who is told what and how: by SMTP (the address of the server is a secret, `SMTP_URL`) or as `.eml` files in `directory`. */
export const mailSettingsSchema = z
  .strictObject({
    transport: z.enum(['smtp', 'file']).default('file'),
    directory: z.string().min(1).default('./reports/mail'),
    from: addressSchema,
    /** The short form: they get reports, warnings and failures of every roster, with `attach`. */
    to: z.array(addressSchema).default([]),
    recipients: z.array(recipientSchema).default([]),
    /** `full` holds personal data; `archive` is encrypted with `NIGHTSCREEN_ARCHIVE_PASSWORD`, which never travels by mail. */
    attach: z.enum(attachments).default('none'),
    /** Bytes of a whole message, encoded; what is larger goes without its attachment. */
    maxBytes: z.number().int().min(100_000).default(10_000_000),
    /** Whether critical changes are mailed while a run is still going on, at most every five minutes and marked provisional. */
    earlyWarning: z.boolean().default(true),
    /** How long what was not accepted is tried again: a span such as `12h` or `3d`. */
    retryFor: z
      .string()
      .regex(/^\d{1,6}(s|m|h|d)$/, 'must be a span such as 12h or 3d')
      .default('3d'),
    /** Milliseconds without progress after which the mail server counts as gone. */
    timeoutMs: z.number().int().positive().default(30_000),
  })
  .refine(({ to, recipients }) => to.length + recipients.length > 0, {
    error: 'names nobody: write to (a list of addresses) or recipients',
    path: ['to'],
  });
export type MailSettings = z.infer<typeof mailSettingsSchema>;
