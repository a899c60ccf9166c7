import { z } from 'zod';
import type { ListedParty } from '../listed-party.js';
import { cleanAliases, readName } from './clean-name.js';
import { isVehicleType } from './is-vehicle-type.js';
import { toListError } from './list-error.js';
import type { ListText } from './open-list-file.js';
import { createElementParser } from './parse-element.js';
import { splitElements } from './split-elements.js';

const text = z.string().catch('');
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

/** Reads the OFAC list in its XML form (`sdnEntry` elements); throws ConfigError also when it holds fewer entries than it says. */
export async function* readOfacXml({ path, pieces }: ListText): AsyncGenerator<ListedParty> {
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
    throw toListError(
      path,
      null,
      `says that it has ${announced} entries and holds ${count}: take the list from its publisher again`,
    );
  }
}
