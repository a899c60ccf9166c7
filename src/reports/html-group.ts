import { html, raw } from 'hono/html';
import { codeWords, describeTopic } from '../vocabulary/words.js';
import { severities, stateOrder } from '../vocabulary.js';
import { describeOutcome, type GroupReport, type GroupRoster, heldWords } from './group.js';
import {
  joinMarkup,
  noMarkup,
  type PageSection,
  showCode,
  showFacts,
  showNone,
  showReference,
  showRemark,
  showTable,
  showText,
  showTime,
} from './html-markup.js';
import { showPageHead, showSection } from './html-page.js';
import type { Column, Markup } from './section.js';
import { countNoun, formatCount, formatMinute, keep } from './text.js';
import { countDays } from './words.js';

/** The page over all rosters in chunks; it needs no network, no other file and no script, and prints on A4. */
export async function* renderGroupPage(report: GroupReport): AsyncGenerator<string> {
  const { name, mode, verdict } = report;
  const sections = listSections(report);
  yield String(await showPageHead({ runId: name, mode, title: toGroupTitle(report), level: verdict.level }, null));
  yield String(await showOpening(report, sections));
  for (const section of sections) yield String(await showSection(section));
  yield '\n</main>\n</body>\n</html>\n';
}

/** The title of the page. */
const toGroupTitle = ({ organisation }: GroupReport): string =>
  organisation === 'default' ? 'All rosters' : `All rosters of ${organisation}`;

function listSections(report: GroupReport): readonly PageSection[] {
  return keep(
    toHeldSection(report),
    toRostersSection(report),
    toAlertsSection(report),
    toChangesSection(report),
    toStatesSection(report),
    toCoverageSection(report),
    toJobsSection(report),
    { id: 'evidence', title: 'Budget and evidence', body: showEvidence(report) },
  );
}

const levelWords: Readonly<Record<GroupReport['verdict']['level'], string>> = {
  complete: 'Complete',
  partial: 'Partial',
  red: 'Red: rosters are not screened, or not to be relied on',
};

function showOpening(report: GroupReport, sections: readonly PageSection[]): Markup {
  const { organisation, mode, verdict, from, until, dueAt, timezone, isCurrent } = report;
  const span = html`Span ${showTime(from, report)} to ${showTime(until, report)}`;
  const what =
    dueAt === null
      ? span
      : html`The night that was due at ${showTime(dueAt, report)}, as of ${showTime(until, report)}`;
  const test = html`<p class="test" role="note"><strong>TEST: not evidence.</strong> A test key was used; its answers are not about real customers.</p>\n`;
  return html`
<header>
<p class="masthead">Nightscreen <span>${organisation === 'default' ? '' : showText(organisation)}</span></p>
<h1>${showText(toGroupTitle(report))}</h1>
<p class="muted">${what}.<br>${isCurrent ? 'Customers and alerts are as of this time.' : 'Customers and alerts are as of the end of each roster’s last run.'} Times are in ${timezone}.</p>
${mode === 'test' ? test : noMarkup}<div class="verdict">
<p class="level">${levelWords[verdict.level]}</p>
<p class="headline">${showRemark(verdict.coverage)}</p>
${showFigures(report)}<p class="news">${showRemark(verdict.waiting)} ${showRemark(verdict.news)}</p>
${verdict.remarks.length === 0 ? noMarkup : html`<ul>${verdict.remarks.map((remark) => html`<li>${showRemark(remark)}</li>`)}</ul>`}
</div>
</header>
<nav aria-label="Contents"><ul>${sections.map(({ id, title, note }) => html`<li><a href="#${id}">${title}</a>${note === undefined ? '' : html` <span class="muted">${note}</span>`}</li>`)}</ul></nav>`;
}

