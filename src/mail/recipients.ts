import type { Report } from '../reports/report.js';
import type { VerdictLevel } from '../reports/verdict.js';
import type { Severity } from '../vocabulary.js';
import type { Attach, MailKind, MailSettings, RecipientSettings } from './settings.js';

/** Somebody to be told, what their mail shows and what goes with it. */
export interface Recipient {
  address: string;
  shows: MailKind;
  attach: Attach;
}

/** What there is to tell: a report that was made, a provisional warning, or a failure that no report tells of. */
export interface MailTrigger {
  kind: 'report' | 'warning' | 'failure';
  /** Null for what concerns every roster. */
  roster: string | null;
  level: VerdictLevel;
  /** That occur in it, first screenings included. */
  severities: readonly Severity[];
}

/** What each occasion is told as, the fullest first: nobody gets two mails about one. */
const shownFor: Readonly<Record<MailTrigger['kind'], readonly MailKind[]>> = {
  report: ['report', 'failure', 'summary'],
  warning: ['warning'],
  failure: ['failure'],
};

/**
 * Who is told of it, each address once (upper and lower case are the same) and with the fullest mail that is meant for it. A failure that
 * nobody wants to be told of is told to those who would have had the report; a partial run whose findings are told to nobody, to whoever asked
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

/** What a report is to those who may be told of it. */
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
