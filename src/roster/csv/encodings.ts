const utf16 = ['utf-16le', 'utf-16be'] as const;
const eastAsian = ['shift_jis', 'euc-jp', 'euc-kr', 'gbk', 'gb18030', 'big5'] as const;

/**
 * The encodings in which a CSV file may be declared, as WHATWG labels; `iso-8859-1`, `-9` and `-11` mean these standards themselves,
 * not the Windows code pages that browsers read in their place.
 */
export const csvEncodings = [
  'utf-8',
  ...utf16,
  'windows-874',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'windows-1257',
  'windows-1258',
  'iso-8859-1',
  'iso-8859-2',
  'iso-8859-3',
  'iso-8859-4',
  'iso-8859-5',
  'iso-8859-6',
  'iso-8859-7',
  'iso-8859-8',
  'iso-8859-9',
  'iso-8859-10',
  'iso-8859-11',
  'iso-8859-13',
  'iso-8859-14',
  'iso-8859-15',
  'iso-8859-16',
  'koi8-r',
  'koi8-u',
  'ibm866',
  'macintosh',
  'x-mac-cyrillic',
  ...eastAsian,
] as const;

/** One of the encodings in which a CSV file may be declared. */
export type EncodingLabel = (typeof csvEncodings)[number];

/** Encodings whose characters take several bytes, so that a line of theirs may pass for UTF-8. */
export const wideEncodings: readonly EncodingLabel[] = [...utf16, ...eastAsian];
