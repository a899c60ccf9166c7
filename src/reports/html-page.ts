import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import { type CustomerState, changeCauses, severities } from '../vocabulary.js';
import {
  chooseShown,
  type FindCode,
  furtherHitsPattern,
  furtherHitsPlace,
  renderFurtherHits,
  type ShownGroup,
  showBaseline,
  showChangeCard,
  showChangeList,
  toFindCode,
} from './html-changes.js';
import { showHeld, showNotScreened, showReconciliations, showRejects } from './html-coverage.js';
import { showDossiers, showHealth, showSpan, showTrend } from './html-history.js';
import {
  type Markup,
  noMarkup,
  reportStyle,
  section,
  showParty,
  showTable,
  showText,
  showTime,
  type TableColumn,
  toPageStyle,
} from './html-markup.js';
import { showGroups, showOpening } from './html-opening.js';
import { showWaiting } from './html-waiting.js';
import { type DetailLookup, type DroppedPartyFacts, hasDetails, listDetailsOf } from './list-facts.js';
import type { Sum } from './list-sums.js';
import { describeReason, describeSnapshot } from './reasons.js';
import { type Coverage, type Report, type Tally, toTitle } from './report.js';
import { countNoun, formatCount } from './text.js';
import { causeWords, describeCadence, describeDetails, severityWords, stateWords } from './words.js';

/** The page's script: filters and sorts the changes, sorts tables by their headers. Without it everything is there to be read. */
export const reportScript = `
'use strict';
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const fold = (text) => text.normalize('NFKD').replace(/\\p{M}/gu, '').toLowerCase();
  const order = new Intl.Collator('en', { numeric: true });

  const tools = document.querySelector('.tools');
  if (tools) {
    const [text, severity, cause, sort, told] = ['text', 'severity', 'cause', 'sort', 'told'].map((name) => tools.querySelector('[data-tool=' + name + ']'));
    const lines = all('#changes [data-score], #changes .hits tbody tr:not(.kind)').map((element, place) => ({
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
      told.textContent = filtered ? shown.toLocaleString('en') + ' of ' + lines.length.toLocaleString('en') + ' on this page' : '';
    };
    const arrange = () => {
      for (const line of [...lines].sort(by[sort.value])) line.list.append(line.element);
    };
    tools.hidden = false;
    text.addEventListener('input', filter);
    severity.addEventListener('change', filter);
    cause.addEventListener('change', filter);
    sort.addEventListener('change', arrange);
    filter();
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

/** The source that the page's policy allows for its script. */
const reportScriptSource = `'sha256-${createHash('sha256').update(reportScript).digest('base64')}'`;

const asCards: ReadonlySet<string> = new Set(['critical', 'high']);

/** So many changes of a severity are compared in full; further ones have a line each, like all of lesser severities. */
const cardsInFull = 20;

/** What changed, by severity: the first serious ones as comparisons, all others one line each. */
function showChanges(report: Report, shown: readonly ShownGroup[]): Markup {
  const { changes } = report;
  if (changes === null) return noMarkup;
  const findCode = toFindCode(report);
  const single = changes.reduce((sum, group) => sum + group.singleCount, 0);
  return section(
    'changes',
    'What changed',
    html`${showTotal(changes, report)}${showCarriedOver(report)}${changes.length === 0 ? showQuiet(report) : noMarkup}${showTools(single)}${shown
      .filter((one) => one.section === 'changes')
      .map((one) => showGroup(one, report.details.lookups, { now: report.run.finishedAt, findCode }))}`,
  );
}

function showTotal(changes: NonNullable<Report['changes']>, { run }: Report): Markup {
  const total = changes.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return noMarkup;
  const since = run.comparedWith === null ? noMarkup : html` since ${showTime(run.comparedWith.finishedAt)}`;
  return html`<p class="quiet">${countNoun(total, 'change')}${since}. What of it is to be decided is among what waits.</p>
`;
}

function showCarriedOver({ carriedFrom }: Report): Markup {
  if (carriedFrom.length === 0) return noMarkup;
  return html`<p class="muted">Includes what earlier runs found and no report had told: ${carriedFrom
    .map((run) => `${run.runId} (${countNoun(run.changes + run.baseline, 'finding')})`)
    .join(', ')}.</p>`;
}

function showGroup(
  shown: ShownGroup,
  lookups: readonly DetailLookup[],
  { now, findCode }: { now: Date; findCode: FindCode },
): Markup {
  const cards = asCards.has(shown.group.severity) ? shown.first.slice(0, cardsInFull) : [];
  const lines = shown.first.slice(cards.length);
  const { group } = shown;
  const { severity, count, singleCount } = group;
  const grouped = count - singleCount;
  return html`
