import { html, raw } from 'hono/html';
import { showBaseline } from './html-baseline.js';
import { showChanges } from './html-changes.js';
import { showCoverage } from './html-coverage.js';
import { showDossiers } from './html-dossiers.js';
import { showDroppedParties } from './html-dropped-parties.js';
import { showEvidence } from './html-evidence.js';
import { showGroups } from './html-groups.js';
import { showHealth } from './html-health.js';
import type { Markup } from './html-markup.js';
import { showNotScreened, showRejects } from './html-missing.js';
import { showOpening } from './html-opening.js';
import { reportScript, reportScriptSource } from './html-script.js';
import { showSettled } from './html-settled.js';
import { showSpan } from './html-span.js';
import { reportStyle, toPageStyle } from './html-style.js';
import { showTrend } from './html-trend.js';
import type { Report } from './report.js';
import { toTitle } from './title.js';

const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src ${reportScriptSource}; base-uri 'none'; form-action 'none'`;

const sections: readonly ((report: Report) => Markup | Promise<Markup>)[] = [
  showOpening,
  showSpan,
  showCoverage,
  showChanges,
  showBaseline,
  showGroups,
  showDossiers,
  showNotScreened,
  showDroppedParties,
  showRejects,
  showSettled,
  showHealth,
  showTrend,
  showEvidence,
];

/** `report.html` in chunks: one page that needs nothing else, no network and no script to be read, and prints on A4. */
export async function* renderHtml(report: Report): AsyncGenerator<string> {
  yield String(await showHead(report));
  for (const show of sections) yield String(await show(report));
  yield `\n</main>\n<script>${reportScript}</script>\n</body>\n</html>\n`;
}

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
