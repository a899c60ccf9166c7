import { basename } from 'node:path';
import type { ListedParty, PublishedList } from './listed-party.js';
import { toListError } from './reading/list-error.js';
import { type ListText, openListFile } from './reading/open-list-file.js';
import { readNameCsv } from './reading/read-name-csv.js';
import { readOfacCsv } from './reading/read-ofac-csv.js';
import { readOfacXml } from './reading/read-ofac-xml.js';
import { readPlainText } from './reading/read-plain-text.js';
import { readUnXml } from './reading/read-un-xml.js';
import { type RecognisedFormat, recogniseFormat } from './reading/recognise-format.js';

/** More spellings than this are no published list, and would not fit into memory. */
const maxSpellings = 1_000_000;
const beginningLength = 4_096;

/**
 * Reads a published list; its format is recognised by its content: one name a line, CSV with a column `name`, the OFAC SDN list (CSV or
 * XML), the UN consolidated list (XML). Throws ConfigError that says file, line and what to do.
 */
export async function readPublishedList(path: string): Promise<PublishedList> {
  const text = openListFile(path);
  const { beginning, pieces } = await peek(text);
  const recognised = recogniseFormat(path, beginning);
  const besides: { file: string; sha256: string }[] = [];
  const parties: ListedParty[] = [];
  let spellings = 0;
  for await (const party of readParties({ ...text, pieces }, recognised, (file) => besides.push(file))) {
    parties.push(party);
    spellings += 1 + party.aliases.length;
    if (spellings > maxSpellings) {
      throw toListError(
        path,
        null,
        `holds more than ${maxSpellings} names: give what is new on it as a file of its own`,
      );
    }
  }
  if (parties.length === 0) throw toListError(path, null, 'holds no name: take the list from its publisher again');
  const file = basename(path);
  const digest = text.sha256();
  return { file, format: recognised.format, files: [{ file, sha256: digest }, ...besides], digest, parties, spellings };
}

function readParties(
  text: ListText,
  { format, separator }: RecognisedFormat,
  onFile: (file: { file: string; sha256: string }) => void,
): AsyncIterable<ListedParty> {
  switch (format) {
    case 'plain_text':
      return readPlainText(text);
    case 'csv':
      return readNameCsv(text, separator);
    case 'ofac_csv':
      return readOfacCsv(text, onFile);
    case 'ofac_xml':
      return readOfacXml(text);
    case 'un_xml':
      return readUnXml(text);
  }
}

/** The first characters of a text, and the text from its start. */
async function peek(text: ListText): Promise<{ beginning: string; pieces: AsyncIterable<string> }> {
  const iterator = text.pieces[Symbol.asyncIterator]();
  const first: string[] = [];
  let length = 0;
  while (length < beginningLength) {
    const next = await iterator.next();
    if (next.done) break;
    first.push(next.value);
    length += next.value.length;
  }
  const rest = async function* (): AsyncGenerator<string> {
    yield* first;
    yield* { [Symbol.asyncIterator]: () => iterator };
  };
  return { beginning: first.join('').slice(0, 16 * beginningLength), pieces: rest() };
}
