import { maskReport } from '../../reports/mask-report.js';
import type { Report } from '../../reports/report.js';
import { type MakeRoom, type WrittenReport, writeReport } from '../../reports/write-report.js';
import { findOtherReport, moveFormerFiles } from './move-former-files.js';

/** Writes the masked variant to `<directory>/<run id>-masked`; one that stands there and is another moves into a folder within. Throws ReportError. */
export const writeMasked = (report: Report, directory: string): Promise<WrittenReport> =>
  writeReport(maskReport(report), directory, keepStanding);

const keepStanding: MakeRoom = async (folder, files) => {
  const standing = await findOtherReport(folder, files);
  if (standing !== null) await moveFormerFiles(folder, `former-${standing.slice(0, 8)}`);
};
