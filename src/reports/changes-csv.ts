import type { DossierSnapshot } from '../dossiers/dossier.js';
import type { Match } from '../matches/match.js';
import { describeChange, dossierChangeWords } from './change-words.js';
import type { ChangeItemFacts, ItemOwner, ReplacedFacts, SaidFacts } from './item-facts.js';
import { describeOwner, describeReplaced, describeSaid } from './item-words.js';
import type { DossierChangeFacts, MatchChangeFacts } from './list-facts.js';
import { partyColumns } from './party-columns.js';
import { type Cell, type Column, renderCsvBatches } from './render-csv.js';
import type { Report } from './report.js';
import { readBaseline, readChanges } from './report.js';

/** A line of `changes.csv`. */
export type ChangeLine =
  | { about: 'match' | 'first_screening'; change: MatchChangeFacts; dossier: null }
  | { about: 'dossier'; change: null; dossier: DossierChangeFacts };

/** `changes.csv`: every change of a match, most severe first, then every match of a first screening, then every change of a dossier; dates and lists as the service sent them. */
export function renderChangesCsv(report: Report): AsyncGenerator<string> {
  return renderCsvBatches(changeColumns, listLines(report));
}

async function* listLines(report: Report): AsyncGenerator<readonly ChangeLine[]> {
  for await (const changes of readChanges(report)) {
    yield changes.map((change): ChangeLine => ({ about: 'match', change, dossier: null }));
  }
  for await (const changes of readBaseline(report)) {
    yield changes.map((change): ChangeLine => ({ about: 'first_screening', change, dossier: null }));
  }
  const dossiers = report.dossiers?.changes ?? [];
  yield dossiers.map((dossier): ChangeLine => ({ about: 'dossier', change: null, dossier }));
}

/** Everything that is said of a change. */
export const changeColumns: readonly Column<ChangeLine>[] = [
  { header: 'about', cell: (line) => line.about },
  { header: 'severity', cell: (line) => line.change?.severity ?? null },
  { header: 'what', cell: describeLine },
  { header: 'kind', cell: (line) => (line.change ?? line.dossier).kind },
  { header: 'cause', cell: (line) => line.change?.cause ?? null },
  { header: 'group', cell: (line) => line.change?.flood ?? null },
  ...partyColumns<ChangeLine>((line) => line.change?.party ?? null),
  { header: 'fields', cell: (line) => (line.change ?? line.dossier).fields.join('; ') },
  ...matchColumns('before', (line) => line.change?.before ?? null),
  ...matchColumns('after', (line) => line.change?.after ?? null),
  { header: 'match_id', cell: (line) => line.change?.matchId ?? null },
  { header: 'birth_date_agreement', cell: (line) => line.change?.corroboration?.birthDate ?? null },
  { header: 'country_agreement', cell: (line) => line.change?.corroboration?.country ?? null },
  { header: 'rule', cell: (line) => line.change?.rule ?? null },
  { header: 'adjustments', cell: (line) => line.change?.adjustments.join('; ') ?? null },
  { header: 'item_state', cell: (line) => line.change?.item?.state ?? null },
  { header: 'item_open_since', cell: (line) => toWaiting(line)?.openedAt.toISOString() ?? null },
  { header: 'item_due', cell: (line) => toWaiting(line)?.dueAt?.toISOString() ?? null },
  { header: 'item_assigned_to', cell: (line) => toOwner(toWaiting(line)?.owner) },
  { header: 'item_last_said', cell: (line) => toLastSaid(line.change?.item?.said[0]) },
  { header: 'dossier_id', cell: (line) => line.dossier?.dossierId ?? null },
  { header: 'dossier_customer_known', cell: (line) => toYesNo(line.dossier?.customerKnown) },
  ...dossierColumns('before', (line) => line.dossier?.before ?? null),
  ...dossierColumns('after', (line) => line.dossier?.after ?? null),
  { header: 'change_id', cell: (line) => (line.change ?? line.dossier).changeId },
  { header: 'run_id', cell: (line) => line.change?.runId ?? null },
  { header: 'customer_before_name', cell: (line) => line.change?.formerParty?.name ?? null },
  { header: 'customer_before_type', cell: (line) => line.change?.formerParty?.type ?? null },
  { header: 'customer_before_birth_date', cell: (line) => line.change?.formerParty?.birthDate ?? null },
  { header: 'customer_before_countries', cell: (line) => line.change?.formerParty?.countries.join('; ') ?? null },
  { header: 'replaced_decision', cell: (line) => toReplaced(line.change?.item?.replaced) },
];

const toWaiting = ({ change }: ChangeLine): ChangeItemFacts | null =>
  change?.item?.state === 'open' || change?.item?.state === 'proposed' ? change.item : null;
const toOwner = (owner: ItemOwner | null | undefined): Cell => (owner ? describeOwner(owner) : null);
const toLastSaid = (said: SaidFacts | undefined): Cell => (said ? describeSaid(said) : null);
const toReplaced = (replaced: ReplacedFacts | null | undefined): Cell => (replaced ? describeReplaced(replaced) : null);

function describeLine(line: ChangeLine): Cell {
  return line.about === 'dossier' ? dossierChangeWords[line.dossier.kind] : describeChange(line.change);
}

function matchColumns(when: string, toMatch: (line: ChangeLine) => Match | null): readonly Column<ChangeLine>[] {
  return [
    { header: `${when}_name`, cell: (line) => toMatch(line)?.name ?? null },
    { header: `${when}_hit`, cell: (line) => toYesNo(toMatch(line)?.isHit) },
    { header: `${when}_score`, cell: (line) => toMatch(line)?.score ?? null },
    { header: `${when}_rank`, cell: (line) => toMatch(line)?.rank ?? null },
    { header: `${when}_topics`, cell: (line) => toMatch(line)?.topics.join('; ') ?? null },
    { header: `${when}_birth_dates`, cell: (line) => toMatch(line)?.birthDates.join('; ') ?? null },
    { header: `${when}_countries`, cell: (line) => toMatch(line)?.countries.join('; ') ?? null },
    { header: `${when}_schema`, cell: (line) => toMatch(line)?.schema ?? null },
    { header: `${when}_id`, cell: (line) => toMatch(line)?.id ?? null },
  ];
}

function dossierColumns(
  when: string,
  toDossier: (line: ChangeLine) => DossierSnapshot | null,
): readonly Column<ChangeLine>[] {
  return [
    { header: `${when}_dossier_status`, cell: (line) => toDossier(line)?.status ?? null },
    { header: `${when}_dossier_type`, cell: (line) => toDossier(line)?.type ?? null },
    { header: `${when}_dossier_name`, cell: (line) => toDossier(line)?.name ?? null },
    { header: `${when}_dossier_reference`, cell: (line) => toDossier(line)?.reference ?? null },
    { header: `${when}_dossier_risk_score`, cell: (line) => toDossier(line)?.riskScore ?? null },
    { header: `${when}_dossier_documents`, cell: (line) => toDossier(line)?.documentsCount ?? null },
    { header: `${when}_dossier_download`, cell: (line) => toDossier(line)?.downloadStatus ?? null },
    { header: `${when}_dossier_completed_at`, cell: (line) => toDossier(line)?.completedAt ?? null },
    { header: `${when}_dossier_updated_at`, cell: (line) => toDossier(line)?.updatedAt ?? null },
  ];
}

const toYesNo = (value: boolean | undefined): Cell => (value === undefined ? null : value ? 'yes' : 'no');
