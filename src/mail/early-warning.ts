import type { MatchChangeFacts, RunFacts } from '../reports/run-facts.js';
import { countNoun, formatCount, formatMinute, keep } from '../reports/text.js';
import { describeChange } from '../reports/words.js';
import { codeWords, describeTopic } from '../vocabulary/words.js';
import { describeMode, formatSubject, type MailMessage, type MessageLines, toMessage } from './message.js';
import type { MailSettings, Recipient } from './settings.js';

/** Critical changes of a run in progress. */
export interface EarlyWarning extends Pick<RunFacts, 'runId' | 'roster' | 'organisation' | 'mode' | 'timezone'> {
  /** Their number; the change numbers of the first and the last follow. */
  changes: number;
  firstChangeId: number;
  lastChangeId: number;
  queuedAt: Date;
  /** Whether control searches are configured; those of the run have passed so far. */
  hasControls: boolean;
  /** The first of them, as many as fit into a message; `isBaseline` for a first screening. */
  listed: readonly (MatchChangeFacts & { isBaseline: boolean })[];
}

/**
 * The provisional message to one recipient about critical changes, before the report; the same changes and recipient have the same Message-ID.
 * It names customers by reference, and by name only with `attach: full`.
 */
export function buildEarlyWarning(
  warning: EarlyWarning,
  { address, attach }: Pick<Recipient, 'address' | 'attach'>,
  { from }: Pick<MailSettings, 'from'>,
): MailMessage {
  const { runId, firstChangeId, lastChangeId, queuedAt } = warning;
  const subject = formatSubject('PROVISIONAL', describeCount(warning), warning, queuedAt);
  return toMessage(
    ['provisional', runId, firstChangeId, lastChangeId],
    { from, to: address, subject, date: queuedAt },
    toLines(warning, attach === 'full'),
  );
}

/** Sanction hits come first; changes that are not listed may contain more of them. */
function describeCount({ changes, listed }: EarlyWarning): string {
  const hits = listed.filter(({ isSanctionHit, after }) => isSanctionHit && after?.isHit === true).length;
  const all = countNoun(changes, 'critical change');
  if (hits === 0) return all;
  const sanctionHits = hits === 1 ? 'sanction hit' : `${formatCount(hits)} sanction hits`;
  return hits === changes ? sanctionHits : `${sanctionHits}, ${all}`;
}

function toLines(warning: EarlyWarning, isNamed: boolean): MessageLines {
  const { runId, roster, organisation, mode, timezone, changes, listed, queuedAt, hasControls } = warning;
  const more = changes - listed.length;
  return {
    headline: `PROVISIONAL: ${describeCount(warning)}; the run is still in progress`,
    sentences: [
      ...describeMode(mode),
      hasControls ? 'The control searches have passed so far.' : 'No control searches are configured.',
      'The run is not finished. Its report will contain these changes too, and it replaces this message.',
    ],
    details: keep(
      ...listed.map((change) => describeCritical(change, isNamed)),
      more > 0 && `and ${formatCount(more)} more, which the report will list`,
    ),
    actions: [
      'Decide whether these changes can wait for the report. Dispositions can be entered only after it is written.',
    ],
    facts: [
      ['Roster', roster ?? 'none'],
      ['Organisation', organisation],
      ['Run', `${runId}, not finished`],
      ['As of', formatMinute(queuedAt, timezone)],
      ['Times in', timezone],
    ],
    closing: isNamed
      ? 'This message contains personal data: treat it accordingly.'
      : 'Customers are named by reference only; the roster has their names.',
  };
}

function describeCritical(change: EarlyWarning['listed'][number], isNamed: boolean): string {
  const { party, isBaseline, after } = change;
  const what = isBaseline ? 'First screening, flagged as hit' : describeChange(change);
  const topics = (after?.topics ?? []).map(describeTopic).join(', ');
  const role = party.role === 'customer' ? '' : ` (${codeWords.role[party.role]})`;
  const who = isNamed ? ` ${party.name}` : '';
  const listedAs = isNamed && after !== null ? `, as ${after.name}` : '';
  return `${party.reference}${who}${role}: ${what}${topics === '' ? '' : ` - ${topics}`}${listedAs}`;
}
