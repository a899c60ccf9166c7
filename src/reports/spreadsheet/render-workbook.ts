import { ZipWriter } from '@zip.js/zip.js';
import { toWorkbookText } from '../workbook-text.js';
import { escapeXml } from './escape-xml.js';
import { renderSheet, toFilterRange, toLetters } from './render-sheet.js';
import type { Workbook } from './sheet.js';
import { renderStyles } from './styles.js';

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const office = 'http://schemas.openxmlformats.org';
const mediaType = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const blockLength = 65_536;
/** The first day that an archive can name: 1980-01-01. */
const firstDay = 0x0021_0000;
// The runtime's own compression is not the same on all machines.
const archiveOptions = {
  ...{ useCompressionStream: false, useWebWorkers: false, level: 6, zip64: false },
  ...{ extendedTimestamp: false, rawLastModDate: firstDay },
};

type Part = readonly [path: string, content: Iterable<string>];

/**
 * A workbook (XLSX) as it is written: the same one gives the same bytes on every machine and at any time, and however many rows it has,
 * no more than a few are held at once.
 */
export async function* renderWorkbook(workbook: Workbook): AsyncGenerator<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const archive = new ZipWriter(writable, archiveOptions);
  const written = (async () => {
    for (const [path, content] of listParts(workbook)) await archive.add(path, toByteStream(content));
    await archive.close();
  })();
  // Whoever reads is told of a failure by the stream too; it must not count as one that nobody sees.
  written.catch((reason: unknown) => writable.abort(reason).catch(() => {}));
  yield* readable;
  await written;
}

function listParts(workbook: Workbook): readonly Part[] {
  const { sheets } = workbook;
  const sheetPaths = sheets.map((_, index) => `worksheets/sheet${index + 1}.xml`);
  return [
    ['[Content_Types].xml', [declaration, renderContentTypes(sheetPaths)]],
    ['_rels/.rels', [declaration, renderRootRelations()]],
    ['docProps/core.xml', [declaration, renderProperties(workbook)]],
    ['xl/workbook.xml', [declaration, renderIndex(workbook)]],
    ['xl/_rels/workbook.xml.rels', [declaration, renderRelations(sheetPaths)]],
    ['xl/styles.xml', [declaration, renderStyles()]],
    ...sheets.map((sheet, index): Part => [`xl/${sheetPaths[index]}`, renderSheet(sheet, workbook)]),
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

/** Text of many small pieces as few larger ones, made when they are asked for. */
function toByteStream(content: Iterable<string>): ReadableStream<Uint8Array> {
  const pieces = content[Symbol.iterator]();
  return new ReadableStream({
    pull: (controller) => {
      let block = '';
      while (block.length < blockLength) {
        const piece = pieces.next();
        if (piece.done) {
          if (block !== '') controller.enqueue(Buffer.from(block, 'utf8'));
          return controller.close();
        }
        block += piece.value;
      }
      return controller.enqueue(Buffer.from(block, 'utf8'));
    },
  });
}
