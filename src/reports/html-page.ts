import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { Match } from '../matches/match.js';
import { causeWords, describeTopic, roleWords } from '../vocabulary/words.js';
import type { ChangeGroup } from './change-groups.js';
import { type ShownGroup, showChanges } from './html-changes.js';
import { showCoverage } from './html-coverage.js';
import { showHistory } from './html-history.js';
import {
  type Markup,
  noMarkup,
  section,
  showCode,
  showDigest,
  shownLines,
  showRest,
  showText,
  showTime,
  toCellText,
} from './html-markup.js';
import { showOpening } from './html-opening.js';
import { showWaiting } from './html-waiting.js';
import { hasDetails, type MatchChangeFacts } from './list-facts.js';
import { describeSnapshot } from './reasons.js';
import { type Report, toTitle } from './report.js';
import type { TruncatedMatches } from './run-facts.js';
import { countNoun, escapeXml } from './text.js';
import { describeCadence, describeChange, describeDetails } from './words.js';

/** The page's script: filters and sorts the changes, sorts tables by their headers. The page is complete without it. */
export const reportScript = `
'use strict';
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const fold = (text) => text.normalize('NFKD').replace(/\\p{M}/gu, '').toLowerCase();
  const order = new Intl.Collator('en', { numeric: true });

  const tools = document.querySelector('.tools');
  if (tools) {
    const [text, severity, cause, sort, output] = ['text', 'severity', 'cause', 'sort', 'shown'].map((name) => tools.querySelector('[data-tool=' + name + ']'));
    // Read at the first use: thousands of lines would delay the first paint.
    let read;
    const readLines = () => read ??= all('#changes [data-score], #changes .hits tbody tr:not(.kind)').map((element, place) => ({
      element, place,
      list: element.parentElement,
      section: element.closest('.severity'),
      text: fold(element.textContent),
      customer: (element.querySelector('.reference') || element.cells[0]).textContent,
      cause: element.closest('[data-cause]')?.dataset.cause,
      score: Number(element.dataset.score || (element.cells[4]?.textContent ?? '0').split(' ').pop()),
      since: element.dataset.since || '9',
    }));
    const by = {
      listed: (a, b) => a.place - b.place,
      customer: (a, b) => order.compare(a.customer, b.customer) || a.place - b.place,
      score: (a, b) => b.score - a.score || a.place - b.place,
      since: (a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : a.place - b.place),
    };
    const filter = () => {
      const lines = readLines();
      const wanted = fold(text.value.trim());
      let shown = 0;
      for (const line of lines) {
        const fits = line.text.includes(wanted)
          && (cause.value === '' || !line.cause || line.cause === cause.value)
          && (severity.value === '' || line.section.classList.contains(severity.value));
        line.element.hidden = !fits;
        if (fits) shown += 1;
      }
      const filtered = wanted !== '' || cause.value !== '' || severity.value !== '';
      const open = new Set(lines.flatMap((line) => (line.element.hidden ? [] : [line.section])));
      for (const section of all('#changes .severity')) section.hidden = filtered && !open.has(section);
      output.textContent = filtered ? shown.toLocaleString('en') + ' of ' + lines.length.toLocaleString('en') + ' on this page' : '';
    };
    const arrange = () => {
      for (const line of [...readLines()].sort(by[sort.value])) line.list.append(line.element);
    };
    tools.hidden = false;
    text.addEventListener('input', filter);
    severity.addEventListener('change', filter);
    cause.addEventListener('change', filter);
    sort.addEventListener('change', arrange);
    // A browser may restore what was entered before.
    if (text.value !== '' || severity.value !== '' || cause.value !== '') filter();
    if (sort.value !== 'listed') arrange();
  }

  for (const table of all('table.list')) {
    if (table.rows.length < 11) continue;
    const heads = all('thead th', table);
    heads.forEach((head, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => {
        const down = head.getAttribute('aria-sort') === 'ascending';
        for (const other of heads) other.removeAttribute('aria-sort');
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        for (const body of table.tBodies) {
          const rows = [...body.rows].filter((row) => !row.matches('.kind')).map((row) => ({ row, text: row.cells[column].textContent }));
          rows.sort((a, b) => (down ? order.compare(b.text, a.text) : order.compare(a.text, b.text)));
          for (const { row } of rows) body.append(row);
        }
      });
    });
  }
})();
`;

