import { severityRules } from '../../changes/severity-rules.js';
import { describeCadence } from '../cadence-words.js';
import { severityWords } from '../change-words.js';
import { formatTime } from '../format-time.js';
import type { Report } from '../report.js';
import { describeSnapshot } from '../snapshot-words.js';
import type { Sheet, SheetRow } from '../spreadsheet/sheet.js';
import { stateWords } from '../state-words.js';
import { listGuideRows, toLine } from '../workbook-guide.js';
import { type Fact, toFactSheet } from './fact-sheet.js';

/** The last sheet: how the run was made, what its words mean, and how the workbook is filled in and taken back. */
export function toMethodSheet(report: Report, above: readonly SheetRow[]): Sheet {
  const screens = report.changes !== null;
  const has = { alerts: report.toReview !== null, discrepancies: report.discrepancies !== null };
  return toFactSheet('Method', {
    top: [
      ...above,
      { cells: ['How this was made, and how to work with it'], styles: ['title'] },
      ...(screens
        ? [
            'Each customer in scope is searched for at the service by name, type, birth date and country. The answer is compared with what was last reported or decided about the customer; each difference is a change. Matches of a first screening are told apart from changes.',
            'Whether a match is a hit is said by the service, whose threshold it is; score and rank are shown as it sent them. Severity is our judgement, by the table below; settings may give a rule another severity, and the digest of the settings says which were in force.',
          ].map(toLine)
        : []),
      toLine(
        'The workbook is made of stored facts only, as they stood when the run closed: made again later it has the same bytes.',
      ),
    ],
    blocks: [
      { title: 'Evidence', facts: listEvidence(report) },
      {
        title: 'Severity: the first rule that applies decides',
        facts: screens ? severityRules.map(({ rule, severity, when }) => [rule, severityWords[severity], when]) : [],
      },
      {
        title: 'States of a customer',
        facts: screens ? Object.values(stateWords).map(({ name, meaning }) => [name, null, meaning]) : [],
      },
    ],
    bottom: has.alerts || has.discrepancies ? listGuideRows('nightscreen review import report.xlsx', has) : [],
  });
}

function listEvidence({ run, evidence, toReview }: Report): readonly Fact[] {
  const { rosterSource, cadence } = evidence;
  return [
    ['Run', run.runId, `${formatTime(run.startedAt)} to ${formatTime(run.finishedAt)}`],
    ['Made by', `Nightscreen ${run.version}`],
    ['Organisation', run.organisation],
    ...(run.roster === null ? [] : [['Roster', run.roster, rosterSource?.source ?? null] as const]),
    ...(rosterSource === null
      ? []
      : [
          ['Roster read', formatTime(rosterSource.importedAt), describeSnapshot(rosterSource)] as const,
          ['Roster digest', null, rosterSource.digest] as const,
        ]),
    ...(cadence === null ? [] : [['Cadence', describeCadence(cadence), cadence.reason] as const]),
    ['Settings digest', null, evidence.settingsDigest],
    ['Service key', run.mode, evidence.keyFingerprint === '' ? 'not used' : `fingerprint ${evidence.keyFingerprint}`],
    ...(toReview === null
      ? []
      : [['Sheet to review', `S-${toReview.sheetId}`, 'decisions that come by it say so'] as const]),
    [
      'Other files',
      null,
      'report.html, report.json, changes.csv, not-screened.csv and rejects.csv beside this one; SHA256SUMS and manifest.json hold their digests',
    ],
  ];
}
