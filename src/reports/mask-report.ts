import type { DossierSnapshot } from '../dossiers/dossier.js';
import type { Match } from '../matches/match.js';
import type { DiscrepancyFacts } from '../reconciliation/discrepancy.js';
import type { RejectedRow } from '../roster/customer.js';
import type { RejectReason } from '../vocabulary.js';
import type { ChangeGroup } from './change-groups.js';
import type { Report } from './report.js';
import type * as facts from './run-facts.js';
import { type HeldFacts, mapBatches, mapReads, type RunFacts } from './run-facts.js';

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });
/** The most code points of one letter in any script; more could spell a name in one grapheme. */
const mostCodePoints = 3;

/**
 * The initials of a name in any script: `Amina al-Haddad` gives `A. a. H.`, `王秀英` gives `王.`. A word of one letter in a script without
 * capitals is left out, because its initial is the whole word. `*` replaces a name without initials.
 */
export function toInitials(name: string): string {
  const initials = name.split(/[\s\p{P}\p{S}\p{C}]+/u).flatMap(toInitial);
  return initials.length === 0 ? '*' : initials.join(' ');
}

function toInitial(word: string): readonly string[] {
  const [first, ...others] = [...graphemes.segment(word)].map(({ segment }) => segment);
  if (first === undefined || (others.length === 0 && !/^[\p{Lu}\p{Ll}]$/u.test(first))) return [];
  return [`${[...first].slice(0, mostCodePoints).join('')}.`];
}

const remark =
  'MASKED: names are initials, birth dates are years, comments and rejected values are left out. The full report has them.';
const leftOut = '(left out)';

/**
 * The report with initials instead of names and without free text and other identifying facts. References, counts, codes and ids stay. A
 * reference is not checked for names.
 */
export function maskReport(report: Report): Report {
  const { run, span, verdict, coverage, accepted, dossiers, carriedFrom, details, watch, calls, evidence } = report;
  // Each part is listed by name: a new part does not compile until its masking is decided here.
  return {
    isMasked: true,
    nameInCommands: report.nameInCommands,
    run,
    span,
    coverage,
    carriedFrom,
    details,
    watch,
    calls,
    history: report.history,
    evidence: { ...evidence, rosterSource: evidence.rosterSource && maskSource(evidence.rosterSource) },
    verdict: { ...verdict, remarks: [remark, ...verdict.remarks] },
    accepted: {
      settingsChanges: accepted.settingsChanges.map((change) => ({
        ...maskAcceptance(change),
        proposedBy: change.proposedBy === null ? null : toInitials(change.proposedBy),
      })),
      rosterAcceptances: accepted.rosterAcceptances.map((acceptance) => ({
        ...maskAcceptance(acceptance),
        changes: acceptance.changes.map(({ reference, before, after }) => ({
          reference,
          before: maskRecord(before),
          after: maskRecord(after),
        })),
      })),
    },
    held: report.held.map(maskHeld),
    rosterChanges: report.rosterChanges,
    cut: maskTruncatedLists(report.cut),
    changes: report.changes?.map(maskGroup) ?? null,
    baseline: report.baseline.map(maskGroup),
    dossiers: dossiers && { ...dossiers, changes: dossiers.changes.map(maskDossierChange) },
    reconciliations: report.reconciliations.map((one) => ({ ...one, news: one.news.map(maskDiscrepancy) })),
    discrepancies: report.discrepancies && {
      ...report.discrepancies,
      listed: report.discrepancies.listed.map((one) => ({
        ...maskDiscrepancy(one),
        acceptance: one.acceptance && { ...one.acceptance, reason: leftOut },
      })),
    },
    notScreened: report.notScreened?.map(maskLine) ?? null,
    rejects: report.rejects?.map(maskReject) ?? null,
    doubted: report.doubted.map((row) => ({ ...row, fields: {} })),
    droppedParties: report.droppedParties.map(maskLine),
    openAlerts: report.openAlerts && maskOpenAlerts(report.openAlerts),
    controls: report.controls?.map(maskControl) ?? null,
    toReview: report.toReview && { ...report.toReview, alerts: report.toReview.alerts.map(maskWaiting) },
  };
}

const maskLine = <Line extends { party: facts.PartyFacts }>(line: Line): Line => ({
  ...line,
  party: maskParty(line.party),
});

const maskTruncatedLists = ({ notScreened, baseline, changes }: Report['cut']): Report['cut'] => ({
  notScreened: notScreened && { ...notScreened, read: () => mapBatches(notScreened.read(), maskLine) },
  baseline: baseline && { ...baseline, ...mapReads(baseline, maskChange) },
  // The groups already have the clusters.
  changes: changes && { ...changes, ...mapReads(changes, maskChange), clusters: [] },
});

const maskGroup = (group: ChangeGroup): ChangeGroup => ({
  ...group,
  changes: group.changes.map(maskChange),
  single: group.single.map(maskChange),
  clusters: group.clusters.map((cluster) => ({
    ...cluster,
    key: '',
    readExamples: async () => (await cluster.readExamples()).map(maskChange),
  })),
});

