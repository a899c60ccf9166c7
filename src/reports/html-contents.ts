import { html } from 'hono/html';
import { formatCount } from './format-count.js';
import { hasGroups } from './html-groups.js';
import { hasHealth } from './html-health.js';
import type { Markup } from './html-markup.js';
import { hasTrend } from './html-trend.js';
import type { OpenItemsFacts } from './item-facts.js';
import { countCritical } from './item-words.js';
import type { Report } from './report.js';
import { listOwnDoubts } from './snapshot-words.js';

interface Entry {
  id: string;
  title: string;
  note?: string;
}

/** Links to the sections that the page has, with how much each holds. */
export function showContents(report: Report): Markup {
  return html`<nav aria-label="Contents"><ul>${listContents(report).map(showEntry)}</ul></nav>`;
}

function listContents(report: Report): readonly Entry[] {
  const { span, held, coverage, changes, baseline, dossiers, notScreened, cut, droppedParties, rejects, history } =
    report;
  const { openItems, reconciliations } = report;
  const entries: readonly (Entry | false | null)[] = [
    held.length > 0 && { id: 'held', title: 'Held' },
    openItems && { id: 'waiting', title: 'Waiting for a decision', note: describeCounts(openItems) },
    changes && { id: 'changes', title: 'What changed' },
    baseline.length > 0 && { id: 'baseline', title: 'First screenings' },
    hasGroups(report) && { id: 'groups', title: 'Groups and drift' },
    span && { id: 'span', title: 'Runs' },
    coverage && { id: 'coverage', title: 'Coverage' },
    dossiers && { id: 'dossiers', title: 'Dossiers', note: formatCount(dossiers.changes.length) },
    reconciliations.length > 0 && {
      id: 'reconciliation',
      title: 'Reconciliation',
      note: formatCount(reconciliations.flatMap(({ standing }) => standing).reduce((sum, { open }) => sum + open, 0)),
    },
    notScreened && {
      id: 'not-screened',
      title: 'Not screened',
      note: formatCount(cut.notScreened?.lines ?? notScreened.length),
    },
    droppedParties.length > 0 && {
      id: 'dropped',
      title: 'No longer in the source',
      note: formatCount(droppedParties.length),
    },
    rejects && { id: 'rejects', title: 'Rejected rows', note: formatCount(rejects.length) },
    listOwnDoubts(report).length > 0 && { id: 'doubts', title: 'Values in doubt' },
    history.settled && { id: 'settled', title: 'Settled and carried' },
    hasHealth(report) && { id: 'health', title: 'Run health' },
    hasTrend(report) && { id: 'trend', title: 'Trend' },
    { id: 'evidence', title: 'Evidence' },
  ];
  return entries.filter((entry) => entry !== false && entry !== null);
}

/** How much waits, and how much of it is urgent. */
function describeCounts(openItems: OpenItemsFacts): string {
  const { waiting, overdue } = openItems;
  const critical = countCritical(openItems);
  return [
    formatCount(waiting),
    ...(critical === 0 ? [] : [`${formatCount(critical)} critical`]),
    ...(overdue === 0 ? [] : [`${formatCount(overdue)} overdue`]),
  ].join(', ');
}

function showEntry({ id, title, note }: Entry): Markup {
  return html`<li><a href="#${id}">${title}</a>${note === undefined ? '' : html` <span class="muted">${note}</span>`}</li>`;
}
