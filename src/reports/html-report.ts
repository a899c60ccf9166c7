import { html, raw } from 'hono/html';
import { chooseShown, type ShownGroup } from './choose-shown.js';
import { showBaseline } from './html-baseline.js';
import { showChanges } from './html-changes.js';
import { showCoverage } from './html-coverage.js';
import { showDossiers } from './html-dossiers.js';
import { showDroppedParties } from './html-dropped-parties.js';
import { showEvidence } from './html-evidence.js';
import { furtherHitsPattern, renderFurtherHits, toFindCode } from './html-further-hits.js';
import { showGroups } from './html-groups.js';
import { showHealth } from './html-health.js';
import { showHeld } from './html-held.js';
import type { Markup } from './html-markup.js';
import { showNotScreened, showRejects } from './html-missing.js';
import { showOpening } from './html-opening.js';
import { showReconciliations } from './html-reconciliation.js';
import { reportScript, reportScriptSource } from './html-script.js';
import { showSettled } from './html-settled.js';
import { showSpan } from './html-span.js';
import { reportStyle, toPageStyle } from './html-style.js';
import { showTrend } from './html-trend.js';
import { showWaiting } from './html-waiting.js';
import type { Report } from './report.js';
import { toTitle } from './title.js';

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