<section class="severity ${severity}" aria-label="${severityWords[severity]}">
<h3><span class="label">${severityWords[severity]}</span> <span class="muted">${countNoun(count, 'change')}${grouped === 0 ? '' : `, ${formatCount(grouped)} of them told under Groups and drift`}</span></h3>
${cards.length === 0 ? noMarkup : html`<div class="cards">${cards.map((change) => showChangeCard(change, listDetailsOf(lookups, change.matchId), { now, code: findCode(change) }))}</div>`}${lines.length === 0 ? noMarkup : showChangeList(lines, findCode)}
${furtherHitsPlace(shown)}
</section>`;
}

function showQuiet(report: Report): Markup {
  const { coverage } = report;
  const counts = coverage?.counts;
  if (counts === undefined) return html`<p>No match changed.</p>`;
  if (counts.screened + counts.reused === 0) {
    return html`<p class="quiet">Nobody was screened in this run: nothing was compared.</p>`;
  }
  const missing = coverage?.states?.find(({ code }) => code === 'not_screened')?.count ?? 0;
  const rest = missing === 0 ? '' : `; of the ${countNoun(missing, 'customer')} not screened nothing is known`;
  return html`<p class="quiet">${missing === 0 ? 'No match changed' : 'Among those screened no match changed'}${rest}.</p>
<p class="muted">Checked: ${countNoun(counts.screened + counts.reused, 'customer')} with ${countNoun(counts.searches, 'search', 'searches')}, ${formatCount(counts.matches)} matches in the answers, ${formatCount(counts.hits)} of them flagged as hits (an answer that serves several customers counts once)${report.run.comparedWith === null ? '' : ', each compared with what was last reported'}.</p>`;
}

// Fewer than these are seen at a glance.
const worthFiltering = 4;

/** Fields to filter and sort so many changes, hidden until the page's script shows them; nothing for a few changes. */
function showTools(changes: number): Markup {
  if (changes < worthFiltering) return noMarkup;
  return html`<div class="tools" role="group" aria-label="Filter and sort the changes" hidden>
<label>Find <input type="search" data-tool="text" autocomplete="off" spellcheck="false" placeholder="customer, name, topic"></label>
<label>Severity <select data-tool="severity"><option value="">all</option>${severities.map((severity) => html`<option value="${severity}">${severityWords[severity]}</option>`)}</select></label>
<label>Cause <select data-tool="cause"><option value="">all</option>${changeCauses.map((cause) => html`<option value="${cause}">${causeWords[cause]}</option>`)}</select></label>
<label>Order <select data-tool="sort"><option value="listed">as listed</option><option value="customer">by customer</option><option value="score">highest score first</option><option value="since">waiting longest first</option></select></label>
<output data-tool="told" aria-live="polite"></output>
</div>
`;
}

/** Coverage: each customer in exactly one state, and the sums that prove that nobody was lost. */
function showCoverage(report: Report): Markup {
  const { coverage } = report;
  if (coverage === null) return noMarkup;
  return section(
    'coverage',
    'Coverage',
    html`${coverage.states === null ? noMarkup : showStates(coverage.states, coverage.counts.inScope)}
<div class="sums">
${coverage.sums.map(showSum)}
</div>
${showFormerRoster(coverage)}${showReasons(coverage)}
<p class="muted">Every sum on this page holds; a report whose sums do not hold is not written.</p>`,
  );
}

function showStates(states: readonly Tally<CustomerState>[], inScope: number): Markup {
  return html`<table class="states">
