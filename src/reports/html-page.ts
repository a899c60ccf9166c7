import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
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

/** A file of the page: beside the program's code as `sql` is, so that Node finds it from the sources and from what is built. */
export const readPageFile = (name: 'report.css' | 'report.js'): string =>
  readFileSync(createRequire(import.meta.url).resolve(`#page/${name}`), 'utf8');

function showEvidence(report: Report): Markup {
  const { run, evidence, details } = report;
  const { rosterSource, cadence } = evidence;
  const facts: (readonly [name: string, fact: Markup | string])[] = [
    [
      'Run',
      html`${showCode(run.runId)}, ${run.kind}, ${run.state}, ${showTime(run.startedAt, run)} to ${showTime(run.finishedAt, run)}, times in ${run.timezone}`,
    ],
    ['Organisation', showText(run.organisation)],
  ];
  if (rosterSource !== null) {
    const read = html`, read ${showTime(rosterSource.importedAt, run)}: ${describeSnapshot(rosterSource)}`;
    facts.push(['Roster', html`${showText(rosterSource.source)}${read}`]);
    facts.push(['Roster digest', showDigest(rosterSource.digest)]);
  }
  facts.push(['Settings digest', showDigest(evidence.settingsDigest)]);
  if (cadence !== null) {
    const reason = cadence.reason === null ? noMarkup : html`: ${showText(cadence.reason)}`;
    facts.push(['Screening frequency', html`${describeCadence(cadence)}${reason}`]);
  }
  if (details.counts !== null && hasDetails(details.counts)) facts.push(['Details', describeDetails(details.counts)]);
  const fingerprint =
    evidence.keyFingerprint === '' ? ', not used' : html`, fingerprint <code>${evidence.keyFingerprint}</code>`;
  facts.push(
    ['Service key', html`${run.mode}${fingerprint}`],
    ['Version', `Nightscreen ${run.version}`],
    [
      'Files',
      'report.xlsx, changes.csv, not-screened.csv, rejects.csv and report.json in the folder of this page; SHA256SUMS and manifest.json contain their digests',
    ],
  );
  const lines = facts.map(([name, fact]) => html`<dt>${name}</dt><dd>${fact}</dd>\n`);
  return section('evidence', 'Evidence', html`<dl>\n${lines}</dl>`);
}

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
  const script = readPageFile('report.js');
  const shown = await chooseShown(report);
  const body: string[] = [];
  for (const show of sections) body.push(String(await show(report, shown)));
  const hasSection = (id: string): boolean => body.some((part) => part.includes(`<section id="${id}"`));
  const parts = [
    String(await showHead(report, script)),
    String(await showOpening(report, hasSection)),
    ...body,
    `\n</main>\n<script type="module">${script}</script>\n</body>\n</html>\n`,
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

function showHead(report: Report, script: string): Markup {
  const scriptHash = createHash('sha256').update(script).digest('base64');
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${scriptHash}'; base-uri 'none'; form-action 'none'`;
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
<style>${raw(readPageFile('report.css'))}${raw(toPageStyle(report.run))}</style>
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

/** The margins of each printed page: the run, the page number, and a warning for a test key. */
function toPageStyle({ runId, mode }: Report['run']): string {
  // A text from outside must not end the CSS string.
  const run = runId.replace(/[^\w.-]/g, '');
  const test =
    mode === 'test' ? '@top-center{content:"TEST: not evidence";color:#9a4207;font:700 9pt system-ui,sans-serif}' : '';
  return `@page{size:A4;margin:16mm 14mm 18mm;${test}@bottom-left{content:"${run}";color:#5c5850;font:8pt system-ui,sans-serif}@bottom-right{content:counter(page) " / " counter(pages);color:#5c5850;font:8pt system-ui,sans-serif}}
`;
}
