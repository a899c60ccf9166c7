import type { Dirent } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { ReportError, readErrorCode } from '../errors.js';
import { isWithoutSpaces } from '../vocabulary/words.js';

/** The texts by which people are found in files. */
export interface Mentioned {
  references: readonly string[];
  names: readonly string[];
}

const readable: ReadonlySet<string> = new Set(['.json', '.csv', '.html', '.txt', '.eml']);

/**
 * The reports and mails below a folder of reports that name one of these people: folders of reports, the archives and copies beside them, and
 * `.eml` files, as paths. A folder counts as a whole: its workbook shows what its other files show. Gives none for a folder that is not there.
 * Throws ReportError when something cannot be read.
 */
export async function findMentions(directory: string, mentioned: Mentioned): Promise<readonly string[]> {
  const entries = await list(directory);
  const isMentioned = toMatcher(mentioned);
  const found: string[] = [];
  for (const entry of entries.filter((one) => one.isDirectory())) {
    const folder = join(directory, entry.name);
    const inside = await list(folder, true);
    if (entry.name === 'mail') {
      for (const { parentPath, name } of inside)
        if (await isMentionedIn(join(parentPath, name), isMentioned)) found.push(join(parentPath, name));
      continue;
    }
    for (const { parentPath, name } of inside) {
      if (!(await isMentionedIn(join(parentPath, name), isMentioned))) continue;
      found.push(folder);
      // Encrypted archives cannot be searched; they hold what the folder holds.
      const beside = entries.filter((one) => one.isFile() && one.name.startsWith(`${entry.name}.`));
      found.push(...beside.map((one) => join(directory, one.name)));
      break;
    }
  }
  return found;
}

/** Former revisions of a report are in folders of their own. */
async function list(folder: string, recursive = false): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true, recursive });
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return [];
    throw new ReportError('report_not_read', `${folder} cannot be searched for mentions; nothing was removed`, {
      cause: error,
    });
  }
}

async function isMentionedIn(path: string, isMentioned: (text: string) => boolean): Promise<boolean> {
  const form = extname(path);
  if (!readable.has(form)) return false;
  try {
    const text = await readFile(path, 'utf8');
    return isMentioned(form === '.eml' ? decodeMail(text) : text);
  } catch (error) {
    throw new ReportError('report_not_read', `${path} cannot be searched for mentions; nothing was removed`, {
      cause: error,
    });
  }
}

/** Names and references count as whole words, in any letter case. */
function toMatcher({ references, names }: Mentioned): (text: string) => boolean {
  const words = [...names, ...references].flatMap(listSpellings).map((word) => word.toLowerCase());
  return (text) => {
    const lower = text.toLowerCase();
    return words.some((word) => hasWord(lower, word));
  };
}

const partOfWord = /[\p{L}\p{N}]/u;

function hasWord(text: string, word: string): boolean {
  if (isWithoutSpaces(word)) return text.includes(word);
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const around = [text.charAt(at - 1), text.charAt(at + word.length)];
    if (!around.some((character) => partOfWord.test(character))) return true;
  }
  return false;
}

/** A text as it stands in JSON, CSV and HTML. */
function listSpellings(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const html = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = html.replaceAll('"', '&quot;').replaceAll("'", '&#39;');
  return [...new Set([text, json, text.replaceAll('"', '""'), html, quoted])];
}

/** The text of a mail with its encoded parts beside it. */
function decodeMail(mail: string): string {
  const joined = mail.replaceAll(/=\r?\n/g, '');
  const plain = Buffer.from(
    joined.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');
  const parts = mail.split(/\r?\n\r?\n/).map((part) => Buffer.from(part, 'base64').toString('utf8'));
  return [mail, plain, ...parts].join('\n');
}
