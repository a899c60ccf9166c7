import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { z } from 'zod';
import {
  cleanAliases,
  downloadAgain,
  isVehicleType,
  type ListedParty,
  type ListText,
  readName,
  toListError,
} from './list-file.js';

/** Reads the OFAC list or the consolidated list of the UN Security Council in its XML form; throws ConfigError with file and line. */
export const readXmlList = (text: ListText, format: 'ofac_xml' | 'un_xml'): AsyncIterable<ListedParty> =>
  format === 'ofac_xml' ? readOfacXml(text) : readUnXml(text);

const text = z.string().catch('');
// An empty element is read as an empty text.
const aliases = z
  .array(z.object({ ALIAS_NAME: text }).or(z.literal('').transform(() => ({ ALIAS_NAME: '' }))))
  .default([]);
const partySchema = z.object({
  DATAID: z.string(),
  FIRST_NAME: text,
  SECOND_NAME: text,
  THIRD_NAME: text,
  FOURTH_NAME: text,
  NAME_ORIGINAL_SCRIPT: text,
  INDIVIDUAL_ALIAS: aliases,
  ENTITY_ALIAS: aliases,
});

async function* readUnXml({ path, pieces }: ListText): AsyncGenerator<ListedParty> {
  const parse = createElementParser(path, partySchema, ['INDIVIDUAL_ALIAS', 'ENTITY_ALIAS']);
  const names = ['INDIVIDUAL', 'ENTITY'];
  for await (const element of splitElements(path, pieces, { root: 'CONSOLIDATED_LIST', names })) {
    const party = parse(element);
    const parts = [party.FIRST_NAME, party.SECOND_NAME, party.THIRD_NAME, party.FOURTH_NAME];
    const name = readName(path, element.line, parts.join(' '));
    const others = [...party.INDIVIDUAL_ALIAS, ...party.ENTITY_ALIAS].map((alias) => alias.ALIAS_NAME);
    const spellings = [party.NAME_ORIGINAL_SCRIPT, ...others].flatMap((spelling) => spelling.split(/;|\s\/\s/));
    const type = element.name === 'INDIVIDUAL' ? 'person' : 'entity';
    yield { id: party.DATAID, type, name, aliases: cleanAliases(name, spellings) };
  }
}

const spelling = { firstName: text, lastName: text };
const entrySchema = z.object({
  uid: z.string(),
  ...spelling,
  sdnType: text,
  akaList: z.object({ aka: z.array(z.object(spelling)).default([]) }).catch({ aka: [] }),
});
const countSchema = z.string();

const join = ({ firstName, lastName }: { firstName: string; lastName: string }): string =>
  `${firstName} ${lastName}`.trim();

/** Reads `sdnEntry` elements; throws ConfigError when the number of entries is not the declared one. */
async function* readOfacXml({ path, pieces }: ListText): AsyncGenerator<ListedParty> {
  const parseEntry = createElementParser(path, entrySchema, ['aka']);
  const parseCount = createElementParser(path, countSchema, []);
  let announced: number | null = null;
  let count = 0;
  const names = ['sdnEntry', 'Record_Count'];
  for await (const element of splitElements(path, pieces, { root: 'sdnList', names })) {
    if (element.name === 'Record_Count') {
      announced = Number(parseCount(element));
      continue;
    }
    const entry = parseEntry(element);
    const name = readName(path, element.line, join(entry));
    count += 1;
    const type = entry.sdnType.toLowerCase() === 'individual' ? 'person' : 'entity';
    const isVehicle = isVehicleType(entry.sdnType) ? ({ isVehicle: true } as const) : {};
    yield { id: entry.uid, type, ...isVehicle, name, aliases: cleanAliases(name, entry.akaList.aka.map(join)) };
  }
  if (announced !== null && announced !== count) {
    throw toListError(path, null, `declares ${announced} entries and holds ${count}: ${downloadAgain}`);
  }
}

/** Makes a reader of elements whose shape is `schema`; elements named in `repeated` are lists. Its errors are ConfigErrors with the line. */
function createElementParser<T>(
  path: string,
  schema: z.ZodType<T>,
  repeated: readonly string[],
): (element: XmlElement) => T {
  const parser = new XMLParser({
    parseTagValue: false,
    removeNSPrefix: true,
    htmlEntities: true,
    isArray: (name) => repeated.includes(name),
  });
  const parse = (line: number, text: string): unknown => {
    try {
      return parser.parse(text);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw toListError(path, line, `holds an element that cannot be read (${reason}): ${downloadAgain}`, error);
    }
  };
  return ({ name, line, text }) => {
    const validity = XMLValidator.validate(text);
    if (validity !== true) {
      throw toListError(
        path,
        line + validity.err.line - 1,
        `is not well-formed: ${validity.err.msg} Download the list from its publisher again`,
      );
    }
    const parsed = parse(line, text);
    const value: unknown = typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, name) : undefined;
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    const missing = result.error.issues.map((issue) => issue.path.join('.')).join(', ');
    throw toListError(path, line, `<${name}> is not in the publisher's format (${missing}): ${downloadAgain}`);
  };
}

const maxElementLength = 4 * 1024 * 1024;

/** An element of an XML file as text, and the line on which it begins, from 1. */
interface XmlElement {
  name: string;
  line: number;
  text: string;
}

/**
 * Gives the elements of these names one after the other, so that a large file is never in memory as a whole. Elements inside of others are not
 * found. Throws ConfigError when the file ends before `root` does.
 */
async function* splitElements(
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
        // The end of the piece may split a tag.
        skip(Math.max(0, text.lastIndexOf('<')));
        break;
      }
      const name = found[1];
      const closing = name === undefined ? (found[0] === '<!--' ? '-->' : '>') : `</${name}>`;
      const end = text.indexOf(closing, found.index);
      if (end === -1) {
        skip(found.index);
        if (text.length > maxElementLength) throw toListError(path, line, `${found[0]} never ends: ${downloadAgain}`);
        break;
      }
      skip(found.index);
      const element = text.slice(0, end - found.index + closing.length);
      if (name !== undefined) yield { name, line, text: element };
      else if (found[0] !== '<!--') isWhole = true;
      skip(element.length);
    }
  }
  if (!isWhole) throw toListError(path, line, `the file ends before </${root}>, so it is truncated: ${downloadAgain}`);
}