<caption>Each of the ${formatCount(inScope)} customers in scope is in exactly one state</caption>
<thead><tr><th scope="col">State</th><th scope="col" class="number">Customers</th><th scope="col" class="number">Share</th><th scope="col" class="meaning">What it means</th></tr></thead>
<tbody>
${states.map((state) => showState(state, inScope))}</tbody>
<tfoot><tr><th scope="row">In scope</th><td class="number">${formatCount(inScope)}</td><td class="number">${toShare(inScope, inScope)}</td><td></td></tr></tfoot>
</table>`;
}

function showState({ code, count }: Tally<CustomerState>, inScope: number): Markup {
  const { name, meaning } = stateWords[code];
  const width = inScope === 0 ? 0 : Math.ceil((count / inScope) * 1000) / 10;
  return html`<tr class="state-${code}${count === 0 ? ' zero' : ''}"><th scope="row">${name}</th><td class="number">${formatCount(count)}</td><td class="number share"><span class="track" aria-hidden="true"><span class="bar" style="width:${width}%"></span></span>${toShare(count, inScope)}</td><td class="meaning">${meaning}</td></tr>
`;
}

/** One decimal, and never rounded to all or to nothing when it is not. */
function toShare(count: number, whole: number): string {
  if (count === 0 || whole === 0) return '0 %';
  if (count === whole) return '100 %';
  const share = (count / whole) * 100;
  if (share < 0.1) return '< 0.1 %';
  return share > 99.9 ? '> 99.9 %' : `${share.toFixed(1)} %`;
}

function showSum(sum: Sum): Markup {
  return html`<p class="sum"><span class="term whole"><b>${formatCount(sum.whole.count)}</b> <i>${sum.whole.name}</i></span>${sum.parts.map(
    (part, index) =>
      html` <span class="step"><span class="sign">${index === 0 ? '=' : '+'}</span> <span class="term${part.count === 0 ? ' zero' : ''}"><b>${formatCount(part.count)}</b> <i>${part.name}</i></span></span>`,
  )}</p>
`;
}

function showFormerRoster({ formerRosterAt }: Coverage): Markup {
  if (formerRosterAt === null) return noMarkup;
  return html`<p>This run read no roster: whom it answers for comes from the import of ${showTime(formerRosterAt)}.</p>
`;
}

function showReasons(coverage: Coverage): Markup {
  const lists = [
    { title: 'Skipped', tallies: coverage.skippedBecause },
    { title: 'Failed', tallies: coverage.failedBecause },
  ].filter((list) => list.tallies.length > 0);
  if (lists.length === 0) return noMarkup;
  return html`<p class="reasons">${lists.map(
    ({ title, tallies }) =>
      html`<span><strong>${title}:</strong> ${tallies.map((tally) => `${formatCount(tally.count)} ${describeReason(tally.code)}`).join(', ')}.</span> `,
  )}</p>`;
}

/** What the run can be checked against. */
function showEvidence(report: Report): Markup {
  const { run, evidence } = report;
  const { rosterSource } = evidence;
  return section(
    'evidence',
    'Evidence',
    html`<dl>
<dt>Run</dt><dd><code>${run.runId}</code>, ${run.kind}, ${run.state}, ${showTime(run.startedAt)} to ${showTime(run.finishedAt)}</dd>
<dt>Organisation</dt><dd>${showText(run.organisation)}</dd>
${
  rosterSource === null
    ? noMarkup
    : html`<dt>Roster</dt><dd>${showText(rosterSource.source)}, read ${showTime(rosterSource.importedAt)}: ${describeSnapshot(rosterSource)}</dd>
<dt>Roster digest</dt><dd><code>${rosterSource.digest}</code></dd>`
}
<dt>Settings digest</dt><dd><code>${evidence.settingsDigest}</code></dd>
${
  evidence.cadence === null
    ? noMarkup
    : html`<dt>Cadence</dt><dd>${describeCadence(evidence.cadence)}${evidence.cadence.reason === null ? noMarkup : html`: ${showText(evidence.cadence.reason)}`}</dd>
`
}${
  report.details.counts === null || !hasDetails(report.details.counts)
    ? noMarkup
    : html`<dt>Details</dt><dd>${describeDetails(report.details.counts)}</dd>
`
}<dt>Service key</dt><dd>${run.mode}${evidence.keyFingerprint === '' ? ', not used' : html`, fingerprint <code>${evidence.keyFingerprint}</code>`}</dd>
<dt>Version</dt><dd>Nightscreen ${run.version}</dd>
<dt>Files</dt><dd>report.xlsx, changes.csv, not-screened.csv, rejects.csv and report.json beside this page; SHA256SUMS and manifest.json hold their digests</dd>
</dl>`,
  );
}

const whyWords: Readonly<Record<DroppedPartyFacts['state'], string>> = {
  open_hit: 'it stays in scope, and the customer an open hit, until the hit is settled',
  incompletely_seen:
    'it is searched for only while something about it waits for a decision; a hit may exist that nobody has seen',
  confirmed: 'it is searched for only while something about it waits for a decision',
};

const columns: readonly TableColumn<DroppedPartyFacts>[] = [
  { title: 'Customer', cell: ({ party }) => showParty(party) },
  { title: 'What it was', cell: ({ state }) => `${stateWords[state].name}: ${whyWords[state]}` },
  {
    title: 'Why',
    cell: ({ party }) =>
      party.role === 'conflicting_row'
        ? 'the rows of this id no longer contradict each other, and none of them has this name'
        : 'no longer in the source',
  },
  { title: 'Since', cell: ({ droppedAt }) => showTime(droppedAt) },
];

/** Parties that the roster no longer names although nobody has cleared them; nothing where there is none. */
function showDroppedParties({ droppedParties }: Report): Markup {
  if (droppedParties.length === 0) return noMarkup;
  const title = `${countNoun(droppedParties.length, 'party', 'parties')} that the roster no longer names, and that nobody has cleared`;
  return section('dropped', 'No longer in the source', showTable(title, columns, droppedParties, 'report.json'));
}

/** What is settled, in counts, and what the run did with decisions; nothing for a run of which nothing was made yet. */
function showSettled({ history }: Report): Markup {
  const { settled } = history;
  if (settled === null) return noMarkup;
  const { falsePositive, trueMatch, inconclusive, carried, reopened, expired, gone } = settled;
  if (falsePositive + trueMatch + inconclusive + reopened + expired + gone === 0) {
    return section('settled', 'Settled and carried', html`<p class="quiet">Nothing has been decided yet.</p>`);
  }
  return section(
    'settled',
    'Settled and carried',
    html`<dl>
