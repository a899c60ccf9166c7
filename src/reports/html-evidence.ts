import { html } from 'hono/html';
import { describeCadence } from './cadence-words.js';
import { hasDetails } from './detail-facts.js';
import { describeDetails } from './detail-words.js';
import { type Markup, nothing, section, showText, showTime } from './html-markup.js';
import type { Report } from './report.js';
import { describeSnapshot } from './snapshot-words.js';

/** What the run can be checked against. */
export function showEvidence(report: Report): Markup {
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
    ? nothing
    : html`<dt>Roster</dt><dd>${showText(rosterSource.source)}, read ${showTime(rosterSource.importedAt)}: ${describeSnapshot(rosterSource)}</dd>
<dt>Roster digest</dt><dd><code>${rosterSource.digest}</code></dd>`
}
<dt>Settings digest</dt><dd><code>${evidence.settingsDigest}</code></dd>
${
  evidence.cadence === null
    ? nothing
    : html`<dt>Cadence</dt><dd>${describeCadence(evidence.cadence)}${evidence.cadence.reason === null ? nothing : html`: ${showText(evidence.cadence.reason)}`}</dd>
`
}${
  report.details.counts === null || !hasDetails(report.details.counts)
    ? nothing
    : html`<dt>Details</dt><dd>${describeDetails(report.details.counts)}</dd>
`
}<dt>Service key</dt><dd>${run.mode}${evidence.keyFingerprint === '' ? ', not used' : html`, fingerprint <code>${evidence.keyFingerprint}</code>`}</dd>
<dt>Version</dt><dd>Nightscreen ${run.version}</dd>
<dt>Files</dt><dd>report.xlsx, changes.csv, not-screened.csv, rejects.csv and report.json beside this page; SHA256SUMS and manifest.json hold their digests</dd>
</dl>`,
  );
}
