import { html } from 'hono/html';
import { describeCadence } from './cadence-words.js';
import { describeDetails } from './detail-words.js';
import { countNoun, formatCount } from './format-count.js';
import { type Markup, nothing, section, showText, showTime } from './html-markup.js';
import { describeReason } from './reason-words.js';
import type { Report } from './report.js';
import { describeSnapshot } from './snapshot-words.js';

/** How the searches at the service went; left out for a run that makes none, whose calls are not counted. */
export function showCalls(report: Report): Markup {
  const { searches, byOutcome, possiblyBilledTwice } = report.calls;
  const attempts = byOutcome.reduce((sum, tally) => sum + tally.count, 0);
  if (searches === null && attempts === 0) return nothing;
  return section(
    'calls',
    'Calls to the service',
    html`<dl>
${searches === null ? nothing : html`<dt>Searches</dt><dd>${formatCount(searches)} different ${searches === 1 ? 'request' : 'requests'}, control searches not included</dd>`}
<dt>Attempts</dt><dd>${formatCount(attempts)}${attempts === 0 ? nothing : html`: ${byOutcome.map((tally) => `${formatCount(tally.count)} ${describeReason(tally.code)}`).join(', ')}`}</dd>
<dt>Possibly billed twice</dt><dd>${possiblyBilledTwice === 0 ? 'none' : `${countNoun(possiblyBilledTwice, 'search', 'searches')} repeated because the first outcome was lost`}</dd>
</dl>`,
  );
}

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
  report.details.counts === null || report.details.counts.hits === 0
    ? nothing
    : html`<dt>Details</dt><dd>${describeDetails(report.details.counts)}</dd>
`
}<dt>Service key</dt><dd>${run.mode}, fingerprint <code>${evidence.keyFingerprint}</code></dd>
<dt>Version</dt><dd>Nightscreen ${run.version}</dd>
<dt>Files</dt><dd>changes.csv, not-screened.csv, rejects.csv and report.json beside this page; SHA256SUMS and manifest.json hold their digests</dd>
</dl>`,
  );
}