<dt>Settled</dt><dd>${countNoun(falsePositive, 'false positive')}, ${countNoun(trueMatch, 'true match', 'true matches')}</dd>
<dt>Inconclusive</dt><dd>${inconclusive === 0 ? 'none' : `${formatCount(inconclusive)}, still open`}</dd>
<dt>Carried by this run</dt><dd>${carried === 0 ? 'none' : `${countNoun(carried, 'decision')} looked at again and found to hold: nothing it was bound to has changed`}</dd>
<dt>Re-opened</dt><dd>${reopened + expired === 0 ? 'none' : `${formatCount(reopened)} because something material changed or the match returned, ${formatCount(expired)} because the decision ran out`}</dd>
<dt>No longer matched</dt><dd>${gone === 0 ? 'none' : `${countNoun(gone, 'alert')} with nothing left to decide`}</dd>
</dl>`,
  );
}

const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src ${reportScriptSource}; base-uri 'none'; form-action 'none'`;

/** More than that browsers open slowly, and mail does not carry. */
const pageBytes = 5_000_000;

const sections: readonly ((report: Report, shown: readonly ShownGroup[]) => Markup | Promise<Markup>)[] = [
  showOpening,
  showHeld,
  showWaiting,
  showChanges,
  showBaseline,
  showGroups,
  showSpan,
  showCoverage,
  showDossiers,
  showReconciliations,
  showNotScreened,
  showDroppedParties,
  showRejects,
  showSettled,
  showHealth,
  showTrend,
  showEvidence,
];

/**
 * `report.html` in chunks: one page that needs nothing else, no network and no script to be read, and prints on A4. Further hits for sanctions
 * get what room all else leaves.
 */
export async function* renderHtml(report: Report): AsyncGenerator<string> {
  const shown = await chooseShown(report);
  const parts = [String(await showHead(report))];
  for (const show of sections) parts.push(String(await show(report, shown)));
  parts.push(`\n</main>\n<script>${reportScript}</script>\n</body>\n</html>\n`);
  const room = {
    bytes: pageBytes - placeBytes - parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0),
    hits: shown.reduce((sum, { furtherHits }) => sum + furtherHits, 0),
  };
  const findCode = toFindCode(report);
  for (const part of parts) {
    const [text = '', ...places] = part.split(furtherHitsPattern);
    yield text;
    for (let place = 0; place < places.length; place += 3) {
      const [section, severity, after = ''] = places.slice(place, place + 3);
      const here = shown.find((one) => one.section === section && one.group.severity === severity);
      if (here) yield* renderFurtherHits(here, room, findCode);
      yield after;
    }
  }
}

// What stands around further hits in all places together.
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
