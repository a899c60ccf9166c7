import type { ListedParty } from '../listed-party.js';
import { readName } from './clean-name.js';
import type { ListText } from './open-list-file.js';
import { splitLines } from './split-lines.js';

/** Reads one name a line; blank lines and lines that begin with `#` are left out. */
export async function* readPlainText({ path, pieces }: ListText): AsyncGenerator<ListedParty> {
  for await (const { number, text } of splitLines(path, pieces)) {
    if (text.trim() === '' || text.trimStart().startsWith('#')) continue;
    yield { id: null, type: null, name: readName(path, number, text), aliases: [] };
  }
}
