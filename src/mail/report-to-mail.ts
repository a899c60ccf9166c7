import type { WrittenReport } from '../reports/write-report.js';
import type { Archive } from './archive.js';

/** Where readers find the report: a link, the folder they can open, or only its name on the server. */
export interface ReportPlace {
  kind: 'link' | 'folder' | 'server';
  where: string;
}

/** A written report with all that mail about it may need; without a place, it is on the server. */
export interface ReportToMail extends WrittenReport {
  place?: ReportPlace;
  /** What went wrong in making it ready, in sentences for its readers. */
  notes?: readonly string[];
  masked?: WrittenReport;
  archive?: Archive;
}
