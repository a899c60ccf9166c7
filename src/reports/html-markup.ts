import { html, raw } from 'hono/html';
import type { Match } from '../matches/match.js';
import type { MatchChangeFacts, PartyFacts } from './list-facts.js';
import type { RunIdentity } from './report.js';
import { countNoun, formatCount, formatTime, toVisibleText } from './text.js';
import { describeTopic } from './words.js';

/** Escaped HTML. */
export type Markup = ReturnType<typeof html>;

/** Nothing at all. */
export const noMarkup: Markup = raw('');

/** A text that came from outside, set apart so that its direction does not disturb its surroundings. */
export function showText(text: string): Markup {
  return html`<bdi>${toVisibleText(text)}</bdi>`;
}

/** The firm's own reference of a customer. */
export function showReference(reference: string): Markup {
  return html`<bdi class="reference">${toVisibleText(reference)}</bdi>`;
}

/** Several texts with commas between them, or a dash. */
export function showTexts(texts: readonly string[]): Markup {
  if (texts.length === 0) return showNone();
  return html`${texts.map((text, index) => html`${index === 0 ? '' : ', '}${showText(text)}`)}`;
}

/** The mark for a value that is not there. */
export function showNone(): Markup {
  return html`<span class="none" title="none">–</span>`;
}

/** An instant in UTC. */
export function showTime(instant: Date): Markup {
  return html`<time datetime="${instant.toISOString()}">${formatTime(instant)}</time>`;
}

/** Who a line is about: the firm's own reference, the name, and the role when it is not the customer itself. */
export function showParty(party: PartyFacts): Markup {
  const role =
    party.role === 'customer' ? noMarkup : html` <span class="muted">(${party.role.replaceAll('_', ' ')})</span>`;
  return html`${showReference(party.reference)} ${showText(party.name)}${role}`;
}

/** A section of the page with its heading. */
export function section(id: string, title: string, body: Markup): Markup {
  return html`
<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}
</section>`;
}

/** A column of a table on the page; the first column names its row. */
export interface TableColumn<Line> {
  title: string;
  numeric?: boolean;
  cell: (line: Line) => Markup | string;
}

/** How many lines of a long list the page shows in full; the files hold all of them. */
export const shownLines = 200;

/**
 * A table with a caption for readers of any kind: the first `shownLines` lines, or all without `file`, and a note when `count`, which is
 * how many there are in all, is more than that; `toAttributes` gives attributes of a line's row, `name` is one more class of the table.
 */
export function showTable<Line>(
  caption: string,
  columns: readonly TableColumn<Line>[],
  lines: readonly Line[],
  file: string | null,
  {
    count = lines.length,
    toAttributes = () => noMarkup,
    name = '',
  }: { count?: number; toAttributes?: (line: Line) => Markup; name?: string } = {},
): Markup {
  const shown = file === null ? lines : lines.slice(0, shownLines);
  return html`<table class="list${name === '' ? '' : ` ${name}`}">
<caption>${caption}</caption>
<thead><tr>${columns.map((column) => html`<th scope="col"${toClass(column)}>${column.title}</th>`)}</tr></thead>
<tbody>
${shown.map((line) => showRow(columns, line, toAttributes(line)))}</tbody>
</table>
${file === null ? noMarkup : showRest(shown.length, 0, count, file)}`;
}

/** Says how many of `count` lines the page leaves out when it shows the first ones and so many hits for sanctions beside; nothing when all are shown. */
export function showRest(first: number, sanctionHits: number, count: number, file: string): Markup {
  if (first + sanctionHits === count) return noMarkup;
  if (first + sanctionHits === 0) return html`<p class="rest">All of them are in <code>${file}</code>.</p>`;
  const beside = sanctionHits === 0 ? '' : ` and ${countNoun(sanctionHits, 'further sanction hit')}`;
  return html`<p class="rest">The first ${formatCount(first)} of ${formatCount(count)}${beside} are shown; all of them are in <code>${file}</code>.</p>`;
}

function showRow<Line>(columns: readonly TableColumn<Line>[], line: Line, attributes: Markup): Markup {
  return html`<tr${attributes}>${columns.map((column, index) =>
    index === 0
      ? html`<th scope="row"${toClass(column)}>${column.cell(line)}</th>`
      : html`<td${toClass(column)}>${column.cell(line)}</td>`,
  )}</tr>
`;
}

const toClass = <Line>(column: TableColumn<Line>): Markup =>
  column.numeric === true ? raw(' class="number"') : noMarkup;

/** What the page's script filters and sorts a change by: cause, score, and since when its item waits. */
export function showKeys({ cause, after, before, item }: MatchChangeFacts): Markup {
  const since = item === null ? '' : html` data-since="${item.openedAt.toISOString().slice(0, 16)}"`;
  return html` data-cause="${cause}" data-score="${(after ?? before)?.score ?? 0}"${since}`;
}

/** The topics of a match as chips; those that the other side of the comparison lacks are marked. */
export function showTopics(match: Match, other: Match | null): Markup {
  if (match.topics.length === 0) return showNone();
  return html`${match.topics.map((topic) => {
    const differs = other !== null && !other.topics.includes(topic);
    return html`<span class="chip${differs ? ' differs' : ''}" title="${toVisibleText(topic)}"><bdi>${toVisibleText(describeTopic(topic))}</bdi></span> `;
  })}`;
}

