import { html } from 'hono/html';
import type { DossierSnapshot } from '../dossiers/dossier.js';
import type { Match } from '../matches/match.js';
import { codeWords, describeTopic, toWords } from '../vocabulary/words.js';
import type { ChangeGroup } from './change-groups.js';
import { renderCsvBatches } from './csv.js';
import { noMarkup, showNone, showParty, showReference, showText, showTime } from './html-markup.js';
import type {
  ChangeAlertFacts,
  DossierChangeFacts,
  MatchChangeFacts,
  NotScreenedFacts,
  PartyFacts,
  WaitingAlert,
} from './list-facts.js';
import { describeReason } from './reasons.js';
import { listNewAlerts, type Report, readBaseline, readChanges } from './report.js';
import { readWhole } from './run-facts.js';
import type { Cell, Column, ListSection, Markup, Section } from './section.js';
import { countNoun } from './text.js';
import { isHeld } from './verdict.js';
import { describeChange, describeReplaced, describeSaid } from './words.js';

const join = (texts: readonly string[] | undefined): Cell | undefined => texts?.join('; ');

const toYesNo = (value: boolean | undefined): Cell => (value === undefined ? null : value ? 'yes' : 'no');

/** The columns of a line's party, the same in every file: its names, its facts and its kind. */
export const toPartyColumns = <Line>(
  toParty: (line: Line) => PartyFacts,
): Readonly<Record<'names' | 'facts' | 'kind', readonly Column<Line>[]>> => ({
  names: [
    { key: 'reference', width: 14, title: 'Customer', cell: (line) => toParty(line).reference },
    { key: 'name', width: 26, cell: (line) => toParty(line).name },
  ],
  facts: [
    { key: 'birth_date', width: 12, title: 'Born', cell: (line) => toParty(line).birthDate },
    { key: 'countries', width: 11, cell: (line) => join(toParty(line).countries) },
  ],
  kind: [
    { key: 'role', width: 14, cell: (line) => toParty(line).role },
    // An id without a readable record has no known type.
    { key: 'type', width: 9, cell: (line) => (toParty(line).name === '' ? null : toParty(line).type) },
    { key: 'risk_tier', width: 10, cell: (line) => toParty(line).riskTier },
  ],
});

/** A change of a match, or a match of a first screening. */
interface ChangeLine {
  about: 'match' | 'first_screening';
  change: MatchChangeFacts;
}

const waitingOf = ({ change: { alert } }: ChangeLine): ChangeAlertFacts | null =>
  alert?.state === 'open' || alert?.state === 'pending_approval' ? alert : null;

const toMatchColumns = <Line>(
  when: 'before' | 'after',
  words: 'before' | 'now',
  toMatch: (line: Line) => Match | null,
): readonly Column<Line>[] => [
  { key: `${when}_name`, width: 26, title: `Listed party ${words}`, cell: (line) => toMatch(line)?.name },
  {
    key: `${when}_risk_categories`,
    width: 20,
    title: `Risk categories ${words}`,
    cell: (line) => join(toMatch(line)?.topics.map(describeTopic)),
  },
  {
    key: `${when}_birth_dates`,
    width: 16,
    title: `Listed party born ${words}`,
    cell: (line) => join(toMatch(line)?.birthDates),
  },
  {
    key: `${when}_countries`,
    width: 14,
    title: `Listed countries ${words}`,
    cell: (line) => join(toMatch(line)?.countries),
  },
  { key: `${when}_hit`, width: 8, title: `Hit ${words}`, cell: (line) => toYesNo(toMatch(line)?.isHit) },
  { key: `${when}_score`, width: 8, title: `Score ${words}`, cell: (line) => toMatch(line)?.score },
  { key: `${when}_rank`, cell: (line) => toMatch(line)?.rank },
  { key: `${when}_schema`, cell: (line) => toMatch(line)?.schema },
  { key: `${when}_id`, cell: (line) => toMatch(line)?.id },
];

const formerPartyColumns: readonly Column<ChangeLine>[] = [
  { key: 'customer_before_name', width: 26, title: 'Customer before', cell: ({ change }) => change.formerParty?.name },
  {
    key: 'customer_before_birth_date',
    width: 12,
    title: 'Customer born before',
    cell: ({ change }) => change.formerParty?.birthDate,
  },
  {
    key: 'customer_before_countries',
    width: 12,
    title: 'Customer countries before',
    cell: ({ change }) => join(change.formerParty?.countries),
  },
  {
    key: 'customer_before_type',
    width: 10,
    title: 'Customer type before',
    cell: ({ change }) => change.formerParty?.type,
  },
];

