import { codeWords } from '../vocabulary/words.js';
import type { ChangeGroup } from './change-groups.js';
import { describeDoubtedValues, describeReason, describeSnapshot } from './reasons.js';
import { listOwnDoubts, type Report, type Tally } from './report.js';
import { describeRosterChanges } from './roster-changes.js';
import type { CadenceFacts } from './run-facts.js';
import type { Fact, FactBlock } from './section.js';
import { countNoun, formatCount, formatDuration, formatMinute, keep, toVisibleText } from './text.js';
import { describeAges, describeDetails } from './words.js';

/** The facts of the report in figures; a block that the run does not have is empty. */
export const listFactBlocks = (report: Report): readonly FactBlock[] => [
  { title: 'Open alerts when the run closed', facts: listWaiting(report) },
  { title: 'Changes by severity', facts: (report.changes ?? []).map(toSeverityFact) },
  { title: 'Matches of first screenings by severity', facts: report.baseline.map(toSeverityFact) },
  { title: 'Dossiers', facts: listDossierFacts(report) },
  { title: 'Values in doubt: they count as unknown', facts: listDoubts(report) },
  { title: 'Only in the other files', facts: listOtherFiles(report) },
  { title: 'Coverage: all sums hold', facts: listSums(report) },
  {
    title: 'Customers in scope by state',
    facts: (report.coverage?.states ?? []).map(({ code, count }) => {
      const { name, meaning } = codeWords.state[code];
      return [name, count, meaning];
    }),
  },
  { title: 'Failed because', facts: listReasons(report.coverage?.failedBecause) },
  { title: 'Skipped because', facts: listReasons(report.coverage?.skippedBecause) },
  { title: 'The run', facts: listRunFacts(report) },
];

function listWaiting({ openAlerts, run }: Report): readonly Fact[] {
  if (openAlerts === null) return [];
  const { waiting, overdue, customers, bySeverity, oldestAt, proposed, absent, unassigned } = openAlerts;
  return keep<Fact>(
    ['Alerts', waiting, `${formatCount(overdue)} overdue`],
    ['of customers', customers],
    ...bySeverity.map((of): Fact => {
      const name = `of them ${codeWords.severity[of.severity].toLowerCase()}`;
      return [name, of.waiting, `${formatCount(of.overdue)} overdue`];
    }),
    oldestAt && ['Age', describeAges(openAlerts), `the oldest since ${formatMinute(oldestAt, run.timezone)}`],
    ['Pending approval', proposed],
    ['With an absent match, to be confirmed', absent],
    ['Not assigned', unassigned],
  );
}

function toSeverityFact({ severity, count, sanctionHits, clusters }: ChangeGroup): Fact {
  const notes = keep(
    sanctionHits > 0 && `${countNoun(sanctionHits, 'hit')} for a sanction`,
    clusters.length > 0 && `with ${countNoun(clusters.length, 'group')} of similar changes`,
  );
  return [codeWords.severity[severity], count, notes.join(', ') || null];
}

function listDossierFacts({ dossiers, run }: Report): readonly Fact[] {
  if (dossiers === null) return [];
  const seen = dossiers.sweeps.map(({ startedAt, dossiers, proven, unprovenBecause }): Fact => {
    const proof = proven ? 'proven complete' : `not proven complete: ${unprovenBecause ?? 'no reason given'}`;
    return ['Dossiers seen', dossiers, `by the sweep of ${formatMinute(startedAt, run.timezone)}, ${proof}`];
  });
  return [...seen, ['Changes', dossiers.changes.length]];
}

const listDoubts = (report: Report): readonly Fact[] =>
  listOwnDoubts(report).map((column) => {
    const values = column.values.length === 0 ? '' : `: ${describeDoubtedValues(column)}`;
    return [toVisibleText(column.column), column.doubts, `of ${formatCount(column.doubts + column.read)}${values}`];
  });

function listOtherFiles({ rejects, doubted, droppedParties }: Report): readonly Fact[] {
  const facts = [
    ['Rejected rows', rejects?.length ?? 0, 'rejects.csv'],
    ['Rows with values in doubt', doubted.length, 'rejects.csv'],
    ['No longer in the source', droppedParties.length, 'report.html and report.json'],
  ] as const;
  return facts.filter(([, count]) => count > 0);
}

