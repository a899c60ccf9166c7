/** Formats of dates in exports; of two that read a text, the more usual one comes first. */
export const knownFormats: readonly string[] =
  `yyyy-MM-dd dd.MM.yyyy d.M.yyyy dd/MM/yyyy MM/dd/yyyy d/M/yyyy M/d/yyyy dd-MM-yyyy MM-dd-yyyy d-M-yyyy M-d-yyyy
  yyyy/MM/dd yyyy.MM.dd yyyyMMdd ddMMyyyy dd.MM.yy d.M.yy dd/MM/yy MM/dd/yy d/M/yy M/d/yy dd-MM-yy MM-dd-yy d-M-yy
  M-d-yy yy-MM-dd yy/MM/dd yy.MM.dd yyMMdd ddMMyy MMddyy`.split(/\s+/);

/** The known formats that have the digits and separators of a date. */
export function proposeFormats(text: string): readonly string[] {
  const hasShortParts = /(?<!\d)\d(?!\d)/.test(text);
  const shape = text.replace(/\d/g, '9').replace(/(?<!9)9(?!9)/g, '99');
  return knownFormats.filter((format) => toShape(format) === shape && /(?<!d)d(?!d)/.test(format) === hasShortParts);
}

const toShape = (format: string): string => format.replace(/MM?|dd?/g, '99').replace(/y/g, '9');

/** The formats that may make dates in doubt readable, as in `dd/MM/yy or MM/dd/yy`; null for none. */
export function describeFormats(values: readonly { value: string; why: string }[]): string | null {
  const open = values.filter(({ why }) => /^(?:ambiguous_date|invalid_birth_date|invalid_end_date)$/.test(why));
  const formats = new Set(open.flatMap(({ value }) => proposeFormats(value)));
  return formats.size === 0 ? null : [...formats].join(' or ');
}
