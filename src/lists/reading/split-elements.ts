import { toListError } from './list-error.js';

const maxElementLength = 4 * 1024 * 1024;

/** One element of an XML file as text, and the line on which it begins, from 1. */
export interface XmlElement {
  name: string;
  line: number;
  text: string;
}

/**
 * Gives the elements of these names one after the other, so that a large file is never in memory as a whole; elements of one of these
 * names within another are not looked for. Throws ConfigError when the file ends before `root` does.
 */
export async function* splitElements(
  path: string,
  pieces: AsyncIterable<string>,
  { root, names }: { root: string; names: readonly string[] },
): AsyncGenerator<XmlElement> {
  const opening = new RegExp(`<(${names.join('|')})(?=[\\s>])|</${root}\\s*>|<!--`, 'g');
  let text = '';
  let line = 1;
  let isWhole = false;
  const skip = (length: number): void => {
    for (let at = text.indexOf('\n'); at !== -1 && at < length; at = text.indexOf('\n', at + 1)) line += 1;
    text = text.slice(length);
  };
  for await (const piece of pieces) {
    text += piece;
    for (;;) {
      opening.lastIndex = 0;
      const found = opening.exec(text);
      if (!found) {
        // A tag may be cut by the end of the piece.
        skip(Math.max(0, text.lastIndexOf('<')));
        break;
      }
      const name = found[1];
      const closing = name === undefined ? (found[0] === '<!--' ? '-->' : '>') : `</${name}>`;
      const end = text.indexOf(closing, found.index);
      if (end === -1) {
        skip(found.index);
        if (text.length > maxElementLength) throw toListError(path, line, `${found[0]} never ends: ${again}`);
        break;
      }
      skip(found.index);
      const element = text.slice(0, end - found.index + closing.length);
      if (name !== undefined) yield { name, line, text: element };
      else if (found[0] !== '<!--') isWhole = true;
      skip(element.length);
    }
  }
  if (!isWhole) throw toListError(path, line, `the file ends before </${root}>, so it is cut off: ${again}`);
}

const again = 'take the list from its publisher again';
