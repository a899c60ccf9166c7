import { countNoun, formatCount, formatSize } from '../reports/text.js';
import type { RowCounts } from '../store/backup/backup-file.js';
import type { RestoreSummary } from '../store/backup/restore-backup.js';
import { exitCodes } from './exit-code.js';
import { formatTable } from './format-table.js';
import type { Outcome } from './invocation.js';
import type { WrittenBackup } from './write-backup-file.js';

const sum = (rows: RowCounts): number => Object.values(rows).reduce((total, count) => total + count, 0);

/** A backup that was written: what it is, and what to do with it. */
export function presentBackup(file: string, { header, rows, bytes, sha256 }: WrittenBackup): Outcome {
  const { createdAt, dialect, organisations, migrations } = header;
  return {
    exitCode: exitCodes.complete,
    document: {
      schema: 'nightscreen/backup-written/1',
      ...{ file, bytes, sha256, createdAt, dialect, organisations },
      ...{ schemaVersion: migrations.length, rows },
    },
    text: formatTable([
      ['backup', file],
      ['of', `${createdAt}, schema ${migrations.length}, ${organisations.join(', ') || 'no organisation yet'}`],
      ['holds', `${countNoun(sum(rows), 'row')} in ${countNoun(Object.keys(rows).length, 'table')}`],
      ['size', `${formatSize(bytes)}, SHA-256 ${sha256}`],
      [
        'keep',
        'as safe as the database: it has all names, decisions and answers. Reports and configuration are not in it',
      ],
    ]),
  };
}

/** What was put back, table by table, and what is to be done before the next run. */
export function presentRestore(file: string, restored: RestoreSummary, applied: readonly string[]): Outcome {
  const { header, rows, heldMails, waitingMessages, openRuns } = restored;
  const filled = Object.entries(rows).filter(([, count]) => count > 0);
  const held =
    heldMails.length === 0
      ? 'no mail waited'
      : `${countNoun(heldMails.length, 'mail')} that waited, because it may have been sent since: nightscreen mail list shows it, mail retry NUMBER sends it`;
  const waiting =
    waitingMessages === 0
      ? []
      : [['told again', `${countNoun(waitingMessages, 'message')} to webhooks, under the same ids, by the next run`]];
  const open =
    openRuns.length === 0
      ? []
      : [
          [
            'open',
            `${openRuns.join(', ')}: if it ended after the backup, move its folder out of reports.dir before it goes on`,
          ],
        ];
  const migrated =
    applied.length === 0 ? [] : [['migrated', `from schema ${header.migrations.length}: ${applied.join(', ')}`]];
  return {
    exitCode: exitCodes.complete,
    document: {
      schema: 'nightscreen/restore/1',
      ...{ file, createdAt: header.createdAt, organisations: header.organisations },
      ...{ schemaVersion: header.migrations.length, applied, rows, heldMails, waitingMessages, openRuns },
    },
    text:
      formatTable(filled.map(([table, count]) => [formatCount(count), table])) +
      formatTable([
        ['restored', `${countNoun(sum(rows), 'row')} of ${header.createdAt} from ${file}`],
        ...migrated,
        ['held', held],
        ...waiting,
        ...open,
        ['lost', 'what was found, decided and spent since then; docs/operations.md says what to do about it'],
        ['next', 'nightscreen doctor, then nightscreen runs list; give reviewers and readers their rights again'],
      ]),
  };
}
