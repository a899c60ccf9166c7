import { html } from 'hono/html';
import { gatherBy } from '../../gather-by.js';
import { type PageSection, showTable } from '../../reports/html-markup.js';
import { showPageHead, showSection } from '../../reports/html-page.js';
import type { Column, Markup } from '../../reports/section.js';
import { countNoun } from '../../reports/text.js';
import type { FiguresLine, NightFigures } from '../../runs/evidence-figures.js';

/** As in docs/evidence.md. A cell is empty where nothing is known, and never 0. */
export const figuresColumns: readonly Column<FiguresLine>[] = [
  { key: 'date', cell: ({ date }) => date },
  { key: 'roster', cell: ({ roster }) => roster },
  { key: 'run', cell: ({ run }) => run?.runId },
  { key: 'state', cell: ({ run }) => run?.state ?? 'no_run' },
  { key: 'selection', cell: ({ run }) => run?.selection },
  { key: 'in_scope', cell: ({ run }) => run?.inScope },
  { key: 'screened', cell: ({ run }) => run?.screened },
  { key: 'reused', cell: ({ run }) => run?.reused },
  { key: 'failed', cell: ({ run }) => run?.failed },
  { key: 'skipped', cell: ({ run }) => run?.skipped },
  { key: 'remaining', cell: ({ run }) => run?.remaining },
  { key: 'share_screened', cell: ({ run }) => run?.shareScreened },
  { key: 'held', cell: ({ run }) => run?.hold },
  { key: 'accepted_by', cell: ({ run }) => run?.acceptedBy },
  { key: 'controls_passed', cell: ({ run }) => run?.controlsPassed },
  { key: 'controls_failed', cell: ({ run }) => run?.controlsFailed },
  { key: 'alerts_opened', cell: ({ run }) => run?.alertsOpened },
  { key: 'pack', cell: ({ run }) => run && describePack(run) },
  { key: 'mode', cell: ({ run }) => run?.mode },
];

/** The place of the last pack in the chain, or why there is none. */
function describePack({ pack, hasPacks }: NonNullable<FiguresLine['run']>): string | number {
  if (pack === null) return hasPacks ? 'none' : 'off';
  return pack.isWritten && pack.sequence !== null ? pack.sequence : 'waits';
}

/** The columns of the page, by their titles: those of the CSV with few words in them, and a roster has a table of its own. */
const titles: Readonly<Record<string, string>> = {
  date: 'Day',
  run: 'Run',
  state: 'State',
  in_scope: 'In scope',
  screened: 'Screened',
  reused: 'Reused',
  failed: 'Failed',
  skipped: 'Skipped',
  remaining: 'Left',
  share_screened: 'Share',
  held: 'Held',
  controls_failed: 'Failed controls',
  alerts_opened: 'New alerts',
  pack: 'Pack',
};

const ofText: ReadonlySet<string> = new Set(['date', 'run', 'state', 'held']);

/** Cells that read better in words than in the CSV. */
const pageCells: Readonly<Record<string, (line: FiguresLine) => string | null>> = {
  state: ({ run }) => (run === null ? 'no run' : run.state),
  share_screened: ({ run }) => (run === null || run.shareScreened === null ? null : toPercent(run.shareScreened)),
};

const pageColumns: readonly Column<FiguresLine>[] = figuresColumns.flatMap(({ key = '', cell }) => {
  const title = titles[key];
  if (title === undefined || cell === undefined) return [];
  return [{ title, cell: pageCells[key] ?? cell, ...(ofText.has(key) ? {} : { numeric: true as const }) }];
});

// A day is a column of the chart.
const [height, dayWidth, barWidth] = [60, 10, 7];

/** What the chart shows of a day: the share of the newest run over all due customers, `no_run`, `unknown` (it has no figures), or nothing. */
function findNight(lines: readonly FiguresLine[]): number | 'no_run' | 'unknown' | null {
  if (lines.some(({ run }) => run === null)) return 'no_run';
  const night = lines.findLast(({ run }) => run?.isNight);
  if (night === undefined) return null;
  return night.run?.shareScreened ?? 'unknown';
}

