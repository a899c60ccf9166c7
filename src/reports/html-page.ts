import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import { listEvidence } from './facts.js';
import { listChangeSections } from './html-changes.js';
import { listCoverageSections } from './html-coverage.js';
import { listHistorySections } from './html-history.js';
import { type PageSection, showFacts } from './html-markup.js';
import { showOpening } from './html-opening.js';
import { listWaitingSections } from './html-waiting.js';
import { type Report, toTitle } from './report.js';
import type { Markup } from './section.js';
import { readPageFile } from './spreadsheet.js';
import { keep } from './text.js';

/** The sections of the page in reading order. */
async function listSections(report: Report): Promise<readonly PageSection[]> {
  const evidence = { id: 'evidence', title: 'Evidence', body: showFacts(listEvidence(report)) };
  return keep(
    ...listWaitingSections(report),
    ...(await listChangeSections(report)),
    ...listCoverageSections(report),
    ...listHistorySections(report),
    evidence,
  );
}

/** `report.html` in chunks: one page that needs no network, no other file and no script, and prints on A4. */
export async function* renderHtml(report: Report): AsyncGenerator<string> {
  const script = readPageFile('report.js');
  const sections = await listSections(report);
  yield String(await showPageHead({ ...report.run, title: toTitle(report), level: report.verdict.level }, script));
  yield String(await showOpening(report, sections));
  for (const section of sections) yield String(await showSection(section));
  yield `\n</main>\n<script type="module">${script}</script>\n</body>\n</html>\n`;
}

/** A section with its heading. */
export const showSection = ({ id, title, body }: PageSection): Markup => html`
<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}
</section>`;

/** The start of a page, up to its main part: a page without a script permits none. */
export function showPageHead(
  page: Pick<Report['run'], 'runId' | 'mode'> & { title: string; level: Report['verdict']['level'] },
  script: string | null,
): Markup {
  const { mode, title, level } = page;
  const scripts =
    script === null ? '' : ` script-src 'sha256-${createHash('sha256').update(script).digest('base64')}';`;
  const policy = `default-src 'none'; style-src 'unsafe-inline';${scripts} base-uri 'none'; form-action 'none'`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${raw(policy)}">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${mode === 'test' ? 'TEST: not evidence. ' : ''}${level.toUpperCase()}: ${title}</title>
<style>${raw(readPageFile('report.css'))}${raw(toPageStyle(page))}</style>
</head>
<body class="${level}">
<main>`;
}

/** What the margins of each printed page say besides the page number: the run, and a warning for a test key. */
function toPageStyle({ runId, mode }: Pick<Report['run'], 'runId' | 'mode'>): string {
  // A text from outside must not end the CSS string.
  const run = runId.replace(/[^\w.-]/g, '');
  const warning = mode === 'test' ? '@top-center { content: "TEST: not evidence" } ' : '';
  return `@page { ${warning}@bottom-left { content: "${run}" } }\n`;
}
