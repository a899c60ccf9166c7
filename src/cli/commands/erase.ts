import { countNoun } from '../../reports/text.js';
import type { ErasureResult } from '../../runs/erasure.js';
import { defineDatabaseCommand, mandatory } from '../command.js';
import { toOutcome } from '../invocation.js';
import { shared } from '../options.js';
import { formatTable } from '../text.js';

export const command = defineDatabaseCommand({
  usage: 'erase <customer>',
  description:
    'remove what is personal of a customer who left, from packs, tables, messages, reports and mails; it cannot be undone',
  options: {
    roster: shared.roster,
    by: shared.by,
    reason: mandatory(shared.reason),
    dryRun: shared.dryRun,
  },
  examples: [
    'erase C-1042 --by "A. Meyer" --reason "request 12" --dry-run',
    'erase C-1042 --by "A. Meyer" --reason "request 12"',
  ],
  run: async (app, { argument: reference, options, signal }) => {
    const { eraseCustomers } = await import('../../runs/erasure.js');
    const { findCustomer } = await import('../../runs/evidence-show.js');
    const { findReviewer } = await import('../../runs/review/people.js');
    const { roster = null, by, reason, dryRun: isPreview = false } = options;
    const customer = await findCustomer(app, app.database, reference, roster);
    const reviewer = await findReviewer(app.database, by, isPreview);
    const erasure = await eraseCustomers(app, [customer], { reason, reviewer, isPreview }, signal);
    return toOutcome('nightscreen/erasure/1', { ...erasure, by: reviewer.name, reason }, describeErasure(erasure));
  },
});

/** What was removed, and what remains to be done by hand. */
export function describeErasure({ isApplied, removed, files, sharedRequests, keyCopies }: ErasureResult): string {
  const rows = Object.entries(removed).map(([what, count]) => [what, String(count)]);
  const lines = [
    isApplied ? 'removed from the database:' : 'would be removed from the database:',
    formatTable(rows).trimEnd(),
    ...files.map((file) => `${isApplied ? 'removed' : 'would remove'} ${file}`),
    sharedRequests > 0 &&
      `${countNoun(sharedRequests, 'answer')} stay with the namesakes or checks that share them, and go with the last of these`,
    ...keyCopies.map(
      ({ file, host, at, by }) =>
        `DO BY HAND: destroy or replace the copy of the keys ${file} on ${host}, exported at ${at.toISOString()} by ${by}`,
    ),
    'not reached: backups of the database, mails that were delivered, certificates and exports of evidence, dossiers at the service',
    'reports that were removed can be written again without the customer: nightscreen report RUN',
  ];
  return `${lines.filter((line) => line !== false).join('\n')}\n`;
}
