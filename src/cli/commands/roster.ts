import { relative, resolve } from 'node:path';
import { flagError } from '../../errors.js';
import { countNoun, formatCount, toVisibleText } from '../../reports/text.js';
import type { Customer, PartyRow, RosterRow } from '../../roster/customer.js';
import type { ColumnGuess } from '../../roster/inspect/column-profile.js';
import type { FileInspection } from '../../roster/inspect/inspect-file.js';
import { columnOrder, effects, toRosterYaml } from '../../roster/inspect/roster-yaml.js';
import { codeWords } from '../../vocabulary/words.js';
import { defineCommand, definePreparedCommand, mandatory, negated, parsed, text, variadic } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { type Outcome, toOutcome } from '../invocation.js';
import { meanings, parseDay, shared } from '../options.js';
import { formatTable, isForTerminal } from '../text.js';

const inspect = defineCommand({
  usage: 'inspect <file>',
  description:
    'read a file without configuration, or the first that matches a pattern: print its format, a preview of its rows, and the configuration to paste',
  options: {
    roster: shared.roster,
    delimiter: text('<character>', 'the delimiter, if the guess is wrong'),
    encoding: text('<encoding>', 'the encoding, if the guess is wrong'),
    header: negated('the first line is a row'),
  },
  examples: ['roster inspect crm-export.csv', 'roster inspect kunden.csv --encoding windows-1252'],
  run: async ({ argument: file, options, invocation }) => {
    const { inspectFile, toRosterName } = await import('../../roster/inspect/inspect-file.js');
    const { roster: name = toRosterName(file), delimiter, encoding } = options;
    const header = options.header ? undefined : false;
    const path = file === '-' ? file : resolve(invocation.folder, file);
    return presentInspection(await inspectFile({ path, name, delimiter, encoding, header }));
  },
});

const except = definePreparedCommand({
  usage: 'except',
  description:
    'accept until a day that customers with unreadable rows stay unscreened: no exit code 3 because of them; their state stays',
  options: {
    by: shared.by,
    roster: shared.roster,
    customer: variadic('<reference...>', meanings.customer),
    all: { ...shared.all, conflicts: ['customer'] },
    until: mandatory(parsed('<yyyy-mm-dd>', meanings.until, parseDay)),
    reason: shared.reason,
  },
  examples: [
    'roster except --customer C-17 --until 2027-01-31 --reason late',
    'roster except --all --until 2027-01-31 --reason "bad export"',
  ],
  prepare: ({ options: { roster, customer, all, until } }) => {
    if (customer === undefined && !all) throw flagError('--customer', 'is missing: name customers, or use --all');
    return { roster, customers: customer ?? null, until };
  },
  run: async (app, { prepared: choice, options: { by, reason } }) => {
    const { acceptGaps } = await import('../../runs/coverage.js');
    const { findAcceptance } = await import('../../runs/settings-acceptance.js');
    const { until } = choice;
    const accepted = await acceptGaps(app, choice, await findAcceptance(app.database, { by, reason }));
    return toOutcome('nightscreen/roster-exceptions/1', { until, accepted }, describeExceptions(accepted, until));
  },
});

function describeExceptions(
  accepted: readonly { reference: string | null; reason: string; rows: number | null }[],
  until: string,
): string {
  if (accepted.length === 0) return 'nothing to accept\n';
  if (!isForTerminal()) {
    return `${countNoun(accepted.length, 'gap')} accepted until ${until}; a terminal and --json name the customers\n`;
  }
  const toCustomer = (reference: string | null, rows: number | null) => toVisibleText(reference ?? `${rows} rows`);
  return formatTable(
    accepted.map(({ reference, reason, rows }) => [toCustomer(reference, rows), reason, `until ${until}`]),
  );
}

export const command = defineCommand({
  usage: 'roster',
  description: 'inspect roster files, and accept unreadable rows for a time',
  examples: ['roster inspect crm-export.csv', 'roster except --all --until 2027-01-31 --reason late'],
  commands: [inspect, except],
});