function listSums({ coverage, run }: Report): readonly Fact[] {
  if (coverage === null) return [];
  const { sums, formerRosterAt } = coverage;
  const facts = sums.map(({ whole, parts }): Fact => {
    const terms = parts.map(({ name, count }) => `${formatCount(count)} ${name}`);
    return [whole.name, whole.count, `= ${terms.join(' + ')}`];
  });
  if (formerRosterAt === null) return facts;
  const note = 'imported by an earlier run; this run imported no roster';
  return [...facts, ['roster', formatMinute(formerRosterAt, run.timezone), note]];
}

const listReasons = (tallies: readonly Tally[] = []): readonly Fact[] =>
  tallies.map(({ code, count }) => [describeReason(code), count]);

function listRunFacts({ run, rosterChanges, calls, controls }: Report): readonly Fact[] {
  const { startedAt, finishedAt, comparedWith, timezone } = run;
  const former = comparedWith && formatMinute(comparedWith.finishedAt, timezone);
  const passed = controls?.filter(({ verdict }) => verdict === 'passed').length ?? 0;
  const proof = controls?.length === 0 ? 'none are configured' : `${formatCount(passed)} passed`;
  return keep<Fact>(
    ['Run', run.runId, `${run.kind}, ${run.state}`],
    ['Time', formatMinute(startedAt, timezone), `took ${formatDuration(startedAt, finishedAt)}`],
    ['Compared with', comparedWith?.runId ?? 'no earlier run', former],
    rosterChanges && ['Roster changes', null, describeRosterChanges(rosterChanges)],
    calls.searches !== null && ['Searches', calls.searches, 'control searches not included'],
    controls && ['Control searches', controls.length, proof],
  );
}

/** What identifies the run, its sources and its settings. */
export function listEvidence({ run, evidence, details, toReview }: Report): readonly Fact[] {
  const { timezone } = run;
  const { rosterSource, cadence, settingsDigest, keyFingerprint, packs } = evidence;
  const fetched = details.counts && describeDetails(details.counts);
  const [from, until] = [formatMinute(run.startedAt, timezone), formatMinute(run.finishedAt, timezone)];
  return keep<Fact>(
    ['Run', run.runId, `${run.kind}, ${run.state}, ${from} to ${until}`],
    ['Made by', `Nightscreen ${run.version}`],
    ['Organisation', run.organisation],
    run.roster !== null && ['Roster', run.roster, rosterSource?.source ?? null],
    rosterSource && ['Roster read', formatMinute(rosterSource.importedAt, timezone), describeSnapshot(rosterSource)],
    rosterSource && ['Roster digest', null, rosterSource.digest],
    cadence && ['Screening frequency', describeCadence(cadence), cadence.reason],
    fetched !== null && ['Details', fetched],
    ['Settings digest', null, settingsDigest],
    ['Evidence before', null, describePacks(packs)],
    ['Service key', run.mode, keyFingerprint === '' ? 'not used' : `fingerprint ${keyFingerprint}`],
    toReview && ['Sheet to review', `S-${toReview.sheetId}`, 'stored with each disposition that it imports'],
    [
      'Files',
      null,
      'report.html, report.xlsx, report.json, changes.csv, not-screened.csv and rejects.csv in the same folder; SHA256SUMS and manifest.json contain their digests',
    ],
  );
}

/** The last pack of evidence before the run: what was written until then cannot be changed without contradicting this report. */
export function describePacks({ areWritten, before }: Report['evidence']['packs']): string {
  if (!areWritten)
    return 'no pack of files proves this run: its settings say `evidence: off`, or its version wrote none';
  if (before === null) return 'none: the first pack is that of this run';
  return `pack ${before.sequence}, its manifest has the SHA-256 ${before.sha256}`;
}

const hoursPerDay = 24;

/** The screening frequency in words: one interval where all risk tiers have the same. */
function describeCadence({ hours }: CadenceFacts): string {
  const { high, medium, low } = hours;
  if (high === medium && medium === low) return `every customer every ${describeHours(high)}`;
  return `high risk every ${describeHours(high)}, medium every ${describeHours(medium)}, low every ${describeHours(low)}`;
}

const describeHours = (hours: number): string => {
  const [count, noun] = hours % hoursPerDay === 0 ? [hours / hoursPerDay, 'day'] : [hours, 'hour'];
  return count === 1 ? noun : `${count} ${noun}s`;
};