const reportScriptSource = `'sha256-${createHash('sha256').update(reportScript).digest('base64')}'`;

function showEvidence(report: Report): Markup {
  const { run, evidence } = report;
  const { rosterSource } = evidence;
  return section(
    'evidence',
    'Evidence',
    html`<dl>
<dt>Run</dt><dd>${showCode(run.runId)}, ${run.kind}, ${run.state}, ${showTime(run.startedAt, run)} to ${showTime(run.finishedAt, run)}, times in ${run.timezone}</dd>
<dt>Organisation</dt><dd>${showText(run.organisation)}</dd>
${
  rosterSource === null
    ? noMarkup
    : html`<dt>Roster</dt><dd>${showText(rosterSource.source)}, read ${showTime(rosterSource.importedAt, run)}: ${describeSnapshot(rosterSource)}</dd>
<dt>Roster digest</dt><dd>${showDigest(rosterSource.digest)}</dd>`
}
<dt>Settings digest</dt><dd>${showDigest(evidence.settingsDigest)}</dd>
${
  evidence.cadence === null
    ? noMarkup
    : html`<dt>Screening frequency</dt><dd>${describeCadence(evidence.cadence)}${evidence.cadence.reason === null ? noMarkup : html`: ${showText(evidence.cadence.reason)}`}</dd>
`
}${
  report.details.counts === null || !hasDetails(report.details.counts)
    ? noMarkup
    : html`<dt>Details</dt><dd>${describeDetails(report.details.counts)}</dd>
`
}<dt>Service key</dt><dd>${run.mode}${evidence.keyFingerprint === '' ? ', not used' : html`, fingerprint <code>${evidence.keyFingerprint}</code>`}</dd>
<dt>Version</dt><dd>Nightscreen ${run.version}</dd>
<dt>Files</dt><dd>report.xlsx, changes.csv, not-screened.csv, rejects.csv and report.json in the folder of this page; SHA256SUMS and manifest.json contain their digests</dd>
</dl>`,
  );
}

const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src ${reportScriptSource}; base-uri 'none'; form-action 'none'`;

/** Browsers open larger pages slowly, and mail servers reject them. */
const pageBytes = 5_000_000;

const sections: readonly ((report: Report, shown: readonly ShownGroup[]) => Markup | Promise<Markup>)[] = [
  showWaiting,
  showChanges,
  showCoverage,
  showHistory,
  showEvidence,
];

/**
 * `report.html` in chunks: one page that needs no network, no other file and no script, and prints on A4. Further sanction hits get the bytes
 * that the rest of the page leaves.
 */
export async function* renderHtml(report: Report): AsyncGenerator<string> {
  const shown = await chooseShown(report);
  const body: string[] = [];
  for (const show of sections) body.push(String(await show(report, shown)));
  const hasSection = (id: string): boolean => body.some((part) => part.includes(`<section id="${id}"`));
  const parts = [
    String(await showHead(report)),
    String(await showOpening(report, hasSection)),
    ...body,
    `\n</main>\n<script>${reportScript}</script>\n</body>\n</html>\n`,
  ];
  const room = {
    bytes: pageBytes - placeBytes - parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0),
    hits: shown.reduce((sum, { furtherHits }) => sum + furtherHits, 0),
  };
  for (const part of parts) {
    const [text = '', ...places] = part.split(furtherHitsPattern);
    yield text;
    for (let place = 0; place < places.length; place += 3) {
      const [section, severity, after = ''] = places.slice(place, place + 3);
      const here = shown.find((one) => one.section === section && one.group.severity === severity);
      if (here) yield* renderFurtherHits(here, room);
      yield after;
    }
  }
}

// The markup around the further hits, in all places together.
const placeBytes = 20_000;

function showHead(report: Report): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${raw(policy)}">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${report.run.mode === 'test' ? 'TEST: not evidence. ' : ''}${report.verdict.level.toUpperCase()}: ${toTitle(report)}</title>
<style>${raw(reportStyle)}${raw(toPageStyle(report.run))}</style>
</head>
<body class="${report.verdict.level}">
<main>`;
}

