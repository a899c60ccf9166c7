import { BlobWriter, configure, TextReader, ZipWriter } from '@zip.js/zip.js';

configure({ useWebWorkers: false });

const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** What a workbook holds: the XML of its cells by sheet and row, its number formats from style 1 on, and its shared texts. */
export interface MadeWorkbook {
  sheets: Readonly<Record<string, readonly string[]>>;
  formats?: readonly string[];
  texts?: readonly string[];
  is1904?: boolean;
  hidden?: readonly string[];
  /** Parts that replace or join those above. */
  parts?: Readonly<Record<string, string>>;
}

const link = (id: string, type: string, target: string): string =>
  `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`;
const toLinks = (links: readonly string[]): string => `<Relationships>${links.join('')}</Relationships>`;

/** The XML of an inline text; an empty text gives no cell. */
const toCell = (text: string): string =>
  `<c t="inlineStr"><is><t>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</t></is></c>`;

/** Writes rows as sheets of texts. */
export const toRows = (table: readonly (readonly string[])[]): readonly string[] =>
  table.map((cells, at) => `<row r="${at + 1}">${cells.map(toCell).join('')}</row>`);

/** Packs a workbook (XLSX). */
export async function makeWorkbook(given: MadeWorkbook): Promise<Buffer> {
  const { sheets, formats = [], texts = [], is1904 = false, hidden = [] } = given;
  const names = Object.keys(sheets);
  const listed = names.map((name, at) => {
    const state = hidden.includes(name) ? ' state="hidden"' : '';
    return `<sheet name="${name}" sheetId="${at + 1}"${state} r:id="s${at}"/>`;
  });
  const parts = new Map([
    ['_rels/.rels', toLinks([link('r', 'officeDocument', 'xl/workbook.xml')])],
    [
      'xl/workbook.xml',
      `<workbook><workbookPr${is1904 ? ' date1904="1"' : ''}/><sheets>${listed.join('')}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      toLinks([
        ...names.map((_, at) => link(`s${at}`, 'worksheet', `worksheets/sheet${at + 1}.xml`)),
        link('x', 'styles', 'styles.xml'),
        link('y', 'sharedStrings', '/xl/sharedStrings.xml'),
      ]),
    ],
    [
      'xl/styles.xml',
      `<styleSheet><numFmts>${formats
        .map((code, at) => `<numFmt numFmtId="${200 + at}" formatCode="${code.replaceAll('"', '&quot;')}"/>`)
        .join('')}</numFmts><cellXfs><xf numFmtId="0"/>${formats
        .map((_, at) => `<xf numFmtId="${200 + at}"/>`)
        .join('')}</cellXfs></styleSheet>`,
    ],
    ['xl/sharedStrings.xml', `<sst>${texts.map((text) => `<si>${text}</si>`).join('')}</sst>`],
    ...names.map((name, at): [string, string] => [
      `xl/worksheets/sheet${at + 1}.xml`,
      `<worksheet><sheetData>${sheets[name]?.join('')}</sheetData></worksheet>`,
    ]),
    ...Object.entries(given.parts ?? {}),
  ]);
  const writer = new ZipWriter(new BlobWriter());
  for (const [path, text] of parts) await writer.add(path, new TextReader(text));
  return Buffer.from(await (await writer.close()).arrayBuffer());
}
