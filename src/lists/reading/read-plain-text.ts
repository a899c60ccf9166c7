import type { ListedParty } from '../listed-party.js';
import { readName } from './clean-name.js';
import { toListError } from './list-error.js';
import type { ListText } from './open-list-file.js';

/** Reads one name a line; blank lines and lines that begin with `#` are left out. */
export async function* readPlainText({ path, pieces }: ListText): AsyncGenerator<ListedParty> {
  for await (const { number, text } of splitLines(path, pieces)) {
    if (text.trim() === '' || text.trimStart().startsWith('#')) continue;
    yield { id: null, type: null, name: readName(path, number, text), aliases: [] };
  }
}

const maxLineLength = 1024 * 1024;

/** One line of a text, numbered from 1, without its ending. */
interface TextLine {
  number: number;
  text: string;
}

/** Gives a text's lines; throws ConfigError for a line that never ends. */
async function* splitLines(path: string, pieces: AsyncIterable<string>): AsyncGenerator<TextLine> {
  let rest = '';
  let number = 0;
  for await (const piece of pieces) {
    const text = rest + piece;
    // The second half of a CRLF may be in the next piece.
    const whole = text.endsWith('\r') ? text.slice(0, -1) : text;
    const lines = whole.split(/\r\n|\r|\n/);
    rest = (lines.pop() ?? '') + text.slice(whole.length);
    if (rest.length > maxLineLength) {
      throw toListError(
        path,
        number + lines.length + 1,
        'is longer than a million characters: this is no list of names',
      );
    }
    for (const line of lines) {
      number += 1;
      yield { number, text: line };
    }
  }
  if (rest !== '') yield { number: number + 1, text: rest.replace(/\r$/, '') };
}
