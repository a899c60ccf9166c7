import { z } from 'zod';
import type { Report } from '../reports/report.js';
import type { Verdict } from '../reports/verdict.js';
import { type Severity, severities } from '../vocabulary.js';

const addressSchema = z.email({ error: 'must be an e-mail address' });

/** What a mail shows: the reviewers' report, the managers' summary, the operators' failure, or a provisional warning. */
const mailKinds = ['report', 'summary', 'failure', 'warning'] as const;
type MailKind = (typeof mailKinds)[number];

/** What goes with a mail: nothing, the masked page, the page in full, or all files as an encrypted archive. */
const attachments = ['none', 'masked', 'full', 'archive'] as const;
type Attach = (typeof attachments)[number];

const recipientSchema = z.strictObject({
  to: z.union([addressSchema, z.array(addressSchema).min(1)]).describe('one address or a list'),
  rosters: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('rosters that are reported, all without it; what concerns no roster in particular goes to everybody'),
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
      'only when changes or first matches of these severities were found; a red run is reported all the same, and a partial one that nobody else is notified of',
    ),
  attach: z
    .enum(attachments)
    .default('none')
    .describe(
      'masked: the page with initials for names; full: the page, which holds personal data; archive: all files in a ZIP encrypted with AES-256',
    ),
});
type RecipientSettings = z.infer<typeof recipientSchema>;

/** Who is notified of what and how: by SMTP (the address of the server is a secret, `SMTP_URL`) or as `.eml` files in `directory`. */
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

/** Somebody to be notified, what their mail shows and what goes with it. */
export interface Recipient {
  address: string;
  shows: MailKind;
  attach: Attach;
}

/** What there is to report: a report that was made, a provisional warning, or a failure that no report covers. */
export interface MailTrigger {
  kind: 'report' | 'warning' | 'failure';
  /** Null for what concerns every roster. */
  roster: string | null;
  level: Verdict['level'];
  /** That occur in it, first screenings included. */
  severities: readonly Severity[];
}

/** The kinds of mail that report each trigger, the fullest first: nobody gets two mails about one. */
const shownFor: Readonly<Record<MailTrigger['kind'], readonly MailKind[]>> = {
  report: ['report', 'failure', 'summary'],
  warning: ['warning'],
  failure: ['failure'],
};

/**
 * Who is reported about it, each address once (upper and lower case are the same) and with the fullest mail that is meant for it. A failure that
 * nobody wants to be notified of is reported to those who would have had the report; a partial run whose findings are reported to nobody, to whoever asked
 * for other severities, because it says nothing about what it has not seen.
 */
export function listRecipients(settings: MailSettings, about: MailTrigger): readonly Recipient[] {
  const recipients = chooseRecipients(settings, about);
  if (recipients.length > 0) return recipients;
  if (about.kind === 'report' && about.level === 'partial')
    return chooseRecipients(settings, about, { isWhole: false });
  if (about.kind !== 'failure') return recipients;
  const readers = chooseRecipients(settings, { ...about, kind: 'report' });
  return readers.map((reader) => ({ ...reader, shows: 'failure', attach: 'none' }));
}

function chooseRecipients(
  settings: MailSettings,
  about: MailTrigger,
  { isWhole } = { isWhole: about.level !== 'red' },
): readonly Recipient[] {
  const byAddress = new Map<string, Recipient>();
  for (const shows of shownFor[about.kind]) {
    if (shows === 'failure' && about.level === 'complete') continue;
    for (const entry of listEntries(settings)) {
      if (!entry.kinds.includes(shows) || !concerns(entry, about, isWhole)) continue;
      for (const address of [entry.to].flat()) {
        const key = address.toLowerCase();
        if (!byAddress.has(key)) byAddress.set(key, { address, shows, attach: entry.attach });
      }
    }
  }
  return [...byAddress.values()];
}

/** What a report is to those who may be reported about it. */
export function toMailTrigger(report: Pick<Report, 'run' | 'verdict' | 'changes' | 'baseline'>): MailTrigger {
  const groups = [...(report.changes ?? []), ...report.baseline];
  return {
    kind: 'report',
    roster: report.run.roster,
    level: report.verdict.level,
    severities: [...new Set(groups.map(({ severity }) => severity))],
  };
}

/** The recipients of the settings, the short form `to` first as one of them. */
export function listEntries({ to, attach, recipients }: MailSettings): readonly RecipientSettings[] {
  const short: RecipientSettings = { to, attach, kinds: ['report', 'warning', 'failure'] };
  return to.length === 0 ? recipients : [short, ...recipients];
}

/** Unless it is whole, that a run has found nothing of a severity says nothing. */
function concerns(
  { rosters, severities }: RecipientSettings,
  { roster, severities: found }: MailTrigger,
  isWhole: boolean,
): boolean {
  if (rosters && roster !== null && !rosters.includes(roster)) return false;
  return !severities || !isWhole || severities.some((severity) => found.includes(severity));
}
