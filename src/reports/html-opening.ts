import { html } from 'hono/html';
import type { Match } from '../matches/match.js';
import type { ChangeCluster } from './change-groups.js';
import { hasHealth, hasTrend } from './html-history.js';
import {
  type Markup,
  noMarkup,
  section,
  shownLines,
  showParty,
  showRest,
  showTable,
  showText,
  showTime,
  type TableColumn,
} from './html-markup.js';
import type { MatchChangeFacts, OpenItemsFacts, RosterChangeFacts } from './list-facts.js';
import { describeDrift, describeWatch } from './reasons.js';
import { listOwnDoubts, type Report, toTitle } from './report.js';
import { countNoun, formatCount, formatDay, formatDuration } from './text.js';
import { levelWords } from './verdict.js';
import {
  causeWords,
  countCritical,
  countDays,
  describeAcceptance,
  describeChange,
  describeRecord,
  describeRosterAcceptance,
  fieldWords,
  severityWords,
} from './words.js';

/** The top of the page: title, test banner, verdict, and where to find what. */
export function showOpening(report: Report): Markup {
  const { run, verdict } = report;
  return html`
<header>
<p class="masthead">Nightscreen <span>${run.organisation === 'default' ? '' : showText(run.organisation)}</span></p>
<h1>${showText(toTitle(report))}</h1>
<p class="muted">${showWhat(report)}${showCompared(report)}.</p>
${run.mode === 'test' ? html`<p class="test" role="note"><strong>TEST: not evidence.</strong> This run used a test key; its answers say nothing about real customers.</p>` : noMarkup}
${showAccepted(report)}<div class="verdict">
<p class="level">${levelWords[verdict.level]}${verdict.waiting === null ? noMarkup : html`<span>${verdict.coverage}</span>`}</p>
<p class="headline">${toHeadline(report)}</p>
${showFigures(report)}<p class="news">${verdict.news}</p>
${verdict.remarks.length === 0 ? noMarkup : html`<ul>${verdict.remarks.map((remark) => html`<li>${showText(remark)}</li>`)}</ul>`}
</div>
</header>
${showContents(report)}`;
}

/** How many wait; the figures say how urgent they are. */
function toHeadline({ openItems, verdict }: Report): string {
  if (openItems === null || openItems.waiting === 0) return verdict.waiting ?? verdict.coverage;
  const { waiting, customers } = openItems;
  const whose = customers === null ? '' : ` of ${countNoun(customers, 'customer')}`;
  return `${countNoun(waiting, 'alert')}${whose} ${waiting === 1 ? 'waits' : 'wait'} for a decision`;
}

/** What is urgent of what waits, as figures to be read at a glance. */
function showFigures({ openItems, run }: Report): Markup {
  if (openItems === null || openItems.waiting === 0) return noMarkup;
  const { overdue, oldestAt, proposed, absent } = openItems;
  const show = (figure: string, name: string, isUrgent = false): Markup =>
    html`<span class="term${isUrgent ? ' urgent' : ''}"><b>${figure}</b> <i>${name}</i></span> `;
  const critical = countCritical(openItems);
  return html`<p class="figures">${show(formatCount(critical), 'critical', critical > 0)}${show(formatCount(overdue), 'overdue', overdue > 0)}${oldestAt === null ? noMarkup : show(countDays(oldestAt, run.finishedAt), `the oldest, since ${formatDay(oldestAt)}`)}${proposed === 0 ? noMarkup : show(formatCount(proposed), 'for a second person')}${absent === null || absent === 0 ? noMarkup : show(formatCount(absent), 'no longer matched, to be confirmed')}</p>
`;
}

function showWhat({ run, span }: Report): Markup {
  if (span !== null) {
    return html`Span <code>${run.runId}</code>, ${showTime(span.from)} to ${showTime(span.until)}`;
  }
  return html`Run <code>${run.runId}</code>, ${showTime(run.startedAt)}, took ${formatDuration(run.startedAt, run.finishedAt)}`;
}

function showCompared(report: Report): Markup {
  const { comparedWith } = report.run;
  if (comparedWith === null)
    return report.changes === null ? noMarkup : html`. There is no earlier run to compare with`;
  return html`.<br>Compared with run <code>${comparedWith.runId}</code> of ${showTime(comparedWith.finishedAt)}`;
}

