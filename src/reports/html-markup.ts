import { html, raw } from 'hono/html';
import type { Corroboration } from '../changes/corroboration.js';
import type { Match } from '../matches/match.js';
import { codeWords, describeTopic } from '../vocabulary/words.js';
import type { MatchField } from '../vocabulary.js';
import type { PartyFacts } from './run-facts.js';
import { type Column, type Fact, type Markup, type Section, toHeading } from './section.js';
import { formatCount, formatDay, formatMinute, keep, toVisibleText } from './text.js';
import { describeBirthDate } from './words.js';

/** Empty markup. */
export const noMarkup: Markup = raw('');

/** Parts with a separator between them. */
export const joinMarkup = (parts: readonly Markup[], separator: Markup | string = ', '): Markup =>
  html`${parts.map((part, index) => html`${index > 0 && separator}${part}`)}`;

/** Dates, run ids and options. */
const wholeWords = /(\d{4}-\d\d-\d\d(?:-[a-z]+-\d+| \d\d:\d\d)?|--[a-z]+(?:-[a-z]+)*)/;

/** A sentence of ours; a line never ends inside of a date, a run id or an option. */
export const showSentence = (text: string): Markup =>
  html`${toVisibleText(text)
    .split(wholeWords)
    .map((part, index) => (index % 2 === 0 ? part : html`<span class="whole">${part}</span>`))}`;

/** A command, a run id or the code of an alert. */
export const showCode = (text: string): Markup => html`<code>${showSentence(text)}</code>`;

/** A text from outside, isolated so that its direction does not affect the text around it. */
export const showText = (text: string): Markup =>
  /^\d{4}-\d\d-\d\d$/.test(text) ? html`<bdi class="whole">${text}</bdi>` : html`<bdi>${toVisibleText(text)}</bdi>`;

/** A sentence of ours with texts from outside. */
export const showRemark = (text: string): Markup => html`<bdi>${showSentence(text)}</bdi>`;

/** The reference of a customer. */
export function showReference(reference: string): Markup {
  return html`<bdi class="reference">${toVisibleText(reference)}</bdi>`;
}

/** The birth date of a customer; a dash for none. */
export const showBirthDate = ({ birthDate }: Pick<PartyFacts, 'birthDate'>): Markup =>
  birthDate === null ? showNone() : showText(describeBirthDate(birthDate));

/** Texts separated by commas; a dash for none. */
export function showTexts(texts: readonly string[]): Markup {
  if (texts.length === 0) return showNone();
  return joinMarkup(texts.map(showText));
}

/** The mark of a missing value. */
export function showNone(): Markup {
  return html`<span class="none" title="none">–</span>`;
}

/** An instant on the clock of the reviewers. */
export const showTime = (instant: Date, { timezone }: { timezone: string }): Markup =>
  html`<time datetime="${instant.toISOString()}">${formatMinute(instant, timezone)}</time>`;

/** The reviewers' day of an instant. */
export const showDay = (instant: Date, { timezone }: { timezone: string }): Markup =>
  html`<time>${formatDay(instant, timezone)}</time>`;

/** A digest or another long code, which lines may break only after each 16 characters. */
export const showDigest = (digest: string): Markup =>
  html`<code>${(digest.match(/.{1,16}/gu) ?? []).map((part, index) => html`${index === 0 ? noMarkup : raw('<wbr>')}${part}`)}</code>`;

/** The reference and name of a party, and its role where it is not the customer itself. */
export function showParty(party: PartyFacts): Markup {
  const role = party.role === 'customer' ? noMarkup : html` <span class="muted">(${codeWords.role[party.role]})</span>`;
  return html`${showReference(party.reference)} ${showText(party.name)}${role}`;
}

/** A section of the page; `note` is beside its title in the contents. */
export interface PageSection {
  id: string;
  title: string;
  body: Markup;
  note?: string | undefined;
}

/** Facts, each with its name. */
export const showFacts = (facts: readonly Fact[]): Markup => {
  const lines = facts.map(([name, value, note = null]) => {
    const parts = keep(value, note).map((part) => showFact(String(part)));
    return html`<dt>${name}</dt><dd>${joinMarkup(parts)}</dd>\n`;
  });
  return html`<dl>\n${lines}</dl>`;
};

const showFact = (text: string): Markup => (/^[0-9a-f]{64}$/.test(text) ? showDigest(text) : showRemark(text));

/** The most lines of a list on the page; the files have all lines. */
export const shownLines = 200;

/** A table of the page. */
interface PageTable<Line> extends Pick<Section<Line>, 'caption' | 'columns' | 'lines'> {
  timezone: string;
  /** The number of all lines; default: those of `lines`. */
  count?: number;
  /** The file with all lines: the page shows the first `shownLines`. Without it the page shows all of `lines`. */
  file?: string;
  /** A further class of the table. */
  name?: string;
  toAttributes?: (line: Line) => Markup;
}