function showFigures({ rosters, total: { customers, alerts }, until }: GroupReport): Markup {
  const show = (figure: string, name: string, isUrgent = false): Markup =>
    html`<span class="term${isUrgent ? ' urgent' : ''}"><b>${figure}</b> <i>${name}</i></span> `;
  const troubled = rosters.filter(({ level }) => level !== 'complete').length;
  const areAllKnown = rosters.every((roster) => roster.customers !== null);
  const notScreened = customers?.states.find(({ code }) => code === 'not_screened')?.count ?? 0;
  const critical = alerts?.bySeverity.find(({ severity }) => severity === 'critical')?.waiting ?? 0;
  const figures = keep(
    show(
      `${formatCount(rosters.length - troubled)} of ${formatCount(rosters.length)}`,
      'rosters complete',
      troubled + Number(rosters.length === 0) > 0,
    ),
    customers &&
      show(formatCount(notScreened), `${areAllKnown ? 'customers' : 'known customers'} not screened`, notScreened > 0),
    alerts && show(formatCount(alerts.waiting), 'open alerts'),
    alerts && show(formatCount(alerts.opened), 'new alerts', alerts.opened > 0),
    alerts && show(formatCount(critical), 'critical', critical > 0),
    alerts && show(formatCount(alerts.overdue), 'overdue alerts', alerts.overdue > 0),
    alerts?.oldestAt &&
      show(countDays(alerts.oldestAt, until).replace('less than a day', '< 1 day'), 'age of the oldest'),
  );
  return html`<p class="figures">${figures}</p>
`;
}

/** A line of a table: a roster, or the sum over all. */
type GroupLine = Pick<GroupRoster, 'customers' | 'alerts' | 'changes'> & { of: GroupRoster | null };

/** The rosters, and their sum below where there are several. */
function listLines({ rosters, total }: GroupReport): readonly GroupLine[] {
  const lines = rosters.map((of): GroupLine => ({ ...of, of }));
  return rosters.length > 1 ? [...lines, { ...total, of: null }] : lines;
}

const rosterColumn: Column<GroupLine> = {
  title: 'Roster',
  share: 15,
  html: ({ of }) => (of === null ? html`<strong>All</strong>` : showText(of.roster)),
};

const figure = (
  title: string,
  toFigure: (line: GroupLine) => number | string | null | undefined,
): Column<GroupLine> => ({
  title,
  numeric: true,
  html: (line) => {
    const value = toFigure(line) ?? null;
    if (value === null) return showNone();
    if (value === 0) return html`<span class="zero">0</span>`;
    return typeof value === 'number' ? formatCount(value) : value;
  },
});

const countOf = (line: GroupLine, code: (typeof stateOrder)[number]): number | undefined =>
  line.customers === null ? undefined : (line.customers.states.find((state) => state.code === code)?.count ?? 0);

function toTableSection(
  report: GroupReport,
  section: Pick<PageSection, 'id' | 'title' | 'note'> & { caption: string; columns: readonly Column<GroupLine>[] },
): PageSection {
  const { columns, caption, ...head } = section;
  const { timezone } = report;
  const lines = listLines(report);
  const table = showTable({ caption, columns: [rosterColumn, ...columns], lines, timezone, name: 'group' });
  return { ...head, body: table };
}

function toRostersSection(report: GroupReport): PageSection {
  const note = formatCount(report.rosters.length);
  if (report.rosters.length === 0) {
    const body = html`<p class="alarm">No roster is configured, and none was ever imported: no customer was screened.</p>`;
    return { id: 'rosters', title: 'Rosters', note, body };
  }
  const columns: readonly Column<GroupLine>[] = [
    {
      title: 'Run of the night',
      share: 27,
      html: ({ of }) => (of === null ? noMarkup : showRun(of)),
    },
    { title: 'Began', share: 15, html: ({ of }) => (of === null ? noMarkup : showMoment(of.run?.startedAt, report)) },
    { title: 'Ended', share: 15, html: ({ of }) => (of === null ? noMarkup : showMoment(of.run?.finishedAt, report)) },
    figure('In scope', ({ customers }) => customers?.inScope),
    figure('Not screened', (line) => countOf(line, 'not_screened')),
    figure('Open alerts', ({ alerts }) => alerts?.waiting),
  ];
  const caption = 'The rosters, those in most need of attention first';
  return toTableSection(report, { id: 'rosters', title: 'Rosters', note, caption, columns });
}

const showMoment = (moment: Date | null | undefined, report: GroupReport): Markup =>
  moment ? showTime(moment, report) : showNone();

