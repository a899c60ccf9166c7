import { randomBytes } from 'node:crypto';
import { writeBackupFile } from '../../../src/cli/commands/db.js';
import { type BackupSummary, backupSchema } from '../../../src/store/backup/format.js';

// A child process of the test of full disks: writes a backup of argv[3] lines that cannot be compressed much to argv[2].
const [, , path = '', lines = '0'] = process.argv;
// A file that must not grow any more is an error here, and not the end of the process.
process.on('SIGXFSZ', () => undefined);
try {
  await writeBackupFile(path, async (write) => {
    for (let line = 0; line < Number(lines); line += 1) await write(`"${randomBytes(5_000).toString('base64')}"\n`);
    const header: BackupSummary['header'] = {
      schema: backupSchema,
      createdAt: '',
      version: '',
      dialect: 'embedded',
      organisations: [],
      migrations: [],
    };
    return { header, rows: {} };
  });
} catch (error) {
  process.stderr.write(error instanceof Error ? error.message : 'unknown');
  process.exitCode = 1;
}
