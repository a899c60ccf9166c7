import { html, raw } from 'hono/html';
import { showBaseline } from './html-baseline.js';
import { showCanaries } from './html-canaries.js';
import { showChanges } from './html-changes.js';
import { showCalls, showEvidence } from './html-closing.js';
import { showCoverage } from './html-coverage.js';
import { showDossiers } from './html-dossiers.js';
import { showDroppedParties } from './html-dropped-parties.js';
import type { Markup } from './html-markup.js';
import { showNotScreened, showRejects } from './html-missing.js';
import { showOpenItems } from './html-open-items.js';
import { showOpening } from './html-opening.js';
import { reportStyle } from './html-style.js';
import type { Report } from './report.js';
import { toTitle } from './title.js';

const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const sections: readonly ((report: Report) => Markup)[] = [
  showOpening,
  showCoverage,
  showOpenItems,
  showChanges,
  showBaseline,
  showDossiers,
  showNotScreened,
  showDroppedParties,
  showRejects,
  showCanaries,
  showCalls,
  showEvidence,
];

/** `report.html` in chunks: one page that needs nothing else, no script and no network, and prints on A4. */
export async function* renderHtml(report: Report): AsyncGenerator<string> {
  yield String(await showHead(report));
  for (const show of sections) yield String(await show(report));
  yield '\n</main>\n</body>\n</html>\n';
}

function showHead(report: Report): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${report.verdict.level.toUpperCase()}: ${toTitle(report)}</title>
<style>${raw(reportStyle)}</style>
</head>
<body class="${report.verdict.level}">
<main>`;
}