const delimiterWords: Readonly<Record<string, string>> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' };

export const describeDelimiter = (delimiter: string): string => delimiterWords[delimiter] ?? JSON.stringify(delimiter);

const longestCell = 40;

function showCell(text: string): string {
  const visible = toVisibleText(text);
  return visible.length > longestCell ? `${visible.slice(0, longestCell - 3)}...` : visible;
}

function describeParties({ parties }: Customer, related: readonly PartyRow[]): string {
  const others = [...parties.slice(1), ...related.flatMap((row) => (row.kind === 'party' ? [row.related.party] : []))];
  const rejected = related.flatMap((row) => (row.kind === 'rejected' ? [row.rejected] : []));
  const named = others.map(({ role, name }) => `${role} ${showCell(name)}`);
  const unread = rejected.map(
    ({ column, reason }) => `REJECTED ${showCell(column ?? '')} (${codeWords.reject[reason]})`,
  );
  return named.length + unread.length === 0 ? '' : `+ ${[...named, ...unread].join(', ')}`;
}

const isUncertain = (row: RosterRow): boolean =>
  row.kind === 'customer' && row.customer.parties[0].birthDate?.endsWith('?') === true;

const listDoubts = ({ readings }: Customer): readonly string[] =>
  readings.doubts.map(({ column, why }) => `in doubt: ${showCell(column)} (${codeWords.doubt[why]})`);

function toRow(row: RosterRow, repeatedLines: readonly number[]): (string | number)[] {
  if (row.kind === 'rejected') {
    const { line, reference, reason, column, valueClass } = row.rejected;
    const where = column === null ? '' : ` (${showCell(column)}${valueClass === null ? '' : `: ${valueClass}`})`;
    return [line, showCell(reference ?? ''), 'REJECTED', '', '', '', '', `${codeWords.reject[reason]}${where}`];
  }
  const { line, customer, related = [] } = row;
  const [{ type, name, birthDate, countries }] = customer.parties;
  return [
    line,
    showCell(customer.reference),
    type,
    showCell(name),
    birthDate ?? '',
    countries.join(' '),
    customer.riskTier ?? '',
    [repeatedLines.includes(line) ? 'repeats a row above' : describeParties(customer, related), ...listDoubts(customer)]
      .filter((note) => note !== '')
      .join('; '),
  ];
}

const listColumns = ({ columns }: ColumnGuess): [string, unknown][] =>
  columnOrder.flatMap((key) => (columns[key] === undefined ? [] : [[key, columns[key]] satisfies [string, unknown]]));

/** The guessed mapping as rows of a table: fact, columns, reason. */
export const describeGuess = ({ guess }: FileInspection): string[][] =>
  listColumns(guess).map(([key, value]) => [
    `  ${key}`,
    toVisibleText(describeColumn(value)),
    guess.because[key] ?? '',
  ]);

function describeColumn(value: unknown): string {
  if (Array.isArray(value)) return value.map(describeColumn).join(' + ');
  if (typeof value !== 'object' || value === null) return String(value);
  if ('name' in value) return describeColumn(value.name);
  if ('value' in value) return `always ${value.value}`;
  if ('format' in value && 'column' in value) return `${value.column} as ${value.format}`;
  if (!('values' in value && 'column' in value)) return '';
  const words = Object.entries(value.values ?? {}).map(([own, word]) => `${own} = ${word}`);
  return `${value.column} (${words.join(', ')})`;
}

export const describeFile = ({ path, files }: FileInspection): string =>
  files.length === 1 && files[0] === path
    ? path
    : `${files[0] ?? path} (${files.length === 1 ? '1 file matches' : `${formatCount(files.length)} files match, this is the first`})`;

