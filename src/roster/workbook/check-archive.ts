import { RosterError } from '../../errors.js';

const endMark = 0x06054b50;
const entryMark = 0x02014b50;
const endLength = 22;
const entryLength = 46;
const longestComment = 0xffff;
const deflated = 8;
const isDescribedBehind = 0x0008;
const maxEntries = 2_000;
const isSheet = /^xl\/worksheets\/[^/]+\.xml$/i;

/** How much a workbook may unpack to, in bytes. */
export interface WorkbookLimits {
  all: number;
  /** Everything but the cells of its sheets: it is held in memory many times over while it is read. */
  besideSheets: number;
}

/**
 * Checks by the directory of a ZIP archive that it unpacks to no more than the limits; whoever unpacks it must hold each entry to the
 * size that the directory tells. Throws RosterError `not_a_workbook` when it is none, is cut off, or is larger.
 */
export function checkArchive(bytes: Buffer, name: string, limits: WorkbookLimits): void {
  const end = findEnd(bytes);
  if (end === null) throw refuse(`${name} is no workbook, or not all of it is there: save it again as .xlsx`);
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  if (count > maxEntries) throw refuse(`${name} is no workbook: it has ${count} parts`);
  let allBytes = 0;
  let besideBytes = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + entryLength > bytes.length || bytes.readUInt32LE(at) !== entryMark) {
      throw refuse(`${name} is damaged: save it again as .xlsx`);
    }
    const packed = bytes.readUInt32LE(at + 20);
    const unpacked = bytes.readUInt32LE(at + 24);
    const isUnsized =
      bytes.readUInt16LE(at + 10) === deflated &&
      unpacked === 0 &&
      (packed > 2 || (bytes.readUInt16LE(at + 8) & isDescribedBehind) !== 0);
    const nameLength = bytes.readUInt16LE(at + 28);
    const entry = bytes.toString('utf8', at + entryLength, at + entryLength + nameLength);
    allBytes += unpacked;
    if (!isSheet.test(entry)) besideBytes += unpacked;
    if (isUnsized || allBytes > limits.all || besideBytes > limits.besideSheets) {
      throw refuse(`${name} unpacks to more than a working list ever does: save its sheet as CSV UTF-8`);
    }
    at += entryLength + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
}

/** Where the closing record begins; a comment may stand behind it. */
function findEnd(bytes: Buffer): number | null {
  const first = Math.max(0, bytes.length - endLength - longestComment);
  for (let at = bytes.length - endLength; at >= first; at -= 1) if (bytes.readUInt32LE(at) === endMark) return at;
  return null;
}

const refuse = (message: string): RosterError => new RosterError('not_a_workbook', `${message}.`);