async function chooseShown(report: Report): Promise<readonly ShownGroup[]> {
  const { changes, baseline, cut } = report;
  const findCode = toFindCode(report);
  const shown: ShownGroup[] = [];
  for (const group of changes ?? []) shown.push({ ...(await chooseLines('changes', group, cut.changes)), findCode });
  for (const group of baseline) shown.push({ ...(await chooseLines('baseline', group, cut.baseline)), findCode });
  return shown;
}

async function chooseLines(section: ShownGroup['section'], group: ChangeGroup, cut: TruncatedMatches | null) {
  const { severity, single, singleCount, sanctionHits, changes } = group;
  const wanted = Math.min(shownLines, singleCount);
  const first =
    cut === null || single.length >= wanted ? single.slice(0, wanted) : await readFirst(cut.readOf(severity), wanted);
  const inFull = new Set(first.map(({ changeId }) => changeId));
  const isFurther = ({ changeId, isSanctionHit }: MatchChangeFacts): boolean => isSanctionHit && !inFull.has(changeId);
  const readFurtherHits = async function* () {
    yield changes.filter(isFurther);
    if (cut !== null) for await (const batch of cut.readSanctionHits(severity)) yield batch.filter(isFurther);
  };
  const furtherHits = sanctionHits - first.filter(({ isSanctionHit }) => isSanctionHit).length;
  return { section, group, first, furtherHits, readFurtherHits, place: raw(`<!--further ${section} ${severity}-->`) };
}

async function readFirst(
  batches: AsyncIterable<readonly MatchChangeFacts[]>,
  wanted: number,
): Promise<readonly MatchChangeFacts[]> {
  const found: MatchChangeFacts[] = [];
  if (wanted === 0) return found;
  for await (const batch of batches) {
    found.push(...batch.filter(({ cluster }) => cluster === undefined));
    if (found.length >= wanted) break;
  }
  return found.slice(0, wanted);
}

function toFindCode({ toReview }: Report): ShownGroup['findCode'] {
  const toKey = (reference: string, name: string, matchId: string): string =>
    JSON.stringify([reference, name, matchId]);
  const marks = new Map(
    (toReview?.alerts ?? []).map(({ party, listed, mark }) => [toKey(party.reference, party.name, listed.id), mark]),
  );
  return ({ party, matchId }) =>
    marks.size === 0 ? null : (marks.get(toKey(party.reference, party.name, matchId)) ?? null);
}

/** Finds the places of further hits; texts from outside are escaped and cannot match. */
const furtherHitsPattern = /<!--further (\w+) (\w+)-->/;

// About the size of the shortest line; this much is reserved for each hit to come.
const shortLineBytes = 90;

/**
 * The sanction hits that are not shown in full: a row each while the others still fit as short rows, then short rows, then only their number.
 * Reduces `room`.
 */
