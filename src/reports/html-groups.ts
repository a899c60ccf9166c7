import { html } from 'hono/html';
import { severityWords } from './change-words.js';
import { showFloods } from './html-floods.js';
import { type Markup, nothing, section } from './html-markup.js';
import type { Report } from './report.js';
import { describeDrift, describeWatch } from './watch-words.js';

/** How many changes are told together, many to a line. */
const countGrouped = ({ changes }: Pick<Report, 'changes'>): number =>
  (changes ?? []).reduce((sum, { count, singleCount }) => sum + count - singleCount, 0);

/** Whether the page has something to tell of groups and drift. */
export const hasGroups = (report: Pick<Report, 'changes' | 'watch'>): boolean =>
  countGrouped(report) > 0 || (report.watch !== null && describeWatch(report.watch).length > 0);

/** Changes that touched many customers alike, and how what was found compares with what is usual; nothing where there is neither. */
export async function showGroups(report: Report): Promise<Markup> {
  if (!hasGroups(report)) return nothing;
  const { changes, watch } = report;
  const drift = describeDrift(watch);
  const groups: Markup[] = [];
  for (const { severity, floods } of changes ?? []) {
    if (floods.length === 0) continue;
    groups.push(html`<section class="severity ${severity}" aria-label="Groups, ${severityWords[severity]}">
<h3><span class="label">${severityWords[severity]}</span></h3>
${await showFloods(floods)}</section>
`);
  }
  return section(
    'groups',
    'Groups and drift',
    html`${
      drift === null
        ? nothing
        : html`<p class="drift" role="note"><strong>Unusual volume:</strong> ${drift}.</p>
`
    }${groups}${watch === null ? nothing : html`<ul class="plain">${describeWatch(watch).map((line) => html`<li>${line}</li>`)}</ul>`}`,
  );
}
