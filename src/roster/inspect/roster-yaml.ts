import { stringify } from 'yaml';
import { proposeFormats } from '../../vocabulary/date-formats.js';
import { type ProposedParty, proposeNames, toEntry } from '../unmapped-names.js';
import type { FileInspection } from './inspect-file.js';
import { listCompletable, type UnknownColumn } from './unknown-values.js';

/** The facts of a mapping in the order in which they are printed. */
export const columnOrder = ['id', 'name', 'type', 'birthDate', 'countries', 'riskTier', 'parties'] as const;

const meanings: Readonly<Record<UnknownColumn['key'], string>> = {
  type: 'person or entity',
  riskTier: 'low, medium or high',
  countries: 'a country',
  birthDate: 'a format',
};

/** What happens to rows with unknown values. */
export const effects: Readonly<Record<UnknownColumn['key'], string>> = {
  type: 'rows with these words are rejected',
  riskTier: 'rows with these words count as high',
  countries: 'these words count as unknown countries',
  birthDate: 'dates of these forms are not used (9 is a digit, a is a word)',
};

/** A YAML value on one line. */
export function toInline(value: unknown): string {
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
  return text.includes('\n') ? JSON.stringify(value) : text;
}

const countRows = (rows: number): string => (rows === 1 ? '1 row' : `${rows} rows`);

/**
 * The guessed entry of `rosters:` as lines of YAML, without defaults. At most `mostUnknown` unknown words follow the
 * known ones of their column as comments: such a line is valid when it has a meaning and no `#` before it.
 */
export function toRosterYaml(inspection: FileInspection, path: string, mostUnknown = 20): readonly string[] {
  const { settings, guess, delimiter, encoding, hasHeader, headerLine, unknown } = inspection;
  const { parties, ...facts } = guess.columns;
  const csv = {
    path,
    ...(delimiter === ',' ? {} : { delimiter: delimiter === '\t' ? 'tab' : delimiter }),
    ...(encoding === 'utf-8' ? {} : { encoding }),
    ...(hasHeader && headerLine === null ? {} : { header: headerLine ?? false }),
  };
  const completable = listCompletable(unknown);
  const columns = columnOrder.flatMap((key) => {
    if (key === 'parties') return toNameLines(parties ?? [], inspection);
    const setting = facts[key];
    const [open] = completable.filter((each) => each.key === key);
    return [
      ...(setting === undefined ? [] : toColumnLines(key, setting, open?.isMapped ? open : undefined, mostUnknown)),
      ...(open === undefined || open.isMapped ? [] : toUnmappedLines(open, mostUnknown)),
    ];
  });
  return [
    'rosters:',
    `  - name: ${toInline(settings?.name ?? 'default')}`,
    `    csv: ${toInline(csv)}`,
    '    columns:',
    ...columns.map((line) => `      ${line}`),
  ];
}

/** The related parties, and as comments the settings for columns of names that a person has to decide about. */
function toNameLines(parties: readonly ProposedParty[], { unmappedNames, headers }: FileInspection): string[] {
  const active = parties.map((party) => `  - ${toEntry(party)}`);
  const found = proposeNames(unmappedNames, headers);
  if (unmappedNames.length === 0) return parties.length === 0 ? [] : ['parties:', ...active];
  const entries = found.parties.map((party) => `#   - ${toEntry(party)}`);
  return [
    ...(parties.length > 0 ? ['parties:', ...active] : []),
    '# names that nobody searches for: for each column, remove the # before parties or aliases, or before ignore',
    ...(parties.length === 0 && entries.length > 0 ? ['# parties:'] : []),
    ...entries,
    ...(found.aliases.length > 0 ? [`# aliases: ${toInline(found.aliases)}`] : []),
    `# ignore: ${toInline(unmappedNames.map(({ header }) => header))}`,
  ];
}

function toColumnLines(key: string, setting: unknown, open: UnknownColumn | undefined, mostUnknown: number): string[] {
  const plain = `${key}: ${toInline(setting)}`;
  if (open === undefined) return [plain];
  const words = toWordLines(open, mostUnknown);
  const isWithoutMap = key === 'birthDate' || Array.isArray(setting) || words.length === 0;
  if (isWithoutMap) return [plain, `# ${describeUnknown(open)}`];
  const head = `# ${meanings[open.key]} for each word, without the first #; ${effects[open.key]} until then:`;
  if (typeof setting === 'object' && setting !== null && 'column' in setting && 'values' in setting) {
    const known = Object.entries(setting.values ?? {}).map(([word, meaning]) => toPair(word, String(meaning)));
    const inner = [...known, head, ...words.map((word) => `# ${word}`)];
    return [`${key}:`, `  column: ${toInline(setting.column)}`, '  values:', ...inner.map((line) => `    ${line}`)];
  }
  const inner = [head, '# values:', ...words.map((word) => `#   ${word}`)];
  return [`${key}:`, `  column: ${toInline(setting)}`, ...inner.map((line) => `  ${line}`)];
}

/** A mapping that is a comment as a whole: without a word of known meaning it is not valid. */
function toUnmappedLines(open: UnknownColumn, mostUnknown: number): string[] {
  const { key, column } = open;
  const words = toWordLines(open, mostUnknown);
  if (words.length === 0) return [`# ${describeUnknown(open)}`];
  const instead = key === 'type' ? ', in place of the type above' : '';
  const lines = [`${key}: # ${meanings[key]} for each word${instead}`, `  column: ${toInline(column)}`, '  values:'];
  return [...lines, ...words.map((word) => `    ${word}`)].map((line) => `# ${line}`);
}

/** The words with their counts, still without a meaning; dates have none. */
const toWordLines = ({ key, values }: UnknownColumn, mostUnknown: number): string[] =>
  key === 'birthDate'
    ? []
    : values.slice(0, mostUnknown).map(({ value, rows }) => `${toPair(value, '')} # ${countRows(rows)}`);

function toPair(word: string, meaning: string): string {
  const key = toInline(word);
  return `${key.startsWith('? ') ? JSON.stringify(word) : key}: ${meaning}`.trimEnd();
}

const mostInLine = 5;

/** The unknown values of a column in one line. */
function describeUnknown({ key, column, values, others }: UnknownColumn): string {
  const shown = values.slice(0, mostInLine);
  const left = values.slice(mostInLine);
  const rest = {
    values: others.values + left.length,
    rows: others.rows + left.reduce((sum, { rows }) => sum + rows, 0),
  };
  const words = [
    ...shown.map(({ value, rows }) => `${JSON.stringify(value)} (${countRows(rows)})`),
    ...(rest.rows > 0
      ? [`${rest.values === 1 ? '1 value' : `${rest.values} values`} more (${countRows(rest.rows)})`]
      : []),
  ];
  const formats = [...new Set(values.flatMap(({ value }) => proposeFormats(value)))].join(' or ');
  const what = key === 'birthDate' ? `formats${formats && ` (${formats})`}` : `values (${meanings[key]})`;
  return `${toInline(column)} has ${words.join(', ')}: ${effects[key]}; add ${what} to ${key}`;
}
