import { html, raw } from 'hono/html';
import type { Match } from '../matches/match.js';
import { causeWords, describeChange } from './change-words.js';
import type { ShownGroup } from './choose-shown.js';
import { countNoun } from './format-count.js';
import { type Markup, showText } from './html-markup.js';
import { showRest } from './html-table.js';
import type { MatchChangeFacts } from './list-facts.js';
import type { Report } from './report.js';

import { escapeXml } from './spreadsheet/escape-xml.js';
import { describeTopic } from './topic-words.js';
import { toVisibleText } from './visible-text.js';

/** What is left of the page for further hits for sanctions: how many bytes, and for how many. */
interface HitRoom {
  bytes: number;
  hits: number;
}

/** Gives the code of a change's item; null where it is not known. */
export type FindCode = (change: MatchChangeFacts) => string | null;

/** The code of a change's item, where that waits and is on the list of what is to be reviewed. */
export function toFindCode({ toReview }: Pick<Report, 'toReview'>): FindCode {
  const toKey = (reference: string, name: string, matchId: string): string =>
    JSON.stringify([reference, name, matchId]);
  const marks = new Map(
    (toReview?.items ?? []).map(({ party, listed, mark }) => [toKey(party.reference, party.name, listed.id), mark]),
  );
  return ({ party, matchId }) =>
    marks.size === 0 ? null : (marks.get(toKey(party.reference, party.name, matchId)) ?? null);
}

/** The code of an alert, leading to where the page shows it among all that waits. */
export const showAlertCode = (code: string): Markup =>
  html`<a href="#${toAnchor(code)}"><code>${showText(code)}</code></a>`;

/** The place of an alert on the page; a code is letters, digits and hyphens. */
export const toAnchor = (mark: string): string => `alert-${mark.replaceAll(/[^\w-]/g, '')}`;

/** Where the further hits for sanctions of a group come when all else of the page is there. */
export const furtherHitsPlace = ({ section, group }: ShownGroup): Markup =>
  raw(`<!--further ${section} ${group.severity}-->`);

/** Finds such places in the page; outside texts are escaped, and are none. */
export const furtherHitsPattern = /<!--further (\w+) (\w+)-->/;

// About what the shortest line takes; so much is kept for each that is still to come.
const shortLineBytes = 90;

/**
 * The hits for sanctions beyond those in full: a row each, as long as there is room for all others by customer and listed party alone; what
 * does not even fit so is counted. `room` is what is left, and gets less.
 */
export async function* renderFurtherHits(shown: ShownGroup, room: HitRoom, findCode: FindCode): AsyncGenerator<string> {
  const kinds = new Map<string, string[]>();
  const short: string[] = [];
  let unshown = 0;
  for await (const batch of shown.readFurtherHits()) {
    for (const change of batch) {
      const row = toRow(change, findCode(change));
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
    yield `<p class="rest alarm" role="note">${countNoun(unshown, 'further sanction hit')} of this severity ${unshown === 1 ? 'is' : 'are'} not on this page, which would become too big to open. All of them are in <code>changes.csv</code>.</p>\n`;
  }
  yield String(await showRest(first.length, furtherHits - unshown, group.singleCount, 'changes.csv'));
}

function* renderRows(kinds: ReadonlyMap<string, readonly string[]>): Generator<string> {
  if (kinds.size === 0) return;
  const count = [...kinds.values()].reduce((sum, rows) => sum + rows.length, 0);
  yield `<table class="list hits">
<caption>${countNoun(count, 'further sanction hit')}, one line each, with both sides in changes.csv; an arrow leads from before to now</caption>
<thead><tr><th scope="col">Customer</th><th scope="col">Name</th><th scope="col">Listed party</th><th scope="col">Listed for</th><th scope="col">Score</th><th scope="col">Alert</th></tr></thead>
`;
  for (const [heading, rows] of kinds) yield `${heading}${rows.join('')}</tbody>\n`;
  yield '</table>\n';
}

function* renderShortLines(lines: readonly string[]): Generator<string> {
  if (lines.length === 0) return;
  yield String(html`<p class="rest" role="note">There are so many sanction hits that the page would become too big to open: of ${countNoun(lines.length, 'further one')} it tells customer and listed party alone. What happened, why listed, scores and items are in <code>changes.csv</code>.</p>
`);
  yield `<table class="list hits short">
<caption>${countNoun(lines.length, 'further sanction hit')}, by customer and listed party alone</caption>
<thead><tr><th scope="col">Customer</th><th scope="col">Name</th><th scope="col">Listed party</th></tr></thead>
<tbody>
${lines.join('')}</tbody>
</table>
`;
}

// Cells need no closing tags, and each keeps the direction of its text to itself: with tens of thousands every sign counts.
const toText = (text: string): string => escapeXml(toVisibleText(text));

function toRow(change: MatchChangeFacts, code: string | null): string {
  const { party, before, after } = change;
  const show = (toFact: (match: Match) => string): string => {
    const [was, is] = [before, after].map((match) => match && toFact(match));
    return toText(was != null && is != null && was !== is ? `${was} → ${is}` : (is ?? was ?? ''));
  };
  const name = party.role === 'customer' ? party.name : `${party.name} (${party.role.replaceAll('_', ' ')})`;
  return `<tr><th>${toText(party.reference)}<td>${toText(name)}<td>${show((match) => match.name)}<td>${show(describeTopics)}<td>${show(({ score }) => String(score))}<td>${toText(code ?? '')}\n`;
}

const describeTopics = ({ topics }: Match): string => topics.map(describeTopic).join(', ');

const toShortLine = ({ party, before, after }: MatchChangeFacts): string =>
  `<tr><th>${toText(party.reference)}<td>${toText(party.name)}<td>${toText((after ?? before)?.name ?? '')}\n`;
