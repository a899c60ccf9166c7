import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { ZipWriter } from '@zip.js/zip.js';
import { type Cell, type Section, toHeading } from './section.js';
import { formatMinute, nameInCommands, toVisibleText } from './text.js';

/** The styles of cells, in the order of the file of styles; all except `fill` are locked. */
const styleNames = ['plain', 'title', 'warning', 'heading', 'header', 'fillHeader', 'text', 'figure', 'fill'] as const;
type StyleName = (typeof styleNames)[number];

const toStyleNumber = (name: StyleName): number => styleNames.indexOf(name);

/** Long text is wrapped; otherwise it overflows into empty cells. */
const isWrapped = (name: StyleName): boolean => name !== 'title' && name !== 'heading';

/** The file of styles, without its line breaks and comments. */
const readStyles = (): string => readPageFile('report.styles.xml').replace(/<!--.*?-->|\n */g, '');

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text escaped for XML, between tags or in an attribute. */
const escapeXml = (text: string): string => text.replace(/[&<>"]/g, (sign) => entities[sign] ?? sign);

// A cell holds 32,767 characters; code points of hidden characters and the ellipsis need the rest.
const maxTextLength = 32_000;

/** The text of a cell: times to the minute, hidden characters as code points. */
export function toWorkbookText(content: string, timezone = 'UTC'): string {
  // XML does not allow U+FFFE and U+FFFF, nor the half of a surrogate pair that truncation leaves.
  const text = toMinute(content, timezone)
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replace(/[^\n\t]+/g, toVisibleText);
  const shown =
    text.length > maxTextLength ? `${text.slice(0, maxTextLength).replace(/[\ud800-\udbff]$/, '')} ...` : text;
  // The format reads `_x000A_` as an escaped character: a name with such a text must keep it.
  return shown.replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_');
}

function toWorkbookCell(cell: Cell, timezone: string): string | number | null {
  if (cell instanceof Date) return formatMinute(cell, timezone);
  return typeof cell === 'string' ? toWorkbookText(cell, timezone) : cell;
}

const toMinute = (text: string, timezone: string): string =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) ? formatMinute(new Date(text), timezone) : text;

const linePoints = 15;
const maxLines = 8;
const wide = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/gu;

/** The height in points of a row with wrapped text; not every program calculates it. */
function toRowHeight(cells: readonly (string | number | null)[], widths: readonly number[]): number {
  const lines = cells.map((cell, index) => countLines(String(cell ?? ''), widths[index] ?? 1));
  return linePoints * Math.min(maxLines, Math.max(1, ...lines));
}

const countLines = (text: string, width: number): number =>
  text.split('\n').reduce((sum, line) => {
    const { length } = line.replace(wide, 'MM');
    // Words are not split, so lines are not full: 15 % more.
    return sum + (length < width ? 1 : Math.ceil((length * 1.15) / width));
  }, 0);

/** A row: text is never a formula, numbers stay numbers, null is empty. `styles` replaces the styles of the columns. */
export interface SheetRow {
  cells: readonly Cell[];
  styles?: readonly StyleName[];
  /** The only cell spans all columns; above a table it spans the first columns. */
  isAcross?: true;
}

/** A sheet of a workbook: only cells of the style `fill` are writable, and its table can be sorted and filtered. */
export interface Sheet {
  name: string;
  /** Widths in characters. */
  columns: readonly { width: number; style: StyleName }[];
  /** Read once, while the file is written; times are on the clock of the time zone. */
  listRows: (timezone: string) => Iterable<SheetRow>;
  /** Its headers and first columns are frozen and repeated on printed pages; null for a sheet of text. */
  table: {
    /** From 1. */
    headerRow: number;
    /** The number of rows below the headers. */
    rows: number;
    firstColumns: number;
  } | null;
  /** The choices of a column (numbered from 0); `isStrict`: no other value is allowed. */
  dropdowns: readonly { column: number; values: readonly string[]; isStrict: boolean; title: string; hint: string }[];
}

type Table = NonNullable<Sheet['table']>;

/** A workbook; `title` and `warning` are on every printed page. */
interface Workbook {
  title: string;
  createdAt: Date;
  /** The IANA time zone in which cells show times. */
  timezone: string;
  warning: string | null;
  /** The organisation that its commands name. */
  organisation?: string | undefined;
  sheets: readonly Sheet[];
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const office = 'http://schemas.openxmlformats.org';
const mediaType = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const blockLength = 65_536;
/** The first date of the archive format: 1980-01-01. */
const firstDay = 0x0021_0000;
// The compression of the runtime differs between machines.
const archiveOptions = {
  useCompressionStream: false,
  useWebWorkers: false,
  level: 6,
  zip64: false,
  extendedTimestamp: false,
  rawLastModDate: firstDay,
};

/** A workbook (XLSX) as a stream that holds few rows at a time; the same workbook gives the same bytes on every machine. */
export async function* renderWorkbook(workbook: Workbook): AsyncGenerator<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const archive = new ZipWriter(writable, archiveOptions);
  const written = (async () => {
    for (const [path, content] of listParts(workbook)) {
      await archive.add(path, ReadableStream.from(joinBlocks(content, blockLength, workbook.organisation)));
    }
    await archive.close();
  })();
  // The stream passes a failure to its reader too; without this handler it would also be an unhandled rejection.
  written.catch((reason: unknown) => writable.abort(reason).catch(() => {}));
  yield* readable;
  await written;
}

function listParts(workbook: Workbook): readonly (readonly [path: string, content: Iterable<string>])[] {
  const { sheets } = workbook;
  const sheetPaths = sheets.map((_, index) => `worksheets/sheet${index + 1}.xml`);
  return [
    ['[Content_Types].xml', [declaration, renderContentTypes(sheetPaths)]],
    ['_rels/.rels', [declaration, renderRootRelations()]],
    ['docProps/core.xml', [declaration, renderProperties(workbook)]],
    ['xl/workbook.xml', [declaration, renderIndex(workbook)]],
    ['xl/_rels/workbook.xml.rels', [declaration, renderRelations(sheetPaths)]],
    ['xl/styles.xml', [declaration, readStyles()]],
    ...sheets.map((sheet, index) => [`xl/${sheetPaths[index]}`, renderSheet(sheet, workbook)] as const),
  ];
}

function renderContentTypes(sheetPaths: readonly string[]): string {
  const parts = [
    ['/xl/workbook.xml', `${mediaType}.sheet.main+xml`],
    ['/xl/styles.xml', `${mediaType}.styles+xml`],
    ['/docProps/core.xml', 'application/vnd.openxmlformats-package.core-properties+xml'],
    ...sheetPaths.map((path) => [`/xl/${path}`, `${mediaType}.worksheet+xml`]),
  ].map(([path, type]) => `<Override PartName="${path}" ContentType="${type}"/>`);
  return `<Types xmlns="${office}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${parts.join('')}</Types>`;
}

const renderRootRelations = (): string =>
  `<Relationships xmlns="${office}/package/2006/relationships"><Relationship Id="rId1" Type="${office}/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/><Relationship Id="rId2" Type="${office}/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>`;

function renderRelations(sheetPaths: readonly string[]): string {
  const parts = [...sheetPaths.map((path) => ['worksheet', path]), ['styles', 'styles.xml']].map(
    ([type, path], index) =>
      `<Relationship Id="rId${index + 1}" Type="${office}/officeDocument/2006/relationships/${type}" Target="${path}"/>`,
  );
  return `<Relationships xmlns="${office}/package/2006/relationships">${parts.join('')}</Relationships>`;
}

function renderProperties({ title, createdAt }: Workbook): string {
  const moment = `${createdAt.toISOString().slice(0, 19)}Z`;
  return `<cp:coreProperties xmlns:cp="${office}/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><dc:title>${escapeXml(toWorkbookText(title))}</dc:title><dc:creator>Nightscreen</dc:creator><dcterms:created xsi:type="dcterms:W3CDTF">${moment}</dcterms:created><dcterms:modified xsi:type="dcterms:W3CDTF">${moment}</dcterms:modified></cp:coreProperties>`;
}

function renderIndex({ sheets }: Workbook): string {
  const entries = sheets.map(
    ({ name }, index) => `<sheet name="${escapeXml(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`,
  );
  const names = sheets.flatMap(({ name, columns, table }, index) => {
    if (table === null) return [];
    const place = (range: string): string => `'${name}'!${range.replace(/[A-Z]+|\d+/g, '$$$&')}`;
    return [
      `<definedName name="_xlnm._FilterDatabase" localSheetId="${index}" hidden="1">${place(toFilterRange({ columns }, table))}</definedName>`,
      `<definedName name="_xlnm.Print_Titles" localSheetId="${index}">${place(`A:${toLetters(table.firstColumns - 1)}`)},${place(`1:${table.headerRow}`)}</definedName>`,
    ];
  });
  const namesXml = names.length === 0 ? '' : `<definedNames>${names.join('')}</definedNames>`;
  return `<workbook xmlns="${office}/spreadsheetml/2006/main" xmlns:r="${office}/officeDocument/2006/relationships"><bookViews><workbookView/></bookViews><sheets>${entries.join('')}</sheets>${namesXml}</workbook>`;
}

/** A file of the page or of the workbook: beside the program's code as `sql` is, so that Node finds it from the sources and from what is built. */
export const readPageFile = (name: `report.${'css' | 'js' | 'styles.xml'}`): string =>
  readFileSync(createRequire(import.meta.url).resolve(`#page/${name}`), 'utf8');

/** Joins chunks into large blocks; no text is split, and its commands name the organisation. */
export async function* joinBlocks(
  chunks: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
  blockLength: number,
  organisation?: string,
): AsyncGenerator<Uint8Array> {
  let waiting = '';
  for await (const chunk of chunks) {
    if (typeof chunk === 'string') waiting += nameInCommands(chunk, organisation);
    if (waiting !== '' && (waiting.length >= blockLength || typeof chunk !== 'string')) {
      yield Buffer.from(waiting, 'utf8');
      waiting = '';
    }
    if (typeof chunk !== 'string') yield chunk;
  }
  if (waiting !== '') yield Buffer.from(waiting, 'utf8');
}

/** The width of a printed page in characters; more would be too small to read. */
const pageWidth = 200;
const titlePoints = 22;

/** Renders a sheet row by row, so that a large one is never held as a whole. */
function* renderSheet(sheet: Sheet, workbook: Workbook): Generator<string> {
  yield '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">';
  yield `<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>${renderView(sheet)}<sheetFormatPr defaultRowHeight="15"/>`;
  const columns = sheet.columns.map(({ width, style }, index) => {
    const look = sheet.table === null ? '' : ` style="${toStyleNumber(style)}"`;
    return `<col min="${index + 1}" max="${index + 1}" width="${width}"${look} customWidth="1"/>`;
  });
  yield `<cols>${columns.join('')}</cols><sheetData>`;
  const merges: string[] = [];
  let number = 0;
  for (const row of sheet.listRows(workbook.timezone)) {
    number += 1;
    yield renderRow(row, number, sheet, workbook.timezone);
    const across = row.isAcross ? countAcross(sheet, number) : 1;
    if (across > 1) merges.push(`<mergeCell ref="A${number}:${toLetters(across - 1)}${number}"/>`);
  }
  yield '</sheetData><sheetProtection sheet="1" formatColumns="0" formatRows="0" sort="0" autoFilter="0"/>';
  yield renderSortable(sheet);
  if (sheet.table !== null) yield `<autoFilter ref="${toFilterRange(sheet, sheet.table)}"/>`;
  if (merges.length > 0) yield `<mergeCells count="${merges.length}">${merges.join('')}</mergeCells>`;
  yield renderValidations(sheet);
  yield '<pageMargins left="0.4" right="0.4" top="0.6" bottom="0.6" header="0.3" footer="0.3"/>';
  // A4, without a limit for pages below each other.
  yield `<pageSetup paperSize="9" orientation="landscape" fitToWidth="${countPages(sheet)}" fitToHeight="0"/>`;
  yield `${renderPageEdges(workbook)}</worksheet>`;
}

/** The range of a sheet's filter with its headers: `A1:C20`. */
const toFilterRange = ({ columns }: Pick<Sheet, 'columns'>, table: Table): string =>
  `A${table.headerRow}:${toLetters(columns.length - 1)}${table.headerRow + table.rows}`;

/** The letters of a column, from 0. */
function toLetters(index: number): string {
  const rest = index < 26 ? '' : toLetters(Math.floor(index / 26) - 1);
  return `${rest}${String.fromCharCode(65 + (index % 26))}`;
}

function renderView({ table }: Sheet): string {
  const pane =
    table === null
      ? ''
      : `<pane xSplit="${table.firstColumns}" ySplit="${table.headerRow}" topLeftCell="${toLetters(table.firstColumns)}${table.headerRow + 1}" activePane="bottomRight" state="frozen"/>`;
  return `<sheetViews><sheetView workbookViewId="0"${table === null ? ' showGridLines="0"' : ''}>${pane}</sheetView></sheetViews>`;
}

function renderRow({ cells, styles, isAcross }: SheetRow, number: number, sheet: Sheet, timezone: string): string {
  const { columns } = sheet;
  const names = cells.map((_, index): StyleName => styles?.[index] ?? columns[index]?.style ?? 'plain');
  const shown = cells.map((cell) => toWorkbookCell(cell, timezone));
  const xml = shown.map((cell, index) => {
    const style = names[index] ?? 'plain';
    // An empty cell takes the style of its column, but not every program reads the lock from the column.
    return cell === null && styles === undefined && style !== 'fill'
      ? ''
      : renderCell(cell, `${toLetters(index)}${number}`, style);
  });
  const wrapped = shown.map((cell, index) => (isWrapped(names[index] ?? 'plain') ? cell : null));
  const widths = isAcross
    ? [toWidth({ columns: columns.slice(0, countAcross(sheet, number)) })]
    : columns.map(({ width }) => width);
  const points = names[0] === 'title' ? titlePoints : toRowHeight(wrapped, widths);
  return `<row r="${number}" ht="${points}" customHeight="1">${xml.join('')}</row>`;
}

function renderCell(cell: string | number | null, place: string, style: StyleName): string {
  const start = `<c r="${place}" s="${toStyleNumber(style)}"`;
  if (cell === null) return `${start}/>`;
  if (typeof cell === 'number') return `${start}><v>${cell}</v></c>`;
  const space = /^\s|\s$|\s\s|[\t\n]/.test(cell) ? ' xml:space="preserve"' : '';
  return `${start} t="inlineStr"><is><t${space}>${escapeXml(cell)}</t></is></c>`;
}

/** A protected sheet can be sorted only in unprotected ranges, so a validation protects the read-only columns instead. */
function renderSortable({ columns, table }: Sheet): string {
  if (table === null || table.rows === 0) return '';
  const range = `A${table.headerRow + 1}:${toLetters(columns.length - 1)}${table.headerRow + table.rows}`;
  return `<protectedRanges><protectedRange name="Rows" sqref="${range}"/></protectedRanges>`;
}

function renderValidations({ columns, dropdowns, table }: Sheet): string {
  if (table === null || table.rows === 0) return '';
  const xml = [...dropdowns.map((dropdown) => renderDropdown(dropdown, table)), renderReadOnly(columns, table)];
  return `<dataValidations count="${xml.length}">${xml.join('')}</dataValidations>`;
}

/** The validation that protects the read-only columns. */
function renderReadOnly(columns: Sheet['columns'], { headerRow, rows }: Table): string {
  const ranges: string[] = [];
  for (let first = 0; first < columns.length; first += 1) {
    if (columns[first]?.style === 'fill') continue;
    let last = first;
    while (last + 1 < columns.length && columns[last + 1]?.style !== 'fill') last += 1;
    ranges.push(`${toLetters(first)}${headerRow + 1}:${toLetters(last)}${headerRow + rows}`);
    first = last;
  }
  return `<dataValidation type="custom" allowBlank="0" showErrorMessage="1" errorTitle="Read-only" error="This cell cannot be changed. Sorting and filtering work." sqref="${ranges.join(' ')}"><formula1>FALSE</formula1></dataValidation>`;
}

function renderDropdown(
  { column, values, isStrict, title, hint }: Sheet['dropdowns'][number],
  { headerRow, rows }: Table,
): string {
  const letters = toLetters(column);
  const range = `${letters}${headerRow + 1}:${letters}${headerRow + rows}`;
  const rest = isStrict
    ? ` showErrorMessage="1" errorTitle="${escapeXml(title)}" error="${escapeXml(hint)}"`
    : ` showInputMessage="1" promptTitle="${escapeXml(title)}" prompt="${escapeXml(hint)}"`;
  return `<dataValidation type="list" allowBlank="1"${rest} sqref="${range}"><formula1>"${escapeXml(values.join(','))}"</formula1></dataValidation>`;
}

/** The columns that a row spans: above a table only those that every printed page repeats, or print would truncate the text. */
const countAcross = ({ columns, table }: Sheet, number: number): number =>
  table !== null && number < table.headerRow ? table.firstColumns : columns.length;

const toWidth = ({ columns }: Pick<Sheet, 'columns'>): number => columns.reduce((sum, { width }) => sum + width, 0);

/** The number of printed pages side by side; each repeats the first columns. */
function countPages({ columns, table }: Sheet): number {
  const repeated = toWidth({ columns: columns.slice(0, table?.firstColumns ?? 0) });
  return Math.max(1, Math.ceil((toWidth({ columns }) - repeated) / (pageWidth - repeated)));
}

/** `&` starts a format code. */
const toEdgeText = (text: string): string => escapeXml(toWorkbookText(text).slice(0, 100).replaceAll('&', '&&'));

function renderPageEdges({ title, warning }: Workbook): string {
  const header = warning === null ? '' : `<oddHeader>&amp;C&amp;B${toEdgeText(warning)}</oddHeader>`;
  const footer = `&amp;L${toEdgeText(title)}&amp;C&amp;A&amp;R&amp;P / &amp;N`;
  return `<headerFooter>${header}<oddFooter>${footer}</oddFooter></headerFooter>`;
}

/** A sheet of one table with a row per line: its first columns identify a line, and only what reviewers fill in is writable. */
export function toTableSheet<Line>(
  { title, columns, lines }: Pick<Section<Line>, 'title' | 'columns' | 'lines'>,
  firstColumns: number,
  around: {
    /** Rows above the headers and below the last line. */
    above?: readonly SheetRow[];
    below?: readonly SheetRow[];
    dropdowns?: readonly (Omit<Sheet['dropdowns'][number], 'column'> & { key: string })[];
  },
): Sheet {
  const { above = [], below = [], dropdowns = [] } = around;
  const shown = columns.filter(({ width }) => width !== undefined);
  function* listRows(timezone: string): Generator<SheetRow> {
    yield* above;
    yield {
      cells: shown.map(toHeading),
      styles: shown.map(({ fillIn }) => (fillIn ? 'fillHeader' : 'header')),
    };
    for (const line of lines) yield { cells: shown.map(({ cell }) => cell?.(line, timezone) ?? null) };
    yield* below;
  }
  return {
    name: title,
    columns: shown.map(({ width = 0, fillIn }) => ({ width, style: fillIn ? 'fill' : 'text' })),
    listRows,
    table: { headerRow: above.length + 1, rows: lines.length, firstColumns },
    dropdowns: dropdowns.map(({ key, ...dropdown }) => ({
      ...dropdown,
      column: shown.findIndex((column) => column.key === key),
    })),
  };
}

/** A row of text. */
export const toLine = (text: string): SheetRow => ({ cells: [text], styles: ['plain'], isAcross: true });

/** A heading. */
export const toHeadingRow = (text: string): SheetRow => ({ cells: [text], styles: ['heading'] });

/** A warning. */
export const toWarning = (text: string): SheetRow => ({ cells: [text], styles: ['warning'], isAcross: true });
