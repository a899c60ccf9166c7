import { decodeXML } from 'entities/decode';

const maxElementLength = 4 * 1024 * 1024;

/** An element of an XML file as text, its name without a prefix, and the line on which it begins, from 1. */
export interface XmlElement {
  name: string;
  line: number;
  text: string;
}

/**
 * Gives the elements of these names one after the other, so that a large file is never in memory as a whole. Elements inside of others are not
 * found. Throws what `refuse` makes when an element is larger than 4 MiB or the file ends before `root` does.
 */
export async function* splitElements(
  pieces: AsyncIterable<string>,
  { root, names }: { root: string; names: readonly string[] },
  refuse: (problem: string, line: number) => Error,
): AsyncGenerator<XmlElement, void, undefined> {
  const opening = new RegExp(`<((?:[\\w.-]+:)?(${names.join('|')}))(?=[\\s/>])|</(?:[\\w.-]+:)?${root}\\s*>|<!--`, 'g');
  let text = '';
  let line = 1;
  let done = 0;
  let isWhole = false;
  const skipTo = (end: number): void => {
    line += text.slice(done, end).split('\n').length - 1;
    done = end;
  };
  for await (const piece of pieces) {
    text = text.slice(done) + piece;
    done = 0;
    for (;;) {
      opening.lastIndex = done;
      const found = opening.exec(text);
      // The end of the piece may split a tag.
      skipTo(found?.index ?? Math.max(done, text.lastIndexOf('<')));
      const end = found && findEnd(text, found);
      if (!found || end === null) break;
      const [start, , name] = found;
      if (name !== undefined) yield { name, line, text: text.slice(done, end) };
      isWhole ||= start.startsWith('</');
      skipTo(end);
    }
    if (text.length - done > maxElementLength) throw refuse('holds an element that never ends', line);
  }
  if (!isWhole || text.includes('<', done)) throw refuse(`ends before </${root}>, so it is truncated`, line);
}

/** The end of an element, a comment or the closing tag of the root; null when it is in a later piece. */
function findEnd(text: string, { index, 0: start, 1: tag }: RegExpExecArray): number | null {
  if (start.startsWith('</')) return index + start.length;
  const tagEnd = text.indexOf('>', index);
  if (tag !== undefined && text[tagEnd - 1] === '/') return tagEnd + 1;
  const closing = tag === undefined ? '-->' : `</${tag}>`;
  const end = text.indexOf(closing, index);
  return end === -1 ? null : end + closing.length;
}

/** The attributes of each tag of one name, without the prefixes of names. */
export function listTags(xml: string, name: string): readonly ReadonlyMap<string, string>[] {
  const tag = new RegExp(`<(?:[\\w.-]+:)?${name}((?:\\s+[\\w.:-]+\\s*=\\s*(?:"[^"]*"|'[^']*'))*)\\s*/?>`, 'g');
  return [...xml.matchAll(tag)].map(([, attributes = '']) => readAttributes(attributes));
}

/** The attributes in the text of a tag, without the prefixes of their names. */
export function readAttributes(text: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  const attribute = /(?<![\w.:-])(?:[\w.-]+:)?([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
  for (const [, name = '', quoted, other = ''] of text.matchAll(attribute)) {
    attributes.set(name, decodeXML(quoted ?? other));
  }
  return attributes;
}
