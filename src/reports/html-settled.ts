import { html } from 'hono/html';
import { countNoun, formatCount } from './format-count.js';
import { type Markup, nothing, section } from './html-markup.js';
import type { Report } from './report.js';

/** What is settled, in counts, and what the run did with decisions; nothing for a run of which nothing was made yet. */
export function showSettled({ history }: Report): Markup {
  const { settled } = history;
  if (settled === null) return nothing;
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