const alertColumns: readonly Column<ChangeLine>[] = [
  {
    key: 'alert_state',
    width: 16,
    title: 'Alert',
    cell: ({ change: { alert } }) => alert && codeWords.alertState[alert.state],
  },
  { key: 'alert_open_since', cell: (line) => waitingOf(line)?.openedAt },
  { key: 'alert_due', width: 18, cell: (line) => waitingOf(line)?.dueAt },
  { key: 'alert_assigned_to', width: 16, cell: (line) => waitingOf(line)?.assignedTo },
  {
    key: 'last_disposition',
    width: 32,
    cell: ({ change }, timezone) => {
      const last = change.alert?.said[0];
      return last ? describeSaid(last, timezone) : null;
    },
  },
  {
    key: 'former_disposition',
    width: 32,
    title: 'Former disposition of a similar match',
    cell: ({ change }, timezone) => {
      const replaced = change.alert?.replaced;
      return replaced ? describeReplaced(replaced, timezone) : null;
    },
  },
];

const changedParty = toPartyColumns<ChangeLine>(({ change }) => change.party);

/** The changes of matches, in reading order. */
const changeColumns: readonly Column<ChangeLine>[] = [
  { key: 'severity', width: 10, cell: ({ change }) => change.severity },
  ...changedParty.names,
  { key: 'what', width: 26, title: 'What happened', cell: ({ change }) => describeChange(change) },
  { key: 'about', width: 15, cell: ({ about }) => about },
  ...changedParty.facts,
  ...toMatchColumns<ChangeLine>('after', 'now', ({ change }) => change.after),
  ...toMatchColumns<ChangeLine>('before', 'before', ({ change }) => change.before),
  ...formerPartyColumns,
  { key: 'fields', width: 18, title: 'Fields that changed', cell: ({ change }) => join(change.fields) },
  {
    key: 'birth_date_agreement',
    width: 14,
    title: 'Birth dates',
    cell: ({ change: { corroboration } }) => corroboration && codeWords.agreement[corroboration.birthDate],
  },
  {
    key: 'country_agreement',
    width: 14,
    title: 'Countries compared',
    cell: ({ change: { corroboration } }) => corroboration && codeWords.agreement[corroboration.country],
  },
  { key: 'kind', cell: ({ change }) => change.kind },
  { key: 'cause', width: 16, cell: ({ change }) => change.cause },
  { key: 'rule', width: 22, cell: ({ change }) => change.rule },
  { key: 'adjustments', width: 18, cell: ({ change }) => join(change.adjustments) },
  { key: 'group', width: 8, cell: ({ change }) => change.cluster },
  ...alertColumns,
  ...changedParty.kind,
  { key: 'match_id', width: 24, cell: ({ change }) => change.matchId },
  { key: 'change_id', width: 11, cell: ({ change }) => change.changeId },
  { key: 'run_id', cell: ({ change }) => change.runId },
];

/** All changes of matches, most severe first, then all matches of first screenings; null for a run that does not screen. */
export function toChangesSection({ changes, baseline, cut }: Report): ListSection<ChangeLine> | null {
  if (changes === null) return null;
  // First screenings must not follow a truncated list of changes.
  const first = cut.changes === null ? baseline : [];
  const lines = [...toLines('match', changes), ...toLines('first_screening', first)];
  const count = [...changes, ...baseline].reduce((sum, group) => sum + group.count, 0);
  return { title: 'All changes', columns: changeColumns, lines, count, file: 'changes.csv' };
}

const toLines = (about: ChangeLine['about'], groups: readonly ChangeGroup[]): readonly ChangeLine[] =>
  groups.flatMap(({ changes }) => changes.map((change) => ({ about, change })));

const snapshotColumns = (
  when: 'before' | 'after',
  toDossier: (change: DossierChangeFacts) => DossierSnapshot | null,
): readonly Column<DossierChangeFacts>[] => [
  { key: `${when}_dossier_status`, width: 14, cell: (change) => toDossier(change)?.status },
  { key: `${when}_dossier_name`, width: 26, cell: (change) => toDossier(change)?.name },
  { key: `${when}_dossier_reference`, width: 14, cell: (change) => toDossier(change)?.reference },
  { key: `${when}_dossier_risk_score`, width: 9, cell: (change) => toDossier(change)?.riskScore },
  { key: `${when}_dossier_documents`, width: 11, cell: (change) => toDossier(change)?.documentsCount },
  { key: `${when}_dossier_completed_at`, width: 21, cell: (change) => toDossier(change)?.completedAt },
  { key: `${when}_dossier_updated_at`, width: 21, cell: (change) => toDossier(change)?.updatedAt },
  { key: `${when}_dossier_type`, cell: (change) => toDossier(change)?.type },
  { key: `${when}_dossier_download`, cell: (change) => toDossier(change)?.downloadStatus },
];

