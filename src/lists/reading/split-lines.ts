import { toListError } from './list-error.js';

const maxLineLength = 1024 * 1024;

/** One line of a text, numbered from 1, without its ending. */
export interface TextLine {
  number: number;
  text: string;
}

/** Gives a text's lines; throws ConfigError for a line that never ends. */
export async function* splitLines(path: string, pieces: AsyncIterable<string>): AsyncGenerator<TextLine> {
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
