import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { z } from 'zod';
import { splitElements, type XmlElement } from '../xml.js';
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

async function* readUnXml(list: ListText): AsyncGenerator<ListedParty> {
  const { path } = list;
  const parse = createElementParser(path, partySchema, ['INDIVIDUAL_ALIAS', 'ENTITY_ALIAS']);
  for await (const element of splitList(list, 'CONSOLIDATED_LIST', ['INDIVIDUAL', 'ENTITY'])) {
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
async function* readOfacXml(list: ListText): AsyncGenerator<ListedParty> {
  const { path } = list;
  const parseEntry = createElementParser(path, entrySchema, ['aka']);
  const parseCount = createElementParser(path, countSchema, []);
  let announced: number | null = null;
  let count = 0;
  for await (const element of splitList(list, 'sdnList', ['sdnEntry', 'Record_Count'])) {
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

const splitList = ({ path, pieces }: ListText, root: string, names: readonly string[]) =>
  splitElements(pieces, { root, names }, (problem, line) => toListError(path, line, `${problem}: ${downloadAgain}`));

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