const dossierColumns: readonly Column<DossierChangeFacts>[] = [
  {
    key: 'what',
    width: 26,
    cell: ({ kind }) => codeWords.dossierChange[kind],
    html: ({ kind }) => codeWords.dossierChange[kind],
  },
  {
    key: 'dossier_id',
    width: 26,
    share: 30,
    title: 'Dossier',
    cell: ({ dossierId }) => dossierId,
    html: showDossierName,
  },
  { title: 'Customer', html: showDossierCustomer },
  { title: 'Before and now', html: showDossierDifferences },
  { key: 'about', cell: () => 'dossier' },
  { key: 'kind', cell: ({ kind }) => kind },
  { key: 'dossier_customer_known', width: 12, cell: ({ customerKnown }) => toYesNo(customerKnown) },
  { key: 'fields', width: 20, cell: ({ fields }) => join(fields) },
  ...snapshotColumns('before', ({ before }) => before),
  ...snapshotColumns('after', ({ after }) => after),
  { key: 'change_id', width: 11, cell: ({ changeId }) => changeId },
];

const newParty = toPartyColumns<WaitingAlert>(({ party }) => party);

/** The new alerts of a held run, whose changes do not count yet. */
const provisionalColumns: readonly Column<WaitingAlert>[] = [
  { key: 'severity', cell: ({ severity }) => severity },
  ...newParty.names,
  { key: 'what', cell: ({ news }) => news && `Alert by held answers: ${codeWords.alertNews[news]}` },
  { key: 'about', cell: () => 'provisional' },
  ...newParty.facts,
  ...toMatchColumns<WaitingAlert>('after', 'now', ({ listed }) => listed),
  { key: 'birth_date_agreement', cell: ({ corroboration }) => codeWords.agreement[corroboration.birthDate] },
  { key: 'country_agreement', cell: ({ corroboration }) => codeWords.agreement[corroboration.country] },
  { key: 'rule', cell: ({ rule }) => rule },
  { key: 'alert_state', cell: ({ state }) => codeWords.alertState[state] },
  { key: 'alert_open_since', cell: ({ openedAt }) => openedAt },
  { key: 'alert_due', cell: ({ dueAt }) => dueAt },
  { key: 'alert_assigned_to', cell: ({ assignedTo }) => assignedTo },
  ...newParty.kind,
  { key: 'match_id', cell: ({ listed }) => listed.id },
  { key: 'alert', cell: ({ mark }) => mark },
];

type ChangesLine = ChangeLine | WaitingAlert | DossierChangeFacts;

/** The columns of `changes.csv`: those of matches, of new alerts and of dossiers. A line fills those of its own list. */
const changesFileColumns: readonly Column<ChangesLine>[] = [
  ...new Set([...changeColumns, ...dossierColumns, ...provisionalColumns].flatMap(({ key }) => key ?? [])),
].map((key) => {
  const ofMatch = changeColumns.find((column) => column.key === key)?.cell;
  const ofAlert = provisionalColumns.find((column) => column.key === key)?.cell;
  const ofDossier = dossierColumns.find((column) => column.key === key)?.cell;
  const toCell = (line: ChangesLine, timezone: string): Cell | undefined => {
    if ('change' in line) return ofMatch?.(line, timezone);
    return 'mark' in line ? ofAlert?.(line, timezone) : ofDossier?.(line, timezone);
  };
  return { key, cell: (line, timezone) => toCell(line, timezone) };
});

/** The changes of dossiers; null where no sweep belongs to the run. */
export const toDossierSection = ({ dossiers }: Report): Section<DossierChangeFacts> | null =>
  dossiers && {
    id: 'dossiers',
    title: 'Dossiers',
    caption: countNoun(dossiers.changes.length, 'dossier change'),
    columns: dossierColumns,
    lines: dossiers.changes,
    count: dossiers.changes.length,
    file: 'changes.csv',
    quiet: 'No dossier changed.',
  };

function showDossierName({ before, after, dossierId }: DossierChangeFacts): Markup {
  const name = (after ?? before)?.name ?? null;
  return html`${name === null ? noMarkup : html`${showText(name)}<br>`}<code>${showText(dossierId)}</code>`;
}

function showDossierCustomer({ before, after, customerKnown }: DossierChangeFacts): Markup {
  const reference = (after ?? before)?.reference ?? null;
  if (reference === null) return showNone();
  return html`${showReference(reference)}${customerKnown ? noMarkup : html`<br><small>not on the roster</small>`}`;
}

