import { z } from 'zod';
import { severities } from '../vocabulary.js';

const addressSchema = z.email({ error: 'must be an e-mail address' });

/** What a mail shows: the reviewers' report, the managers' summary, the operators' failure, or a provisional warning. */
const mailKinds = ['report', 'summary', 'failure', 'warning'] as const;
export type MailKind = (typeof mailKinds)[number];

/** What goes with a mail: nothing, the masked page, the page in full, or all files as an encrypted archive. */
const attachments = ['none', 'masked', 'full', 'archive'] as const;
export type Attach = (typeof attachments)[number];

const recipientSchema = z.strictObject({
  to: z.union([addressSchema, z.array(addressSchema).min(1)]).describe('one address or a list'),
  rosters: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('rosters that are told of, all without it; what concerns no roster in particular goes to everybody'),
  kinds: z
    .array(z.enum(mailKinds))
    .min(1)
    .default(['report', 'warning'])
    .describe(
      'report: for reviewers; summary: figures only; failure: only when a run is not complete; warning: provisional, while a run goes on',
    ),
  severities: z
    .array(z.enum(severities))
    .min(1)
    .optional()
    .describe(
      'only when changes or first matches of these severities were found; a red run is told all the same, and a partial one that nobody else is told of',
    ),
  attach: z
    .enum(attachments)
    .default('none')
    .describe(
      'masked: the page with initials for names; full: the page, which holds personal data; archive: all files in a ZIP encrypted with AES-256',
    ),
});
export type RecipientSettings = z.infer<typeof recipientSchema>;

/** Who is told what and how: by SMTP (the address of the server is a secret, `SMTP_URL`) or as `.eml` files in `directory`. */
export const mailSettingsSchema = z
  .strictObject({
    transport: z.enum(['smtp', 'file']).default('file').describe('smtp by SMTP_URL, or .eml files in `directory`'),
    directory: z.string().min(1).default('./reports/mail').describe('where .eml files go'),
    from: addressSchema.describe('the address that mail comes from'),
    to: z
      .array(addressSchema)
      .default([])
      .describe(
        'addresses that get reports, warnings and failures of every roster; they or `recipients` name somebody',
      ),
    recipients: z.array(recipientSchema).default([]).describe('who gets what'),
    attach: z
      .enum(attachments)
      .default('none')
      .describe(
        'what goes with mail to `to`: nothing, the masked page, the page in full, or an archive that NIGHTSCREEN_ARCHIVE_PASSWORD opens',
      ),
    maxBytes: z
      .number()
      .int()
      .min(100_000)
      .default(10_000_000)
      .describe('bytes of a whole message; a longer one goes without its attachment, and many gateways take 10 MB'),
    earlyWarning: z
      .boolean()
      .default(true)
      .describe('mail critical changes while a run is still going on, at most every five minutes, marked provisional'),
    retryFor: z
      .string()
      .regex(/^\d{1,6}(s|m|h|d)$/, 'must be a span such as 12h or 3d')
      .meta({ title: 'span' })
      .default('3d')
      .describe('how long what was not accepted is tried again, as in 12h or 3d'),
    timeoutMs: z
      .number()
      .int()
      .positive()
      .default(30_000)
      .describe('milliseconds without progress after which the mail server counts as gone'),
  })
  .refine(({ to, recipients }) => to.length + recipients.length > 0, {
    error: 'names nobody: write to (a list of addresses) or recipients',
    path: ['to'],
  });
export type MailSettings = z.infer<typeof mailSettingsSchema>;