function maskChange(change: facts.MatchChangeFacts): facts.MatchChangeFacts {
  return {
    ...change,
    party: maskParty(change.party),
    formerParty: change.formerParty && maskParty(change.formerParty),
    before: change.before && maskMatch(change.before),
    after: change.after && maskMatch(change.after),
    alert: change.alert && maskAlert(change.alert),
  };
}

const maskParty = (party: facts.PartyFacts): facts.PartyFacts => ({
  ...party,
  name: toInitials(party.name),
  birthDate: party.birthDate === null ? null : toYear(party.birthDate),
});

const maskMatch = (match: Match): Match => ({
  ...match,
  name: toInitials(match.name),
  birthDates: match.birthDates.flatMap((date) => toYear(date) ?? []),
});

const maskWaiting = (alert: facts.WaitingAlert): facts.WaitingAlert => ({
  ...alert,
  party: maskParty(alert.party),
  listed: maskMatch(alert.listed),
  assignedTo: alert.assignedTo && toInitials(alert.assignedTo),
  proposal: alert.proposal && maskSaid(alert.proposal),
  lastDecision: alert.lastDecision && maskSaid(alert.lastDecision),
  replaced: alert.replaced && maskReplaced(alert.replaced),
  legacy: alert.legacy && maskSaid(alert.legacy),
});

const toYear = (date: string): string | null => /^\d{4}(?!\d)/.exec(date)?.[0] ?? null;

const maskAlert = (alert: facts.ChangeAlertFacts): facts.ChangeAlertFacts => ({
  ...alert,
  assignedTo: alert.assignedTo && toInitials(alert.assignedTo),
  said: alert.said.map(maskSaid),
  replaced: alert.replaced && maskReplaced(alert.replaced),
});

const maskReplaced = (replaced: facts.ReplacedFacts): facts.ReplacedFacts => ({
  ...maskSaid(replaced),
  name: toInitials(replaced.name),
});

const maskSaid = <Said extends { reviewer: string; reason: string }>(said: Said): Said => ({
  ...said,
  reviewer: toInitials(said.reviewer),
  reason: leftOut,
});

const maskOpenAlerts = (alerts: facts.OpenAlertsFacts): facts.OpenAlertsFacts => ({
  ...alerts,
  byAssignee: alerts.byAssignee.map((tally) => ({ ...tally, name: toInitials(tally.name) })),
});

const maskAcceptance = <Accepted extends facts.AcceptanceFacts>(accepted: Accepted): Accepted => ({
  ...accepted,
  acceptedBy: toInitials(accepted.acceptedBy),
  reason: leftOut,
});

const maskHeld = (held: HeldFacts): HeldFacts => ({
  ...held,
  accepted: held.accepted.map(maskAcceptance),
});

const maskRecord = (record: facts.CustomerRecordFacts): facts.CustomerRecordFacts => ({
  ...record,
  name: toInitials(record.name),
  birthDate: record.birthDate && toYear(record.birthDate),
  parties: record.parties.map((party) => party.replace(/: .*/s, `: ${leftOut}`)),
});

/** Keeps only the names of files: folders are often named after people or places. */
const maskSource = (source: NonNullable<RunFacts['rosterSource']>): typeof source => ({
  ...source,
  doubts: source.doubts.map((column) => ({ ...column, values: [] })),
  source: source.source.replaceAll(/(?<=^|,)[^,]*[/\\]/g, (path) => (path.startsWith(' ') ? ' ' : '')),
});

const maskControl = (control: facts.ControlFacts): facts.ControlFacts => ({
  ...control,
  name: toInitials(control.name),
  label: null,
});

const maskDossierChange = (change: facts.DossierChangeFacts): facts.DossierChangeFacts => ({
  ...change,
  before: change.before && maskDossier(change.before),
  after: change.after && maskDossier(change.after),
});

const maskDossier = (dossier: DossierSnapshot): DossierSnapshot => ({
  ...dossier,
  name: dossier.name === null ? null : toInitials(dossier.name),
});

const datingFacts: ReadonlySet<string> = new Set(['rosterDate', 'dossierDate']);
const namingFacts: ReadonlySet<string> = new Set(['name', 'former', 'rosterName', 'dossierName']);

const maskDiscrepancy = <One extends Pick<DiscrepancyFacts, 'facts'>>(discrepancy: One): One => ({
  ...discrepancy,
  facts: Object.fromEntries(
    Object.entries(discrepancy.facts).map(([name, value]) => [
      name,
      typeof value !== 'string'
        ? value
        : namingFacts.has(name)
          ? toInitials(value)
          : datingFacts.has(name)
            ? toYear(value)
            : value,
    ]),
  ),
});

/** Rows whose cells may be under the wrong header, so that the reference may be a name. */
const shiftedRows: ReadonlySet<RejectReason> = new Set(['malformed_csv', 'wrong_column_count']);

const maskReject = (row: RejectedRow): RejectedRow => ({
  ...row,
  reference: shiftedRows.has(row.reason) ? null : row.reference,
  fields: {},
});