async function* renderFurtherHits(shown: ShownGroup, room: { bytes: number; hits: number }): AsyncGenerator<string> {
  const kinds = new Map<string, string[]>();
  const short: string[] = [];
  let unshown = 0;
  for await (const batch of shown.readFurtherHits()) {
    for (const change of batch) {
      const row = toRow(change, shown.findCode(change));
      room.hits -= 1;
      if (room.bytes - Buffer.byteLength(row) >= room.hits * shortLineBytes) {
        const heading = `<tbody data-cause="${change.cause}">\n<tr class="kind"><th colspan="6" scope="rowgroup">${escapeXml(`${describeChange(change)}; ${causeWords[change.cause]}`)}\n`;
        const rows = kinds.get(heading);
        if (rows) rows.push(row);
        else kinds.set(heading, [row]);
        room.bytes -= Buffer.byteLength(row);
        continue;
      }
      const line = toShortLine(change);
      room.bytes -= Buffer.byteLength(line);
      if (room.bytes >= 0) short.push(line);
      else unshown += 1;
    }
  }
  const { first, group, furtherHits } = shown;
  yield* renderRows(kinds);
  yield* renderShortLines(short);
  if (unshown > 0) {
    yield `<p class="rest alarm" role="note">${countNoun(unshown, 'further sanction hit')} of this severity ${unshown === 1 ? 'is' : 'are'} not on this page, because it would become too large to open. All of them are in <code>changes.csv</code>.</p>\n`;
  }
  yield String(await showRest(first.length, furtherHits - unshown, group.singleCount, 'changes.csv'));
}

function* renderRows(kinds: ReadonlyMap<string, readonly string[]>): Generator<string> {
  if (kinds.size === 0) return;
  const count = [...kinds.values()].reduce((sum, rows) => sum + rows.length, 0);
  yield `<table class="list hits">
<caption>${countNoun(count, 'further sanction hit')}, one line each. An arrow shows a change from before to now. The file changes.csv has all fields.</caption>
<thead><tr><th scope="col">Customer</th><th scope="col">Name</th><th scope="col">Listed party</th><th scope="col">Risk category</th><th scope="col">Score</th><th scope="col">Alert</th></tr></thead>
`;
  for (const [heading, rows] of kinds) yield `${heading}${rows.join('')}</tbody>\n`;
  yield '</table>\n';
}

function* renderShortLines(lines: readonly string[]): Generator<string> {
  if (lines.length === 0) return;
  yield String(html`<p class="rest" role="note">The page would become too large to open with all sanction hits in full: ${countNoun(lines.length, 'further hit')} ${lines.length === 1 ? 'has' : 'have'} customer and listed party only. All other fields are in <code>changes.csv</code>.</p>
`);
  yield `<table class="list hits short">
<caption>${countNoun(lines.length, 'further sanction hit')}, customer and listed party only</caption>
<thead><tr><th scope="col">Customer</th><th scope="col">Name</th><th scope="col">Listed party</th></tr></thead>
<tbody>
${lines.join('')}</tbody>
</table>
`;
}

function toRow(change: MatchChangeFacts, code: string | null): string {
  const { party, before, after } = change;
  const show = (toFact: (match: Match) => string): string => {
    const [was, is] = [before, after].map((match) => match && toFact(match));
    return toCellText(was != null && is != null && was !== is ? `${was} → ${is}` : (is ?? was ?? ''));
  };
  const name = party.role === 'customer' ? party.name : `${party.name} (${roleWords[party.role]})`;
  return `<tr><th>${toCellText(party.reference)}<td>${toCellText(name)}<td>${show((match) => match.name)}<td>${show(describeTopics)}<td>${show(({ score }) => String(score))}<td>${toCellText(code ?? '')}\n`;
}

const describeTopics = ({ topics }: Match): string => topics.map(describeTopic).join(', ');

const toShortLine = ({ party, before, after }: MatchChangeFacts): string =>
  `<tr><th>${toCellText(party.reference)}<td>${toCellText(party.name)}<td>${toCellText((after ?? before)?.name ?? '')}\n`;