/** Each night is a frame that is filled by its share. A day without a run is crossed out, and one without figures has a question mark. */
function showNight(night: ReturnType<typeof findNight>, x: number): Markup {
  if (night === null) return html``;
  const frame = html`<rect x="${x}" y="0.5" width="${barWidth}" height="${height}" fill="none" stroke="currentColor" stroke-opacity="0.45" stroke-width="0.6"${night === 'no_run' ? html` stroke-dasharray="2 2"` : ''}/>`;
  if (night === 'no_run') {
    return html`${frame}<path class="part" d="M${x} 0.5L${x + barWidth} ${height + 0.5}M${x + barWidth} 0.5L${x} ${height + 0.5}" stroke="currentColor" stroke-width="0.8"/>`;
  }
  if (night === 'unknown')
    return html`${frame}<text x="${x + 1.5}" y="${height / 2}" font-size="9" fill="currentColor">?</text>`;
  const filled = Math.floor(night * height * 10) / 10;
  return html`${frame}<rect class="former" x="${x}" y="${height + 0.5 - filled}" width="${barWidth}" height="${filled}"/>`;
}

function showChart(days: readonly string[], byDay: ReadonlyMap<string, readonly FiguresLine[]>): Markup {
  const nights = days.map((day) => findNight(byDay.get(day) ?? []));
  const missing = nights.filter((night) => night === 'no_run').length;
  const shares = nights.filter((night) => typeof night === 'number');
  const range =
    shares.length === 0 ? 'no figures' : `${toPercent(Math.min(...shares))} to ${toPercent(Math.max(...shares))}`;
  const label = `Share of the customers in scope that each night screened: ${range}. ${countNoun(missing, 'day')} without a run. The figures are in the table below.`;
  // Few days are no wider than many.
  const width = Math.max(days.length, 31) * dayWidth;
  return html`<figure><figcaption><b>Share screened by night</b> <span class="muted">frame: all in scope; crossed out: no run; empty: not yet, or before the first night</span></figcaption>
<svg role="img" viewBox="0 0 ${width} ${height + 14}" aria-label="${label}">
${nights.map((night, at) => showNight(night, at * dayWidth + 1))}<path class="base" d="M0 ${height + 1}H${width}"/>
${days.map((day, at) => (at % 7 === 0 ? html`<text x="${at * dayWidth + 1}" y="${height + 10}" font-size="7" fill="currentColor">${day.slice(5)}</text>` : ''))}</svg>
<p class="muted">${label}</p></figure>`;
}

// Rounded down: 100 % means all.
const toPercent = (share: number): string => `${Math.floor(share * 1_000) / 10} %`;

/** The figures as one page that needs no network, no other file and no script, and prints on A4: for each roster a chart and a table. */
export async function* renderFiguresPage({
  since,
  until,
  timezone,
  days,
  lines,
}: NightFigures): AsyncGenerator<string> {
  const title = `Nights from ${since} to ${until}`;
  const mode = lines.some(({ run }) => run?.mode === 'test') ? 'test' : 'live';
  const isWhole =
    lines.length > 0 && lines.every(({ run }) => run !== null && (!run.isNight || run.shareScreened === 1));
  yield String(await showPageHead({ runId: '', mode, title, level: isWhole ? 'complete' : 'partial' }, null));
  yield `<h1>${title}</h1>\n`;
  if (lines.length === 0) yield '<p>No run of these days is in the database.</p>\n';
  const rosters = gatherBy(lines, ({ roster }) => roster);
  for (const [roster, ofRoster] of rosters) {
    const byDay = gatherBy(ofRoster, ({ date }) => date);
    const table = showTable({
      caption: 'Runs, and days without one',
      columns: pageColumns,
      lines: ofRoster,
      timezone,
      name: 'nights',
    });
    const section: PageSection = {
      id: `roster-${[...rosters.keys()].indexOf(roster)}`,
      title: `Roster ${roster}`,
      body: html`${showChart(days, byDay)}${table}`,
    };
    yield String(await showSection(section));
  }
  yield '\n</main>\n</body>\n</html>\n';
}
