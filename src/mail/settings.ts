import { z } from 'zod';
import type { Report } from '../reports/report.js';
import type { Verdict } from '../reports/verdict.js';
import { type Severity, severities } from '../vocabulary.js';

const addressSchema = z.email({ error: 'must be an e-mail address' });

/**
 * The kinds of mail: the report for reviewers, the summary for managers, the failure for operators, the provisional warning, and the report
 * over all rosters.
 */
const mailKinds = ['report', 'summary', 'failure', 'warning', 'group'] as const;
type MailKind = (typeof mailKinds)[number];

/** The attachment of a mail: none, the masked page, the full page, or all files as an encrypted archive. */
const attachments = ['none', 'masked', 'full', 'archive'] as const;
type Attach = (typeof attachments)[number];

const recipientSchema = z.strictObject({
  to: z.union([addressSchema, z.array(addressSchema).min(1)]).describe('one address or a list'),
  rosters: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('rosters whose mail is sent, all without it; mail about no single roster goes to everybody'),
  kinds: z
    .array(z.enum(mailKinds))
    .min(1)
    .default(['report', 'warning'])
    .describe(
      'report: for reviewers; summary: figures only; failure: only when a run is not complete; warning: provisional, while a run is in progress. group: one report over all rosters, sent by the job `report`',
    ),
  severities: z
    .array(z.enum(severities))
    .min(1)
    .optional()
    .describe(
      'only when changes or first matches of these severities were found. A red run is always mailed, and so is a partial run that no other recipient gets',
    ),
  attach: z
    .enum(attachments)
    .default('none')
    .describe(
      'masked: the page with initials for names; full: the page, with personal data; archive: all files in a ZIP encrypted with AES-256',
    ),
});
type RecipientSettings = z.infer<typeof recipientSchema>;

/** Recipients and transport of mail: SMTP (the address of the server is a secret, `SMTP_URL`) or `.eml` files. */
export const mailSettingsSchema = z
  .strictObject({
    transport: z
      .enum(['smtp', 'file'])
      .default('file')
      .describe('smtp by SMTP_URL, or .eml files in the folder `mail` of `reports.dir`'),
    from: addressSchema.describe('the address that mail comes from'),
    to: z
      .array(addressSchema)
      .default([])
      .describe(
        'addresses that get reports, warnings and failures of every roster; one of `to` and `recipients` must not be empty',
      ),
    recipients: z.array(recipientSchema).default([]).describe('who gets what'),
  })
  .refine(({ to, recipients }) => to.length + recipients.length > 0, {
    error: 'has no recipient: write to (a list of addresses) or recipients',
    path: ['to'],
  });
/** Who receives which mail, and how, with other limits than the usual ones. */
export interface MailSettings extends z.infer<typeof mailSettingsSchema> {
  /** Whether critical changes are mailed during a run; they are by default. */
  earlyWarning?: boolean;
  /** Without progress for so long, the mail server counts as unreachable. */
  timeoutMs?: number;
}

/** A recipient with the kind of mail and its attachment. */
export interface Recipient {
  address: string;
  shows: MailKind;
  attach: Attach;
}

/** The reason for a mail: a written report, a provisional warning, a failure that no report covers, or the report over all rosters. */
export interface MailTrigger {
  kind: 'report' | 'warning' | 'failure' | 'group';
  /** Null when it concerns every roster. */
  roster: string | null;
  level: Verdict['level'];
  /** The severities of its changes, first screenings included. */
  severities: readonly Severity[];
}

/** The kinds of mail for each trigger, the fullest first: an address gets one mail. */
const shownFor: Readonly<Record<MailTrigger['kind'], readonly MailKind[]>> = {
  report: ['report', 'failure', 'summary'],
  warning: ['warning'],
  failure: ['failure'],
  group: ['group'],
};

/**
 * The recipients of a trigger, each address once (ignoring case) with the fullest mail that is meant for it. A failure without recipients goes
 * to the recipients of reports. A partial run without recipients goes also to those who chose other severities, because it says nothing about
 * customers that it did not reach.
 */
export function listRecipients(settings: MailSettings, about: MailTrigger): readonly Recipient[] {
  const recipients = chooseRecipients(settings, about);
  if (recipients.length > 0) return recipients;
  if ((about.kind === 'report' || about.kind === 'group') && about.level === 'partial')
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

/** The mail trigger of a report. */
export function toMailTrigger(report: Pick<Report, 'run' | 'verdict' | 'changes' | 'baseline'>): MailTrigger {
  const groups = [...(report.changes ?? []), ...report.baseline];
  return {
    kind: 'report',
    roster: report.run.roster,
    level: report.verdict.level,
    severities: [...new Set(groups.map(({ severity }) => severity))],
  };
}

/** The recipients of the settings; the short form `to` is the first. */
export function listEntries({ to, recipients }: MailSettings): readonly RecipientSettings[] {
  const short: RecipientSettings = { to, attach: 'none', kinds: ['report', 'warning', 'failure'] };
  return to.length === 0 ? recipients : [short, ...recipients];
}

/** An incomplete run without a severity does not show that there is none. */
function concerns(
  { rosters, severities }: RecipientSettings,
  { roster, severities: found }: MailTrigger,
  isWhole: boolean,
): boolean {
  if (rosters && roster !== null && !rosters.includes(roster)) return false;
  return !severities || !isWhole || severities.some((severity) => found.includes(severity));
}
