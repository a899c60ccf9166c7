import { createHash } from 'node:crypto';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { ReportError } from '../../errors.js';
import type { MakeRoom } from '../../reports/write-report.js';
import type { ReportRevision } from '../../store/report-revisions.js';

/**
 * Makes room for a revision of a run's report: the same bytes may be written again, an earlier revision moves into a folder of its
 * own, and a report that is neither is left alone. Throws ReportError `report_exists` for that.
 */
export function keepFormerReport(revisions: readonly ReportRevision[], revision: number): MakeRoom {
  return async (folder, files) => {
    const standing = await digestFile(join(folder, 'manifest.json'));
    if (standing === null || files.some((file) => file.name === 'manifest.json' && file.sha256 === standing)) return;
    const earlier = revisions.filter((one) => one.revision < revision);
    // A process that died right after writing has not noted the digest: then the last one without is the one that stands.
    const former =
      earlier.find((one) => one.manifestSha256 === standing) ?? earlier.findLast((one) => one.manifestSha256 === null);
    if (!former) {
      throw new ReportError(
        'report_exists',
        `${folder} holds a different report, and the one written first stays; move it away or write elsewhere with --out`,
      );
    }
    const target = join(folder, `revision-${former.revision}`);
    await mkdir(target, { recursive: true, mode: 0o700 });
    // The manifest last: until then the folder still shows whose files they are.
    for (const { name } of files) await rename(join(folder, name), join(target, name));
  };
}

async function digestFile(path: string): Promise<string | null> {
  try {
    return createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
