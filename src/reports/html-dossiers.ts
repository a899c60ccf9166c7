import { html } from 'hono/html';
import type { DossierSnapshot } from '../dossiers/dossier.js';
import { dossierChangeWords } from './change-words.js';
import { countNoun } from './format-count.js';
import { type Markup, nothing, section, showNone, showReference, showText, showTime } from './html-markup.js';
import { showTable, type TableColumn } from './html-table.js';
import type { DossierChangeFacts, SweepFacts } from './list-facts.js';
import type { Report } from './report.js';

type Reader = (dossier: DossierSnapshot) => string | number | boolean | null;

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['token', (dossier) => dossier.token],
  ['type', (dossier) => dossier.type],
  ['status', (dossier) => dossier.status],
  ['name', (dossier) => dossier.name],
  ['reference', (dossier) => dossier.reference],
  ['risk_score', (dossier) => dossier.riskScore],
  ['is_test', (dossier) => dossier.isTest],
  ['download_status', (dossier) => dossier.downloadStatus],
  ['documents_count', (dossier) => dossier.documentsCount],
  ['created_at', (dossier) => dossier.createdAt],
  ['completed_at', (dossier) => dossier.completedAt],
]);

const dossierColumns: readonly TableColumn<DossierChangeFacts>[] = [
  { title: 'What', cell: (change) => dossierChangeWords[change.kind] },
  { title: 'Dossier', cell: showDossier },
  { title: 'Customer', cell: showDossierCustomer },
  { title: 'Before and now', cell: showDifferences },
];

/** The sweeps with their proof of completeness, then every dossier that changed. */
export function showDossiers(report: Report): Markup {
  const { dossiers } = report;
  if (dossiers === null) return nothing;
  const { sweeps, changes } = dossiers;
  return section(
    'dossiers',
    'Dossiers',
    html`${sweeps.map(showSweep)}
${changes.length === 0 ? html`<p class="quiet">No dossier changed.</p>` : showTable(countNoun(changes.length, 'dossier change'), dossierColumns, changes, 'changes.csv')}`,
  );
}

function showSweep(sweep: SweepFacts): Markup {
  const proof = sweep.proven
    ? html`The list is proven complete.`
    : html`<strong>Not proven complete: ${showText(sweep.unprovenBecause ?? 'no reason given')}. Nothing is reported as gone.</strong>`;
  return html`<p>Swept ${showTime(sweep.startedAt)}: ${countNoun(sweep.dossiers, 'dossier')} on ${countNoun(sweep.pages, 'page')}. ${proof}${sweep.isStart ? html` It is the first sweep of this account: what it saw for the first time is the starting point and counts as no change.` : nothing}</p>
`;
}

function showDossier(change: DossierChangeFacts): Markup {
  const name = (change.after ?? change.before)?.name ?? null;
  return html`${name === null ? nothing : html`${showText(name)}<br>`}<code>${showText(change.dossierId)}</code>`;
}

function showDossierCustomer(change: DossierChangeFacts): Markup {
  const reference = (change.after ?? change.before)?.reference ?? null;
  if (reference === null) return showNone();
  return html`${showReference(reference)}${change.customerKnown ? nothing : html`<br><small>not on the roster</small>`}`;
}

function showDifferences({ before, after, fields }: DossierChangeFacts): Markup {
  if (before === null || after === null)
    return html`<span class="muted">status</span> ${showValue((after ?? before)?.status ?? null)}`;
  return html`${fields.map((field) => {
    const read = readers.get(field);
    if (read === undefined) return html`<div>${showText(field.replaceAll('_', ' '))} changed</div>`;
    return html`<div><span class="muted">${field.replaceAll('_', ' ')}</span> ${showValue(read(before))} <span aria-label="became">→</span> <strong>${showValue(read(after))}</strong></div>`;
  })}`;
}

function showValue(value: string | number | boolean | null): Markup {
  if (value === null) return showNone();
  return showText(typeof value === 'string' ? value.replaceAll('_', ' ') : String(value));
}