/** A table with its caption, and a note about the lines that it leaves out. The first column names the row. */
export function showTable<Line>(table: PageTable<Line>): Markup {
  const { caption, lines, file, count = lines.length, timezone, name = '', toAttributes = () => noMarkup } = table;
  const columns = table.columns.filter(({ key, html }) => key === undefined || html !== undefined);
  const shown = file === undefined ? lines : lines.slice(0, shownLines);
  const rows = shown.map((line) => {
    const cells = columns.map((column, index) => showCell(column, index, showValue(column, line, timezone)));
    return html`<tr${toAttributes(line)}>${cells}</tr>\n`;
  });
  return html`<table class="list${name === '' ? '' : ` ${name}`}">
<caption>${caption}</caption>
<thead><tr>${columns.map((column) => showHead(toHeading(column), column))}</tr></thead>
<tbody>
${rows}</tbody>
</table>
${file === undefined ? noMarkup : showRest(shown.length, count, file)}`;
}

/** The heading of a column on the page. */
export function showHead(title: string, column: { share?: number; numeric?: true }): Markup {
  const width = column.share === undefined ? noMarkup : html` style="width:${column.share}%"`;
  return html`<th scope="col"${toClass(column)}${width}>${title}</th>`;
}

function showCell<Line>(column: Column<Line>, index: number, content: Markup | string): Markup {
  if (index === 0) return html`<th scope="row"${toClass(column)}>${content}</th>`;
  return html`<td data-label="${toHeading(column)}"${toClass(column)}>${content}</td>`;
}

function showValue<Line>(column: Column<Line>, line: Line, timezone: string): Markup | string {
  if (column.html) return column.html(line, timezone);
  const value = column.cell?.(line, timezone) ?? null;
  if (value === null) return showNone();
  if (value instanceof Date) return showTime(value, { timezone });
  return typeof value === 'number' ? formatCount(value) : showText(value);
}

const toClass = ({ numeric }: { numeric?: true }): Markup => (numeric ? raw(' class="number"') : noMarkup);

/** A note about the lines that the page leaves out; empty when it shows the first lines of all `count`. */
export function showRest(shown: number, count: number, file: string): Markup {
  if (shown === count) return noMarkup;
  return html`<p class="rest">The first ${formatCount(shown)} of ${formatCount(count)} are shown; all of them are in <code>${file}</code>.</p>`;
}

/** The topics of a match; those that `other` does not have are marked. */
export function showTopics(match: Match, other: Match | null): Markup {
  if (match.topics.length === 0) return showNone();
  return html`${match.topics.map((topic) => {
    const differs = other !== null && !other.topics.includes(topic);
    return html`<span class="chip${differs ? ' differs' : ''}" title="${toVisibleText(topic)}"><bdi>${toVisibleText(describeTopic(topic))}</bdi></span> `;
  })}`;
}

/** Country codes in upper case. */
export function showCountries(countries: readonly string[]): Markup {
  return showTexts(countries.map((country) => country.toUpperCase()));
}

/** The anchor of an alert on the page. */
export const toAnchor = (mark: string): string => `alert-${mark.replaceAll(/[^\w-]/g, '')}`;

/** A compared field, in a column of the comparison. */
interface ComparedField {
  title: string;
  /** The width in percent of the table. */
  share?: number;
  field: MatchField;
  customer: (party: PartyFacts) => Markup;
  /** The fact of the customer that is compared. */
  corroborates?: keyof Corroboration;
  listed: (match: Match, other: Match | null) => Markup;
  /** What the comparison adds to it. */
  note?: (match: Match) => string;
}

/** The compared fields, as the comparison of a change and its line show them. */
export const comparedFields: readonly ComparedField[] = [
  {
    title: 'Name',
    share: 22,
    field: 'name',
    customer: (party) => showText(party.name),
    listed: (match) => showText(match.name),
  },
  {
    title: 'Risk category',
    share: 18,
    field: 'topics',
    customer: showNone,
    listed: (match, other) => showTopics(match, other),
  },
  {
    title: 'Born',
    share: 11,
    field: 'birth_date',
    corroborates: 'birthDate',
    customer: showBirthDate,
    listed: (match) => showTexts(match.birthDates),
  },
  {
    title: 'Countries',
    field: 'country',
    corroborates: 'country',
    customer: (party) => showCountries(party.countries),
    listed: (match) => showCountries(match.countries),
  },
  {
    title: 'Kind',
    share: 11,
    field: 'schema',
    customer: (party) => html`${party.type}`,
    listed: (match) => showText(match.schema),
  },
  {
    title: 'Flagged',
    share: 8,
    field: 'match',
    customer: showNone,
    listed: (match) => html`${match.isHit ? 'hit' : 'no hit'}`,
  },
  {
    title: 'Score',
    share: 10,
    field: 'score',
    customer: showNone,
    listed: (match) => html`${match.score}`,
    note: ({ rank }) => `rank ${rank}`,
  },
];

/** Whether a fact of a listed party agrees with the customer's; empty where that is unknown. */
export const showAgreement = (agreement: Corroboration[keyof Corroboration] = 'unknown'): Markup =>
  agreement === 'unknown'
    ? noMarkup
    : html` <span class="agreement ${agreement}">${codeWords.agreement[agreement]}</span>`;