const columns: readonly TableColumn<RosterChangeFacts>[] = [
  { title: 'Customer', cell: ({ reference }) => showText(reference) },
  { title: 'Before', cell: ({ before }) => showText(describeRecord(before)) },
  { title: 'After', cell: ({ after }) => showText(describeRecord(after)) },
];

/** Settings that changed since the last report, and rosters taken against their guards: above all that was judged by them. */
export function showAccepted({ accepted }: Pick<Report, 'accepted'>): Markup {
  const { settingsChanges, rosterAcceptances } = accepted;
  return html`${
    settingsChanges.length === 0
      ? noMarkup
      : html`<div class="accepted" role="note"><p><strong>Settings changed since the last report.</strong> What was found before stays as it was judged then.</p>
${settingsChanges.map(
  (change) => html`<p>${showText(describeAcceptance(change))}</p>
<ul>${change.differences.map((difference) => html`<li>${showText(difference)}</li>`)}</ul>
`,
)}</div>
`
  }${rosterAcceptances.map(
    (acceptance) => html`<p class="accepted" role="note">${showText(describeRosterAcceptance(acceptance))}</p>
${acceptance.changes.length === 0 ? noMarkup : showTable('The first changes of known customers that were accepted', columns, acceptance.changes, null)}`,
  )}`;
}

interface Entry {
  id: string;
  title: string;
  note?: string;
}

/** Links to the sections that the page has, with how much each holds. */
function showContents(report: Report): Markup {
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
      note: formatCount(reconciliations.flatMap(({ current }) => current).reduce((sum, { open }) => sum + open, 0)),
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

/** How many changes are told together, many to a line. */
const countGrouped = ({ changes }: Pick<Report, 'changes'>): number =>
  (changes ?? []).reduce((sum, { count, singleCount }) => sum + count - singleCount, 0);

/** Whether the page has something to tell of groups and drift. */
const hasGroups = (report: Pick<Report, 'changes' | 'watch'>): boolean =>
  countGrouped(report) > 0 || (report.watch !== null && describeWatch(report.watch).length > 0);

/** Changes that touched many customers alike, and how what was found compares with what is usual; nothing where there is neither. */
export async function showGroups(report: Report): Promise<Markup> {
  if (!hasGroups(report)) return noMarkup;
  const { changes, watch } = report;
  const drift = describeDrift(watch);
  const groups: Markup[] = [];
  for (const { severity, clusters } of changes ?? []) {
    if (clusters.length === 0) continue;
    groups.push(html`<section class="severity ${severity}" aria-label="Groups, ${severityWords[severity]}">
<h3><span class="label">${severityWords[severity]}</span></h3>
${await showClusters(clusters)}</section>
`);
  }
  return section(
    'groups',
    'Groups and drift',
    html`${
      drift === null
        ? noMarkup
        : html`<p class="drift" role="note"><strong>Unusual volume:</strong> ${drift}.</p>
`
    }${groups}${watch === null ? noMarkup : html`<ul class="plain">${describeWatch(watch).map((line) => html`<li>${line}</li>`)}</ul>`}`,
  );
}

/** Changes that touched many customers alike, one line each, with a few of them, the biggest first; nothing where there are none. */
async function showClusters(clusters: readonly ChangeCluster[]): Promise<Markup> {
  if (clusters.length === 0) return noMarkup;
  const shown: Markup[] = [];
  for (const cluster of clusters.slice(0, shownLines)) shown.push(showCluster(cluster, await cluster.readExamples()));
  return html`<ul class="clusters">
${shown}</ul>
${showRest(shown.length, 0, clusters.length, 'report.json')}`;
}

function showCluster({ name, by, customers, changes }: ChangeCluster, examples: readonly MatchChangeFacts[]): Markup {
  const [first] = examples;
  if (first === undefined) return noMarkup;
  const match = first.after ?? first.before;
  const fields = first.fields.length === 0 ? '' : ` (${first.fields.map((field) => fieldWords[field]).join(', ')})`;
  return html`<li><b>${countNoun(customers, 'customer')}</b>: ${describeChange(first)}${fields}${by === 'listed_party' ? showListed(match) : noMarkup}; ${causeWords[first.cause]}.
<small>Such as ${examples.map((change, index) => html`${index === 0 ? '' : ', '}${showParty(change.party)}`)}. All ${countNoun(changes, 'change')}: <code>changes.csv</code>, group <code>${name}</code>.</small></li>
`;
}

const showListed = (match: Match | null): Markup =>
  match === null ? noMarkup : html`, ${showText(match.name)} <code>${showText(match.id)}</code>`;