/** Country codes in capitals. */
export function showCountries(countries: readonly string[]): Markup {
  return showTexts(countries.map((country) => country.toUpperCase()));
}

/** The page's style sheet: light and dark, screen and A4. */
export const reportStyle = `
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
.number{text-align:right;white-space:nowrap;padding-right:1.6rem}
.list{table-layout:fixed}
.list .number{width:5.5rem;padding-right:.9rem}.list .number:last-child{padding-right:0}.list thead th:first-child:not(.number){width:26%}.hits thead th:first-child:not(.number){width:14%}
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
.state-open_hit,.state-confirmed{--bar:var(--critical)}
.state-not_screened,.state-incompletely_seen{--bar:var(--partial)}
.state-open_hit:not(.zero) th,.state-open_hit:not(.zero) .number,.state-confirmed:not(.zero) th{color:var(--critical);font-weight:700}
.state-not_screened:not(.zero) th,.state-not_screened:not(.zero) .number,.state-incompletely_seen:not(.zero) th{color:var(--partial);font-weight:700}
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
.item{margin:.35rem 0 0;font-size:.86rem}
.compare th,.compare td{padding:.2rem .5rem .2rem .4rem}
.compare tr>:first-child{width:6.6rem;padding-left:0;color:var(--muted)}
.compare thead th:nth-child(2){width:24%}.compare thead th:nth-child(3){width:18%}.compare thead th:nth-child(4){width:11%}.compare thead th:nth-child(6){width:9%}.compare thead th:nth-child(7){width:8%}.compare thead th:nth-child(8){width:10%}
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
@media (max-width:44rem){main{padding:1.4rem 1rem 3rem}h1{font-size:1.6rem}.states .meaning{display:none}.states th[scope=row]{white-space:normal}.states .share{width:6rem}.list th,.list td{overflow-wrap:anywhere;padding-right:.45rem}dl{grid-template-columns:1fr}dd{margin-bottom:.5rem}.compare thead{display:none}.compare,.compare tbody,.alerts,.alerts tbody{display:block}.compare tr,.alerts tr{display:block;border-bottom:1px solid var(--ink);padding:.25rem 0}.compare th,.compare td,.alerts tbody th,.alerts td,.alerts td:last-child{display:block;width:auto;border:0;padding:.1rem 0}.compare tr>:first-child{width:auto}.compare td[data-label]::before{content:attr(data-label) " ";color:var(--muted)}.lines{font-size:.72rem}.chip{padding:0 .3em;border-radius:.4em;hyphens:auto}}
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
@media (max-width:44rem){.hits{font-size:.72rem}.hits th,.hits td{padding-right:.35rem}.hits thead th{overflow-wrap:normal;font-size:.68rem}.hits thead th:first-child:not(.number){width:18%}.hits thead th:nth-child(5){width:11%}.hits thead th:nth-child(6){width:14%}}
details .list{font-size:.84rem}details .list .number{width:auto}
@media print{.lines{font-size:.8rem}.waits.hits thead th:first-child{width:8%}.waits thead th:nth-child(4){width:21%}.waits thead th:nth-child(5){width:13.5%}.waits thead th:nth-child(6){width:15%}.waits.hits{font-size:.78rem}.waits tbody th,.waits td{padding-right:.4rem}:root{--paper:#fff}html{font-size:11px}body{line-height:1.35}main{max-width:none;padding:0}nav,.tools,details{display:none!important}.change{margin:.5rem 0 .8rem}.item,.why{display:inline;margin:0}.case{margin:0 0 .5rem}.case h3{margin:.5rem 0 0}.chip{border:0;padding:0;font-size:inherit}.chip:has(+ .chip)::after{content:","}.chip.differs{box-shadow:none!important}.compare th,.compare td,.lines th,.lines td{padding-top:.1rem;padding-bottom:.1rem}.hits{line-height:1.3}.charts{grid-template-columns:repeat(3,1fr)}figure{break-inside:avoid}.list th button{display:contents}h2{margin-top:2rem}
h2,h3,h4,.who{break-after:avoid}.change{display:flow-root}thead{display:table-header-group;break-inside:avoid}tfoot{display:table-row-group}tr,.change,.case,.verdict,.sum,.states,.pair,.charts{break-inside:avoid}a{color:inherit;text-decoration:none}}
`;

/** What stands in the margins of each printed page: the run, the number of the page, and that a test key is no evidence. */
export function toPageStyle({ runId, mode }: Pick<RunIdentity, 'runId' | 'mode'>): string {
  // Nothing from outside may end the string.
  const run = runId.replace(/[^\w.-]/g, '');
  const test =
    mode === 'test' ? '@top-center{content:"TEST: not evidence";color:#9a4207;font:700 9pt system-ui,sans-serif}' : '';
  return `@page{size:A4;margin:16mm 14mm 18mm;${test}@bottom-left{content:"${run}";color:#5c5850;font:8pt system-ui,sans-serif}@bottom-right{content:counter(page) " / " counter(pages);color:#5c5850;font:8pt system-ui,sans-serif}}
`;
}
