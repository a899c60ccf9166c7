import { readdir } from 'node:fs/promises';
import { ReportError } from '../../errors.js';
import type { MakeRoom } from '../../reports/write-report.js';
import type { ReportRevision } from '../../store/report-revisions.js';
import { findOtherReport, moveFormerFiles } from './move-former-files.js';

/**
 * Makes room for a revision of a run's report: the same bytes may be written again, an earlier revision moves into a folder of its
 * own, and a report that is neither is left alone. Throws ReportError `report_exists` for that.
 */
export function keepFormerReport(revisions: readonly ReportRevision[], revision: number): MakeRoom {
  return async (folder, files) => {
    const standing = await findOtherReport(folder, files);
    if (standing === null) return;
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
    await moveFormerFiles(folder, `revision-${former.revision}`);
  };
}

/** Makes room for the report of a span, which differs only where a run of it has gone on since: the one before moves into `earlier-1`, `earlier-2` ... */
export const keepFormerSpan: MakeRoom = async (folder, files) => {
  if ((await findOtherReport(folder, files)) === null) return;
  const kept = (await readdir(folder)).filter((name) => /^earlier-\d+$/.test(name));
  await moveFormerFiles(folder, `earlier-${kept.length + 1}`);
};