function showRun(roster: GroupRoster): Markup {
  const { level, run, runs } = roster;
  const outcome = html`<span${level === 'complete' ? noMarkup : raw(' class="alarm"')}>${describeOutcome(roster)}</span>`;
  if (run === null) return html`<strong>${outcome}</strong>`;
  const id = run.report === null ? showCode(run.id) : html`<a href="${run.report}">${showCode(run.id)}</a>`;
  const others = runs > 1 ? html` <span class="muted">${countNoun(runs, 'run')} in all</span>` : noMarkup;
  return html`${level === 'complete' ? outcome : html`<strong>${outcome}</strong>`}<br>${id}${others}`;
}

function toHeldSection({ rosters }: GroupReport): PageSection | null {
  const held = rosters.flatMap(({ roster, held }) => held.map((one) => ({ ...one, roster })));
  if (held.length === 0) return null;
  const body = held.map(
    ({ roster, runId, kind, reasons, command }) =>
      html`<p><strong>${showText(roster)}</strong>: ${heldWords[kind]} of ${showCode(runId)}. ${joinMarkup(reasons.map(showRemark), ' ')}${command === null ? noMarkup : html`<br>If that is right: ${showCode(command)}`}</p>\n`,
  );
  return { id: 'held', title: 'Waiting for acceptance', note: formatCount(held.length), body: html`${body}` };
}

function toAlertsSection(report: GroupReport): PageSection {
  const { alerts } = report.total;
  const columns = [
    ...severities.map((severity) =>
      figure(severity === 'info' ? 'Info' : codeWords.severity[severity], (line) => {
        const found = line.alerts?.bySeverity.find((one) => one.severity === severity);
        if (found === undefined) return line.alerts === null ? null : 0;
        return found.opened ? `${formatCount(found.waiting)} (${formatCount(found.opened)} new)` : found.waiting;
      }),
    ),
    figure('All', (line) => line.alerts?.waiting),
    figure('New', (line) => line.alerts?.opened),
    figure('Overdue', (line) => line.alerts?.overdue),
    {
      title: 'Oldest',
      html: (line: GroupLine) => (line.alerts?.oldestAt ? countDays(line.alerts.oldestAt, report.until) : showNone()),
    },
  ];
  const note = alerts === null ? undefined : formatCount(alerts.waiting);
  const caption = 'Alerts that wait, by severity; the runs of this time opened the new ones or made them more severe';
  return toTableSection(report, { id: 'alerts', title: 'Open alerts', note, caption, columns });
}

function toChangesSection(report: GroupReport): PageSection {
  const counts = toTableSection(report, {
    id: 'changes',
    title: 'What changed',
    caption: 'Changes by severity, by the runs of this time that have ended',
    columns: [
      ...severities.map((severity) =>
        figure(
          severity === 'info' ? 'Info' : codeWords.severity[severity],
          ({ changes }) => changes && (changes.bySeverity.find((one) => one.severity === severity)?.changes ?? 0),
        ),
      ),
      figure('Matches of first screenings', ({ changes }) => changes && countFirst(changes)),
    ],
  });
  const lists = report.rosters.flatMap(({ roster, changes }) =>
    changes && changes.urgent.length > 0 ? [showUrgent(roster, changes)] : [],
  );
  const quiet =
    lists.length === 0 && report.total.changes !== null
      ? html`<p class="quiet">The runs that have ended found no critical or high change.</p>`
      : noMarkup;
  return { ...counts, body: html`${counts.body}${quiet}${lists}` };
}

const countFirst = ({ bySeverity }: RosterChangesFound): number =>
  bySeverity.reduce((sum, { baseline }) => sum + baseline, 0);

type RosterChangesFound = NonNullable<GroupRoster['changes']>;
type UrgentChange = RosterChangesFound['urgent'][number];

