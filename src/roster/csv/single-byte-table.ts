import type { EncodingLabel } from './encodings.js';

/** Marks a byte that stands for no character. */
const unassigned = 0xffff;

const firstC1 = 0x80;
const lastC1 = 0x9f;

// From 0x80; a space stands for what has no character there. Node 20 and 22 read windows-1252 as if it were iso-8859-1.
const windows1252Signs = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ';

// From 0xa1. Node knows no iso-8859-16.
const iso16Letters =
  'ĄąŁ€„Š§š©Ș«Ź\u00adźŻ°±ČłŽ”¶·žčș»ŒœŸżÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚßàáâăäćæçèéêëìíîïđńòóôőöśűùúûüęțÿ';

/** The Windows code page that holds the letters of a standard which Node does not read as it is. */
const relatives: Partial<Record<EncodingLabel, string>> = {
  'iso-8859-9': 'windows-1254',
  'iso-8859-11': 'windows-874',
};

/** What each byte of an encoding of single bytes stands for, as UTF-16 units, the same on every version of Node. */
export function createSingleByteTable(label: EncodingLabel): Uint16Array {
  const table = Uint16Array.from({ length: 256 }, (_, byte) => byte);
  if (label === 'windows-1252') {
    for (const [index, sign] of [...windows1252Signs].entries()) {
      if (sign !== ' ') table[firstC1 + index] = sign.charCodeAt(0);
    }
  } else if (label === 'iso-8859-16') {
    for (const [index, letter] of [...iso16Letters].entries()) table[0xa1 + index] = letter.charCodeAt(0);
  } else if (label !== 'iso-8859-1') {
    const decoder = new TextDecoder(relatives[label] ?? label, { fatal: true });
    const first = label.startsWith('iso-') ? lastC1 + 1 : firstC1;
    for (let byte = first; byte < 256; byte += 1) table[byte] = decodeByte(decoder, byte);
  }
  return table;
}

/** Decodes bytes by a table; null where one of them stands for no character. */
export function decodeSingleBytes(bytes: Buffer, table: Uint16Array): string | null {
  const units = new Uint16Array(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) {
    const unit = table[bytes[at] ?? 0] ?? unassigned;
    if (unit === unassigned) return null;
    units[at] = unit;
  }
  return Buffer.from(units.buffer).toString('utf16le');
}

/** ICU gives some unassigned bytes a character of private use. */
function decodeByte(decoder: InstanceType<typeof TextDecoder>, byte: number): number {
  try {
    const unit = decoder.decode(Uint8Array.of(byte)).charCodeAt(0);
    return unit === 0xfffd || (unit >= 0xe000 && unit <= 0xf8ff) ? unassigned : unit;
  } catch {
    return unassigned;
  }
}