const readers = new Map<string, (dossier: DossierSnapshot) => string | number | boolean | null>([
  ['token', ({ token }) => token],
  ['type', ({ type }) => type],
  ['status', ({ status }) => status],
  ['name', ({ name }) => name],
  ['reference', ({ reference }) => reference],
  ['risk_score', ({ riskScore }) => riskScore],
  ['is_test', ({ isTest }) => isTest],
  ['download_status', ({ downloadStatus }) => downloadStatus],
  ['documents_count', ({ documentsCount }) => documentsCount],
  ['created_at', ({ createdAt }) => createdAt],
  ['completed_at', ({ completedAt }) => completedAt],
]);

function showDossierDifferences({ before, after, fields }: DossierChangeFacts): Markup {
  if (before === null || after === null)
    return html`<span class="muted">status</span> ${showFact((after ?? before)?.status ?? null)}`;
  return html`${fields.map((field) => {
    const read = readers.get(field);
    if (read === undefined) return html`<div>${showText(toWords(field))} changed</div>`;
    return html`<div><span class="muted">${toWords(field)}</span> ${showFact(read(before))} <span aria-label="became">→</span> <strong>${showFact(read(after))}</strong></div>`;
  })}`;
}

function showFact(value: string | number | boolean | null): Markup {
  if (value === null) return showNone();
  return showText(typeof value === 'string' ? toWords(value) : String(value));
}

const describeWhy = ({ outcome, reason }: NotScreenedFacts): string =>
  `${codeWords.outcome[outcome]}: ${describeReason(reason)}`;

const missingParty = toPartyColumns<NotScreenedFacts>(({ party }) => party);

const notScreenedColumns: readonly Column<NotScreenedFacts>[] = [
  ...missingParty.names.map(
    (column): Column<NotScreenedFacts> =>
      column.key === 'reference' ? { ...column, html: ({ party }) => showParty(party) } : column,
  ),
  ...missingParty.facts,
  { key: 'outcome', width: 11, cell: ({ outcome }) => outcome },
  { key: 'why', width: 44, cell: describeWhy, html: (line) => showText(describeWhy(line)) },
  {
    key: 'last_screened_at',
    width: 21,
    title: 'Last screened',
    cell: ({ lastScreenedAt }) => lastScreenedAt,
    html: ({ lastScreenedAt }, timezone) =>
      lastScreenedAt === null ? html`<strong>never</strong>` : showTime(lastScreenedAt, { timezone }),
  },
  ...missingParty.kind,
  { key: 'reason', width: 24, cell: ({ reason }) => reason },
];

/** The parties in scope without a valid screening; null for a run that does not screen. */
export function toNotScreenedSection({ notScreened, cut, verdict }: Report): Section<NotScreenedFacts> | null {
  if (notScreened === null) return null;
  const count = cut.notScreened?.lines ?? notScreened.length;
  const parties = countNoun(count, 'customer or related party', 'customers or related parties');
  return {
    id: 'not-screened',
    title: 'Not screened',
    caption: `${parties} without a valid screening; their matches are not known`,
    columns: notScreenedColumns,
    lines: notScreened,
    count,
    file: 'not-screened.csv',
    quiet:
      verdict.level === 'red'
        ? 'This list is empty, but do not rely on this run.'
        : 'All customers in scope are screened.',
  };
}

/**
 * `changes.csv`: the new alerts of a held run, all changes of matches, most severe first, then all matches of first screenings, then all
 * changes of dossiers.
 */
export function renderChangesCsv(report: Report): AsyncGenerator<string> {
  return renderCsvBatches(changesFileColumns, listLines(report), report.run.timezone);
}

async function* listLines(report: Report): AsyncGenerator<readonly ChangesLine[]> {
  if (isHeld(report)) yield listNewAlerts(report);
  for await (const changes of readChanges(report)) yield changes.map((change) => ({ about: 'match', change }));
  for await (const changes of readBaseline(report))
    yield changes.map((change) => ({ about: 'first_screening', change }));
  yield report.dossiers?.changes ?? [];
}

/** `not-screened.csv`: each party in scope without a valid screening, with the reason and the time of its last one (ISO 8601, UTC). */
export function renderNotScreenedCsv({ notScreened, cut }: Report): AsyncGenerator<string> {
  return renderCsvBatches(notScreenedColumns, readWhole('not screened', notScreened ?? [], cut.notScreened));
}

/** The CSV files of a report that hold one list. */
export const csvFiles: readonly [name: string, render: (report: Report) => AsyncGenerator<string>][] = [
  ['changes.csv', renderChangesCsv],
  ['not-screened.csv', renderNotScreenedCsv],
];
