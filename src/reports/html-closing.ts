import { html } from 'hono/html';
import { severityWords } from './change-words.js';
import { countNoun, formatCount } from './format-count.js';
import { type Markup, nothing, section, showText, showTime } from './html-markup.js';
import { describeReason } from './reason-words.js';
import type { Report } from './report.js';

/** Matches of customers screened for the first time, kept apart from what is new; left out when there are none. */
export function showBaseline(report: Report): Markup {
  if (report.baseline.length === 0) return nothing;
  const total = report.baseline.reduce((sum, tally) => sum + tally.count, 0);
  return section(
    'baseline',
    'First screenings',
    html`<p class="sum"><span class="term whole"><b>${formatCount(total)}</b> <i>${total === 1 ? 'match' : 'matches'}</i></span>${report.baseline.map(
      (tally, index) =>
        html` <span class="step"><span class="sign">${index === 0 ? '=' : '+'}</span> <span class="term"><b>${formatCount(tally.count)}</b> <i>${severityWords[tally.code].toLowerCase()}</i></span></span>`,
    )}</p>
<p class="muted">Found on customers that were screened for the first time. There is nothing to compare them with, so they are not counted among the changes; their hits are open hits above.</p>`,
  );
}

/** How the calls to the service went. */
export function showCalls(report: Report): Markup {
  const { searches, byOutcome, possiblyBilledTwice } = report.calls;
  const attempts = byOutcome.reduce((sum, tally) => sum + tally.count, 0);
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
  const absent =
    rosterSource === null || rosterSource.absent === 0
      ? nothing
      : html`, ${countNoun(rosterSource.absent, 'known customer')} absent`;
  return section(
    'evidence',
    'Evidence',
    html`<dl>
<dt>Run</dt><dd><code>${run.runId}</code>, ${run.kind}, ${run.state}, ${showTime(run.startedAt)} to ${showTime(run.finishedAt)}</dd>
<dt>Organisation</dt><dd>${showText(run.organisation)}</dd>
${
  rosterSource === null
    ? nothing
    : html`<dt>Roster</dt><dd>${showText(rosterSource.source)}, read ${showTime(rosterSource.importedAt)}${absent}</dd>
<dt>Roster digest</dt><dd><code>${rosterSource.digest}</code></dd>`
}
<dt>Settings digest</dt><dd><code>${evidence.settingsDigest}</code></dd>
<dt>Service key</dt><dd>${run.mode}, fingerprint <code>${evidence.keyFingerprint}</code></dd>
<dt>Version</dt><dd>Nightscreen ${run.version}</dd>
<dt>Files</dt><dd>changes.csv, not-screened.csv, rejects.csv and report.json beside this page; SHA256SUMS and manifest.json hold their digests</dd>
</dl>`,
  );
}