/** The page's style sheet: light and dark, screen and A4. */
const reportStyle = `
:root{--paper:#fcfbf8;--ink:#1d1c1a;--muted:#5c5850;--rule:#d9d4c9;--wash:#f3f0e9;--mark:#fff1c2;--former:#b9b2a3;--link:#1f4e79;
--critical:#8f1d1d;--high:#9a4207;--medium:#735600;--low:#3b5a70;--info:#5c5850;--complete:#22613b;--partial:#8a5200;--red:#8f1d1d;
--sans:system-ui,-apple-system,"Segoe UI","Noto Sans","Helvetica Neue",Arial,"PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif;
--serif:"Iowan Old Style","Palatino Linotype",Palatino,Georgia,"Noto Serif","Liberation Serif",serif;
--mono:ui-monospace,"Cascadia Mono","SF Mono",Consolas,"Noto Sans Mono","DejaVu Sans Mono",monospace}
@media screen and (prefers-color-scheme:dark){:root{--paper:#161513;--ink:#ece8df;--muted:#aba597;--rule:#3b3832;--wash:#211f1b;--mark:#453a14;--former:#5f5a50;--link:#9cc4ea;
--critical:#ff9f94;--high:#f6b077;--medium:#e3c566;--low:#a3c1d9;--info:#aba597;--complete:#8fd0a5;--partial:#f0b766;--red:#ff9f94}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:.94rem/1.5 var(--sans);font-variant-numeric:tabular-nums lining-nums;-webkit-print-color-adjust:exact;print-color-adjust:exact}
body.complete{--level:var(--complete)}body.partial{--level:var(--partial)}body.red{--level:var(--red)}
main{max-width:70rem;margin:0 auto;padding:1.6rem 2rem 4rem}
h1,h2,h3,.headline{font-family:var(--serif);font-weight:600;text-wrap:balance}
h1{font-size:1.9rem;line-height:1.15;margin:.2rem 0 .3rem}
h2{font-size:1.4rem;margin:2.6rem 0 .8rem;padding-top:.7rem;border-top:2px solid var(--ink)}
h3{font-size:1.1rem;margin:1.8rem 0 .6rem}
h4{font-size:1rem;margin:0}
p{margin:0 0 .7rem}
a{color:var(--link)}
time,.whole{white-space:nowrap}
code{font-family:var(--mono);font-size:.86em;overflow-wrap:anywhere}
small,caption,.muted,dt{color:var(--muted)}
small{font-size:.86em}
.masthead{font-size:.8rem;letter-spacing:.14em;text-transform:uppercase;color:var(--muted);margin-bottom:1rem;display:flex;justify-content:space-between;border-bottom:1px solid var(--rule);padding-bottom:.5rem}
.test,.accepted{border:2px dashed var(--high);color:var(--high);padding:.55rem .9rem;margin:1.2rem 0 0}
.verdict{border-left:6px solid var(--level);padding:.2rem 0 .2rem 1.2rem;margin:1.2rem 0}
.level{color:var(--level);font-weight:700;margin:0;letter-spacing:.04em}.level span{color:var(--ink);font-weight:400;letter-spacing:0;margin-left:.7rem}
.headline{font-size:1.55rem;line-height:1.25;margin:.1rem 0 .35rem}
.news{margin:0;font-size:1.05rem}
.figures{display:flex;flex-wrap:wrap;gap:.3rem 2.2rem;margin:.5rem 0 .8rem}.figures .term b{font-size:1.9rem;line-height:1.15}.urgent b{color:var(--critical)}
.verdict ul{margin:.6rem 0 0;padding-left:1.1rem}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.5rem;margin:0;padding:0;font-size:.92rem}
.quiet{font-size:1.05rem;margin-bottom:.4rem}
table{border-collapse:collapse;width:100%;margin:0 0 .8rem}
caption{text-align:left;padding:0 0 .4rem;font-size:.92rem}
th,td{text-align:left;vertical-align:top;padding:.38rem .9rem .38rem 0;border-bottom:1px solid var(--rule);overflow-wrap:anywhere}
th:last-child,td:last-child{padding-right:0}
thead th{font-size:.84rem;font-weight:600;color:var(--muted);border-bottom-color:var(--ink);overflow-wrap:normal}
tbody th{font-weight:400}
.number{text-align:right;white-space:nowrap;padding-right:1.6rem}thead th.number{white-space:normal}
.list{table-layout:fixed}
.list .number{width:5.5rem;padding-right:.9rem}.list .number:last-child{padding-right:0}.list thead th:first-child:not(.number){width:26%}.hits thead th:first-child:not(.number){width:14%}
.list.kinds thead th:first-child{width:44%}.list.kinds thead th:nth-child(2){width:12%}.list.dossiers code{font-size:.8em}.list.dossiers thead th:nth-child(2){width:30%}.list.compared thead th:nth-child(2),.list.compared thead th:nth-child(3){width:13%}.list.compared thead th:nth-child(4){width:28%}.list.compared code{font-size:.8em}
.reference{font-family:var(--mono);font-size:.86em;font-weight:600;margin-right:.35em}
.none{color:var(--muted)}
.rest{font-weight:600}
.states th[scope=row]{font-weight:600;white-space:nowrap}
.states .share{position:relative;width:11rem}
.track{position:absolute;left:0;right:5.6rem;top:.62rem}
.bar{display:block;height:.75rem;min-width:1px;background:var(--bar,var(--muted));opacity:.75}
.zero .bar{display:none}
.zero,.zero th,.states .zero th[scope=row]{color:var(--muted);font-weight:400}
.states .meaning{color:var(--muted);width:47%}
.state-open_alert,.state-true_match{--bar:var(--critical)}
.state-not_screened,.state-truncated{--bar:var(--partial)}
.state-open_alert:not(.zero) th,.state-open_alert:not(.zero) .number,.state-true_match:not(.zero) th{color:var(--critical);font-weight:700}
.state-not_screened:not(.zero) th,.state-not_screened:not(.zero) .number,.state-truncated:not(.zero) th{color:var(--partial);font-weight:700}
.states tfoot th,.states tfoot td{border-top:1px solid var(--ink);border-bottom:3px double var(--ink);font-weight:700}
.sums{margin:1.4rem 0 1rem}
.sum{display:flex;flex-wrap:wrap;align-items:flex-start;gap:.2rem .8rem;margin:0 0 .7rem}
.term{display:inline-flex;flex-direction:column;min-width:5.4rem}
.term b{font:600 1.3rem/1.2 var(--serif)}
.term i{font-style:normal;font-size:.84rem;color:var(--muted)}
.step{display:inline-flex;gap:.8rem}
.sign{font:400 1.2rem/1.35 var(--serif);color:var(--muted)}
.severity{--tone:var(--info)}
.severity.critical{--tone:var(--critical)}.severity.high{--tone:var(--high)}.severity.medium{--tone:var(--medium)}.severity.low{--tone:var(--low)}
.severity h3{border-bottom:1px solid var(--tone);padding-bottom:.25rem}
.label{color:var(--tone)}
h3 .muted{font:400 .9rem var(--sans);margin-left:.4rem}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);padding:0}
.change{border-left:3px solid var(--tone);padding:.1rem 0 .1rem 1rem;margin:.9rem 0 1.3rem}
.who{font-weight:400;margin-left:.5rem;overflow-wrap:anywhere}
.compare{table-layout:fixed;margin:.25rem 0 0;font-size:.9rem}
.why{margin:.3rem 0 0;font-size:.84rem;color:var(--muted)}
.alert{margin:.35rem 0 0;font-size:.86rem}
.compare th,.compare td{padding:.2rem .5rem .2rem .4rem}
.compare tr>:first-child{width:6.6rem;padding-left:0;color:var(--muted)}
.compare thead th:nth-child(2){width:22%}.compare thead th:nth-child(3){width:18%}.compare thead th:nth-child(4){width:11%}.compare thead th:nth-child(6){width:11%}.compare thead th:nth-child(7){width:8%}.compare thead th:nth-child(8){width:10%}
.compare thead td{border-bottom-color:var(--ink)}
.compare .absent{color:var(--muted);font-style:italic;background:var(--wash)}
.compare .marked{background:var(--mark)}
.compare .marked.now{font-weight:700}
.case{margin:0 0 1.1rem}.case h3{margin:1rem 0 0;font-family:var(--sans);font-size:.98rem;overflow-wrap:anywhere}
.case .label{font-size:.84rem;margin-right:.4rem}
.alerts{table-layout:fixed;margin:0;font-size:.9rem}.alerts th,.alerts td{padding:.3rem .8rem .3rem 0}.alerts col:nth-child(1){width:34%}.alerts col:nth-child(2){width:16%}.alerts col:nth-child(3){width:34%}.alerts td:last-child{padding-right:0}
.late{color:var(--critical)}
.lines{font-size:.86rem}.lines th,.lines td{padding:.22rem .7rem .22rem 0}.lines.list thead th:first-child{width:23%}.lines thead th:nth-child(2){width:19%}.lines thead th:nth-child(3){width:21%}.lines thead th:nth-child(5){width:16%}.lines code{white-space:nowrap}
.note{font-weight:400;font-size:.8rem;color:var(--muted);white-space:nowrap}
.chip{display:inline-block;border:1px solid var(--muted);border-radius:.7em;padding:0 .55em;margin:.05rem 0;max-width:100%;font-size:.86rem;font-weight:400;overflow-wrap:break-word}
.marked.now .chip.differs,strong .chip.differs{border-color:var(--critical);color:var(--critical);font-weight:700;box-shadow:inset 0 0 0 1px var(--critical)}
.marked.before .chip.differs{text-decoration:line-through}
.agreement{font-size:.8rem;white-space:nowrap}.agreement.agree{color:var(--critical);font-weight:700}.agreement.contradict{color:var(--muted)}
.alarm{color:var(--red)}
dl{display:grid;grid-template-columns:11rem 1fr;gap:.3rem 1rem;margin:0}
dd{margin:0;overflow-wrap:anywhere}
@media screen and (max-width:52rem){main{padding:1.4rem 1rem 3rem}h1{font-size:1.6rem}.states .meaning{display:none}.states th[scope=row]{white-space:normal}.states .share{width:6rem}dl{grid-template-columns:1fr}dd{margin-bottom:.5rem}.label{white-space:nowrap}
.compare thead,.list thead{display:none}.compare,.compare tbody,.alerts,.alerts tbody,.list,.list tbody,.list caption{display:block}.compare tr,.alerts tr,.list tr{display:block;border-bottom:1px solid var(--ink);padding:.25rem 0}.compare th,.compare td,.alerts tbody th,.alerts td,.alerts td:last-child,.list tbody th,.list td,.list td.number{display:block;width:auto;border:0;padding:.1rem 0;text-align:left}.compare tr>:first-child{width:auto}.compare td:has(>.none:only-child),.list td:empty{display:none}.compare td[data-label]::before,.list td[data-label]::before{content:attr(data-label) " ";color:var(--muted)}.list td[data-label]::before{margin-right:.35em}
.pair .list{display:table}.pair .list{table-layout:auto}.pair .list thead{display:table-header-group}.pair .list caption{display:table-caption}.pair .list tbody{display:table-row-group}.pair .list tr{display:table-row}.pair .list tbody th,.pair .list td{display:table-cell;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--rule)}.pair .list td.number{text-align:right}.pair .list td::before{display:none}
.hits td:nth-child(2)::before{content:"Name "}.hits td:nth-child(3)::before{content:"Listed party "}.hits td:nth-child(4)::before{content:"Risk category "}.hits td:nth-child(5)::before{content:"Score "}.waits td:nth-child(5)::before{content:"Severity, due "}.hits td:nth-child(6)::before{content:"Alert "}.hits td::before{color:var(--muted);font-family:var(--sans)}}
[hidden]{display:none!important}
.tools{display:flex;flex-wrap:wrap;gap:.5rem 1.2rem;align-items:end;border-top:1px solid var(--rule);border-bottom:1px solid var(--rule);padding:.7rem 0;margin:1.2rem 0}
.tools label{display:flex;flex-direction:column;font-size:.84rem;color:var(--muted)}
.tools input,.tools select{font:inherit;font-size:.94rem;color:var(--ink);background:var(--paper);border:1px solid var(--muted);border-radius:3px;padding:.25rem .45rem;min-height:2.1rem}
.tools output{font-size:.92rem;padding-bottom:.35rem}
.list th button{all:unset;cursor:pointer;text-decoration:underline dotted;text-underline-offset:.2em}
.list th[aria-sort=ascending] button::after{content:" ↑"}.list th[aria-sort=descending] button::after{content:" ↓"}
:focus-visible,.list th button:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.pair{display:grid;grid-template-columns:repeat(auto-fill,minmax(18rem,26rem));gap:0 2.5rem}
.plain{padding-left:1.1rem;margin:0}
.clusters{padding-left:1.1rem;margin:0}.clusters li{margin-bottom:.6rem}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:1.6rem 2.2rem;margin-bottom:1.4rem}
figure{margin:0}figcaption{margin-bottom:.35rem}figcaption .muted,figure p{font-size:.86rem}figure p{margin:.25rem 0 0}figure strong{font:600 1.05rem var(--serif)}
svg{display:block;width:100%;height:auto}.former{fill:var(--former)}.now{fill:var(--link)}.part{fill:var(--critical)}.base{stroke:var(--muted);stroke-width:.6;fill:none}
summary{cursor:pointer;margin-bottom:.6rem}
.hits{font-size:.84rem;line-height:1.4}.hits th,.hits td{padding:.12rem .7rem .12rem 0;unicode-bidi:plaintext}.hits tbody th{font:600 .92em var(--mono)}.hits tbody .kind th{font:600 .92rem var(--sans);padding-top:.7rem}
.hits thead th:nth-child(4){width:20%}.hits thead th:nth-child(5){width:9%}.hits thead th:nth-child(6){width:16%}.hits td:nth-child(6){font:.86em var(--mono)}
details .list{font-size:.84rem}details .list .number{width:auto}
@media print{.lines{font-size:.8rem}.waits.hits thead th:first-child{width:8%}.waits thead th:nth-child(4){width:21%}.waits thead th:nth-child(5){width:13.5%}.waits thead th:nth-child(6){width:15%}.waits.hits{font-size:.78rem}.waits tbody th,.waits td{padding-right:.4rem}:root{--paper:#fff}html{font-size:11px}body{line-height:1.35}main{max-width:none;padding:0}nav,.tools,details{display:none!important}.change{margin:.5rem 0 .8rem}.alert,.why{display:inline;margin:0}.case{margin:0 0 .5rem}.case h3{margin:.5rem 0 0}.chip{border:0;padding:0;font-size:inherit}.chip:has(+ .chip)::after{content:","}.chip.differs{box-shadow:none!important}.compare th,.compare td,.lines th,.lines td{padding-top:.1rem;padding-bottom:.1rem}.hits{line-height:1.3}.charts{grid-template-columns:repeat(3,1fr)}figure{break-inside:avoid}.list th button{display:contents}h2{margin-top:2rem}
h2,h3,h4,.who{break-after:avoid}.change{display:flow-root}thead{display:table-header-group;break-inside:avoid}tfoot{display:table-row-group}tr,.change,.case,.verdict,.sum,.states,.pair,.charts{break-inside:avoid}a{color:inherit;text-decoration:none}}
`;

/** The margins of each printed page: the run, the page number, and a warning for a test key. */
function toPageStyle({ runId, mode }: Report['run']): string {
  // A text from outside must not end the CSS string.
  const run = runId.replace(/[^\w.-]/g, '');
  const test =
    mode === 'test' ? '@top-center{content:"TEST: not evidence";color:#9a4207;font:700 9pt system-ui,sans-serif}' : '';
  return `@page{size:A4;margin:16mm 14mm 18mm;${test}@bottom-left{content:"${run}";color:#5c5850;font:8pt system-ui,sans-serif}@bottom-right{content:counter(page) " / " counter(pages);color:#5c5850;font:8pt system-ui,sans-serif}}
`;
}
