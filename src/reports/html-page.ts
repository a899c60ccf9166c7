import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { html, raw } from 'hono/html';
import { showChanges } from './html-changes.js';
import { showCoverage } from './html-coverage.js';
import { showHistory } from './html-history.js';
import { noMarkup, section, showCode, showDigest, showText, showTime } from './html-markup.js';
import { showOpening } from './html-opening.js';
import { showWaiting } from './html-waiting.js';
import { hasDetails } from './list-facts.js';
import { describeSnapshot } from './reasons.js';
import { type Report, toTitle } from './report.js';
import type { Markup } from './section.js';
import { describeCadence, describeDetails } from './words.js';

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

const sections: readonly ((report: Report) => Markup | Promise<Markup>)[] = [
  showWaiting,
  showChanges,
  showCoverage,
  showHistory,
  showEvidence,
];

/** `report.html` in chunks: one page that needs no network, no other file and no script, and prints on A4. */
export async function* renderHtml(report: Report): AsyncGenerator<string> {
  const script = readPageFile('report.js');
  const body: string[] = [];
  for (const show of sections) body.push(String(await show(report)));
  const hasSection = (id: string): boolean => body.some((part) => part.includes(`<section id="${id}"`));
  yield String(await showHead(report, script));
  yield String(await showOpening(report, hasSection));
  yield* body;
  yield `\n</main>\n<script type="module">${script}</script>\n</body>\n</html>\n`;
}

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

/** The margins of each printed page: the run, the page number, and a warning for a test key. */
function toPageStyle({ runId, mode }: Report['run']): string {
  // A text from outside must not end the CSS string.
  const run = runId.replace(/[^\w.-]/g, '');
  const test =
    mode === 'test' ? '@top-center{content:"TEST: not evidence";color:#9a4207;font:700 9pt system-ui,sans-serif}' : '';
  return `@page{size:A4;margin:16mm 14mm 18mm;${test}@bottom-left{content:"${run}";color:#5c5850;font:8pt system-ui,sans-serif}@bottom-right{content:counter(page) " / " counter(pages);color:#5c5850;font:8pt system-ui,sans-serif}}
`;
}