/** The values that an import does not understand with their rows, by column. */
export function listUnknown(unknown: FileInspection['unknown']): string {
  const columns = unknown.map(({ key, column, isMapped, values, others }) => {
    const effect = isMapped ? effects[key] : 'not mapped, because none of its words is known';
    const more = others.rows > 0 && [`    (${countNoun(others.values, 'other value')})`, formatCount(others.rows), ''];
    const rows = values.map(({ value, rows: count, why }) => [
      `    ${showCell(value)}`,
      formatCount(count),
      why === 'unknown_word' ? '' : codeWords.doubt[why],
    ]);
    return `  ${key}, column ${showCell(column)}: ${effect}\n${formatTable([...rows, more])}`;
  });
  return columns.length === 0 ? '' : `\nValues that are not understood, with their rows\n${columns.join('')}`;
}

function describeHeader({ hasHeader, headerLine }: FileInspection): string {
  if (headerLine === null) return hasHeader ? 'the first line' : 'none: columns are named by their number';
  return `line ${headerLine}; ${headerLine === 2 ? '1 line above it is' : `${headerLine - 1} lines above it are`} not read`;
}

function describeHeaderLines(lines: number, { hasHeader, headerLine }: FileInspection): string {
  if (headerLine !== null) return ` + ${formatCount(lines)} lines as far as the header`;
  if (lines > 1) return ` + ${formatCount(lines)} lines of header`;
  if (hasHeader) return ' + the header';
  return lines === 0 ? '' : ' + the line with the delimiter';
}

export function presentInspection(inspection: FileInspection): Outcome {
  const { headers, sheet, delimiter, encoding, guess, counts, tally, firstRows, repeatedLines, settings } = inspection;
  const { customers, rejected, repeated, rejectedBecause, isComplete } = counts;
  const { lines, blanks, continuations, records } = tally;
  const text = [
    formatTable([
      ['file', describeFile(inspection)],
      ...(sheet === null
        ? [
            ['encoding', encoding],
            ['delimiter', describeDelimiter(delimiter)],
          ]
        : [['sheet', showCell(sheet)]]),
      ['header', describeHeader(inspection)],
      ['columns', headers.map((header) => showCell(header)).join(', ')],
      [
        'lines',
        `${formatCount(lines)} = ${formatCount(records)} rows + ${formatCount(continuations)} continued lines + ${formatCount(blanks)} blank${describeHeaderLines(tally.headers, inspection)}`,
      ],
    ]),
    '\nGuessed mapping\n',
    formatTable(describeGuess(inspection)),
    guess.doubts.length === 0
      ? ''
      : `\nTo check\n${guess.doubts.map((doubt) => `  - ${toVisibleText(doubt)}\n`).join('')}`,
    customers + rejected + repeated === 0
      ? '\nNo row has an id and a name: set their columns under `columns:`.\n'
      : `\nPreview of the first rows\n${formatTable([
          ['line', 'id', 'type', 'name', 'born', 'countries', 'tier', ''],
          ...firstRows.map((row) => toRow(row, repeatedLines)),
        ])}${firstRows.some(isUncertain) ? '? marks an uncertain birth date, which contradicts nothing\n' : ''}\nAll rows: ${formatCount(customers)} customers + ${formatCount(rejected)} rejected + ${formatCount(repeated)} repeated\n${
          isComplete
            ? ''
            : 'There are too many ids to compare all rows with the same id: more rows may be repeated or rejected.\n'
        }${formatTable(Object.entries(rejectedBecause).map(([reason, count]) => [`  ${reason}`, formatCount(count)]))}${listUnknown(inspection.unknown)}`,
    settings === null && customers + rejected + repeated > 0
      ? '\nNo configuration is printed, because more than half of the rows would be rejected: set the right columns under `columns:`.\n'
      : `\nConfiguration to paste${inspection.unknown.length === 0 ? '' : '; its comments say what to complete'}\n\n${toRosterYaml(inspection, relative(process.cwd(), inspection.path) || inspection.path).join('\n')}\n`,
  ].join('');
  return toOutcome(
    'nightscreen/roster-inspection/1',
    inspection,
    text,
    settings === null ? exitCodes.incomplete : exitCodes.complete,
  );
}
