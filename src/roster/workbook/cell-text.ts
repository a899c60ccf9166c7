import { decodeXML } from 'entities/decode';
import { listTags } from '../../xml.js';

/** How the numbers of a style are read. */
type NumberReading = 'as_stored' | 'day' | 'month' | 'year' | { placeholders: string };

const builtInDates: ReadonlyMap<number, string> = new Map([
  [14, 'm/d/yyyy'],
  [15, 'd-mmm-yy'],
  [16, 'd-mmm'],
  [17, 'mmm-yy'],
  [22, 'm/d/yy h:mm'],
  // Dates of East Asian languages.
  ...[27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58].map((id): [number, string] => [
    id,
    'yyyy/m/d',
  ]),
]);

/** Reads how the numbers of each cell style are displayed, from the style sheet of a workbook. */
export function readStyles(xml: string): readonly NumberReading[] {
  const formats = new Map(builtInDates);
  for (const format of listTags(xml, 'numFmt')) {
    formats.set(Number(format.get('numFmtId')), format.get('formatCode') ?? '');
  }
  const [cellStyles = ''] = /<(?:[\w.-]+:)?cellXfs[\s>].*?<\/(?:[\w.-]+:)?cellXfs>/s.exec(xml) ?? [];
  return listTags(cellStyles, 'xf').map((style) => toReading(formats.get(Number(style.get('numFmtId'))) ?? ''));
}

/** What a format says beside its dates and digits: quoted and escaped text, blanks, fills. */
const literals = /"([^"]*)"|\\(.)|_.|\*./gsu;

function toReading(format: string): NumberReading {
  // The first section is the one for positive numbers, unless it has a condition.
  const [section = ''] = /^(?:"[^"]*"|\\.|[^;"\\])*/su.exec(format) ?? [];
  if (/\[[<>=]/.test(section)) return 'as_stored';
  // Colours, languages and currencies; `[h]` is a span of time.
  const plain = section.replace(/\[(?!h+\]|m+\]|s+\])[^[\]]*\]/gi, '');
  const bare = plain.replace(literals, '').replace(/general|standard/gi, '');
  if (/[yd]/i.test(bare)) return /d/i.test(bare) ? 'day' : /m/i.test(bare) ? 'month' : 'year';
  if (!/^[-0# ()]+$/.test(bare) && !/^general$/i.test(plain.replace(literals, ''))) return 'as_stored';
  const placeholders = plain.replace(/general/gi, '#');
  return /^[0#]$/.test(placeholders) ? 'as_stored' : { placeholders };
}

/** Gives the text of a stored number: a date as its day, an id with its zeros and letters, another number with its digits. */
export function toNumberText(
  stored: string,
  reading: NumberReading = 'as_stored',
  calendar: Calendar = '1900',
): string {
  const text = stored.trim();
  const number = Number(text);
  if (text === '' || !Number.isFinite(number)) return text;
  if (typeof reading === 'string' && reading !== 'as_stored') {
    const day = toDay(number, calendar);
    if (day !== null) return day.slice(0, { day: 10, month: 7, year: 4 }[reading]);
  }
  if (!Number.isInteger(number)) return text;
  // A spreadsheet rounds from the 16th digit on, so several customers may have the same number.
  if (Math.abs(number) >= 1e15) return toRounded(number);
  const digits = String(number);
  return typeof reading === 'string' || number < 0 ? digits : fillPlaceholders(reading.placeholders, digits);
}

/** The form in which spreadsheets show a rounded number. */
const toRounded = (number: number): string =>
  number
    .toExponential()
    .toUpperCase()
    .replace(/^(-?\d)E/, '$1.0E');

const dayMs = 86_400_000;
const lastDay = 2_958_465;
/** 1900-02-29, which spreadsheets count although it never was. */
const falseDay = 60;

/** From which day a workbook counts. LibreOffice counts no day that never was, so its days before March 1900 have other numbers than those of Excel. */
export type Calendar = '1900' | '1904' | 'LibreOffice';

function toDay(serial: number, calendar: Calendar): string | null {
  const day = Math.floor(serial);
  if (day > lastDay || day < (calendar === '1900' ? 1 : 0)) return null;
  if (calendar === '1904') return toIso(Date.UTC(1904, 0, 1) + day * dayMs);
  if (calendar === '1900' && day === falseDay) return '1900-02-29';
  const isEarly = calendar === '1900' && day < falseDay;
  return toIso(Date.UTC(1899, 11, isEarly ? 31 : 30) + day * dayMs);
}

const toIso = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Fills digits into a format such as `"K-"000-00`, from its end; the first placeholder takes all that remain. */
function fillPlaceholders(format: string, digits: string): string {
  const tokens = [...format.matchAll(/"([^"]*)"|\\(.)|(_.|\*.)|(.)/gsu)];
  const first = tokens.findIndex(([, , , , plain]) => plain === '0' || plain === '#');
  let rest = digits;
  const parts = tokens.toReversed().map(([, quoted, escaped, fill, plain = ''], at): string => {
    if (fill !== undefined) return '';
    if (plain !== '0' && plain !== '#') return quoted ?? escaped ?? plain;
    const taken = tokens.length - 1 - at === first ? rest : rest.slice(-1);
    rest = rest.slice(0, rest.length - taken.length);
    return taken === '' && plain === '0' ? '0' : taken;
  });
  return parts.toReversed().join('').trim();
}

/** Joins the texts of a shared or inline string, without the pronunciation of its words. */
export function toPlainText(xml: string): string {
  const spoken = xml.includes('rPh') ? xml.replace(/<((?:[\w.-]+:)?rPh)[\s>].*?<\/\1>/gs, '') : xml;
  let text = '';
  for (const [, part = ''] of spoken.matchAll(/<(?:[\w.-]+:)?t(?:\s[^>]*)?(?<!\/)>(.*?)<\/(?:[\w.-]+:)?t>/gs)) {
    text += decodeText(part);
  }
  return text;
}

/** Decodes the entities of XML, and the characters that a workbook writes as `_x000D_`. */
export function decodeText(xml: string): string {
  if (!/[&_<]/.test(xml)) return xml;
  const text = xml
    .split(/<!\[CDATA\[(.*?)\]\]>/s)
    .map((part, at) => (at % 2 === 0 ? decodeXML(part) : part))
    .join('');
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
