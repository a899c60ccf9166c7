import { html } from 'hono/html';
import { formatCount } from './format-count.js';
import { hasGroups } from './html-groups.js';
import { hasHealth } from './html-health.js';
import type { Markup } from './html-markup.js';
import { hasTrend } from './html-trend.js';
import type { Report } from './report.js';

interface Entry {
  id: string;
  title: string;
  count?: number;
}

/** Links to the sections that the page has, with how much each holds. */
export function showContents(report: Report): Markup {
  return html`<nav aria-label="Contents"><ul>${listContents(report).map(showEntry)}</ul></nav>`;
}

function listContents(report: Report): readonly Entry[] {
  const { span, held, coverage, changes, baseline, dossiers, notScreened, cut, droppedParties, rejects, history } =
    report;
  const countAll = (groups: Report['baseline']): number => groups.reduce((sum, group) => sum + group.count, 0);
  const entries: readonly (Entry | false | null)[] = [
    span && { id: 'span', title: 'Runs', count: span.runs.length },
    held.length > 0 && { id: 'held', title: 'Held' },
    coverage && { id: 'coverage', title: 'Coverage' },
    changes && { id: 'changes', title: 'What needs you now', count: countAll(changes) },
    baseline.length > 0 && { id: 'baseline', title: 'First screenings', count: countAll(baseline) },
    hasGroups(report) && { id: 'groups', title: 'Groups and drift' },
    dossiers && { id: 'dossiers', title: 'Dossiers', count: dossiers.changes.length },
    notScreened && { id: 'not-screened', title: 'Not screened', count: cut.notScreened?.lines ?? notScreened.length },
    droppedParties.length > 0 && { id: 'dropped', title: 'No longer in the source', count: droppedParties.length },
    rejects && { id: 'rejects', title: 'Rejected rows', count: rejects.length },
    history.settled && { id: 'settled', title: 'Settled and carried' },
    hasHealth(report) && { id: 'health', title: 'Run health' },
    hasTrend(report) && { id: 'trend', title: 'Trend' },
    { id: 'evidence', title: 'Evidence' },
  ];
  return entries.filter((entry) => entry !== false && entry !== null);
}

function showEntry({ id, title, count }: Entry): Markup {
  return html`<li><a href="#${id}">${title}</a>${count === undefined ? '' : html` <span class="muted">${formatCount(count)}</span>`}</li>`;
}