const urgentColumns: readonly Column<UrgentChange>[] = [
  { title: 'Customer', share: 22, html: ({ customer }) => showReference(customer) },
  {
    title: 'Severity',
    share: 10,
    html: ({ severity }) =>
      html`<span class="severity ${severity}"><span class="label">${codeWords.severity[severity]}</span></span>`,
  },
  { title: 'Change', share: 26, html: ({ change }) => change },
  {
    title: 'Risk category',
    html: ({ topics }) =>
      topics.length === 0 ? showNone() : joinMarkup(topics.map((one) => showText(describeTopic(one)))),
  },
  { title: 'Risk', share: 8, html: ({ riskTier }) => riskTier ?? showNone() },
  {
    title: 'Report',
    share: 18,
    html: ({ runId, report }) =>
      report === null ? showCode(runId) : html`<a href="${report}#changes">${showCode(runId)}</a>`,
  },
];

function showUrgent(roster: string, { urgent, unlisted }: RosterChangesFound): Markup {
  const table = showTable({
    caption: 'Critical and high changes',
    columns: urgentColumns,
    lines: urgent,
    timezone: 'UTC',
  });
  const rest =
    unlisted === 0
      ? noMarkup
      : html`<p class="rest">${countNoun(unlisted, 'further critical or high change')}: see the report of the run.</p>\n`;
  return html`<h3>${showText(roster)}</h3>\n${table}${rest}`;
}

function toStatesSection(report: GroupReport): PageSection {
  const columns = [
    ...stateOrder.map((code) => figure(codeWords.state[code].name, (line) => countOf(line, code))),
    figure('In scope', ({ customers }) => customers?.inScope),
  ];
  return toTableSection(report, { id: 'states', title: 'Customers by state', caption: 'Customers in scope', columns });
}

function toCoverageSection(report: GroupReport): PageSection {
  const count = (name: 'screened' | 'reused' | 'failed' | 'remaining') => (line: GroupLine) =>
    line.of === null
      ? report.rosters.reduce((sum, { run }) => sum + (run?.counts?.[name] ?? 0), 0)
      : line.of.run?.counts?.[name];
  const columns = [
    figure('Screened', count('screened')),
    figure('Reused', count('reused')),
    figure('Failed', count('failed')),
    figure('Remaining', count('remaining')),
    figure('Never screened', ({ customers }) => customers?.uncovered?.never),
    figure('Overdue', ({ customers }) => customers?.uncovered?.overdue),
    figure('Not valid otherwise', ({ customers }) => customers?.uncovered?.others),
  ];
  const caption = 'Customers in the last run of this time, and customers without a valid screening at its end';
  return toTableSection(report, { id: 'coverage', title: 'Coverage', caption, columns });
}

function toJobsSection(report: GroupReport): PageSection | null {
  const { jobs, timezone } = report;
  if (jobs.length === 0) return null;
  const columns: readonly Column<GroupReport['jobs'][number]>[] = [
    { title: 'Job', share: 12, html: ({ job }) => job },
    { title: 'Due', share: 17, html: ({ dueAt }) => showTime(dueAt, report) },
    { title: 'Began', share: 17, html: ({ begunAt }) => showMoment(begunAt, report) },
    { title: 'Ended', share: 17, html: ({ endedAt }) => showMoment(endedAt, report) },
    {
      title: 'Result',
      html: ({ state, exitCode, because }) =>
        showRemark(keep(exitCode === null ? state : `exit code ${exitCode}`, because).join(': ')),
    },
  ];
  return {
    id: 'jobs',
    title: 'Jobs of the schedule',
    body: showTable({ caption: 'Jobs that were due in this time', columns, lines: jobs, timezone }),
  };
}

function showEvidence({ name, version, budget, until, timezone }: GroupReport): Markup {
  const { calls, cost, accounts } = budget;
  const caps = accounts.flatMap(({ account, caps }) =>
    caps.map(({ per, cap, used }): readonly [string, string] => [
      `Budget of the ${per}`,
      `${formatCount(used)} of ${formatCount(cap)} searches used (${account})`,
    ]),
  );
  return showFacts([
    ['Billed searches', formatCount(calls), cost && `${cost.amount.toFixed(2)} ${cost.currency}`],
    ...(caps.length === 0 ? [['Budget', 'no cap is configured'] as const] : caps),
    ['Report', name],
    ['Written as of', formatMinute(until, timezone)],
    ['Version', version],
  ]);
}
