import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ListedParty } from '../listed-party.js';
import { cleanAliases, readName } from './clean-name.js';
import { isVehicleType } from './is-vehicle-type.js';
import { toListError } from './list-error.js';
import { type ListText, openListFile } from './open-list-file.js';
import { readRecords } from './read-records.js';

const nothing = '-0-';
const endOfFile = '\u001a';

/**
 * Reads the OFAC SDN list in its CSV form, together with the aliases of an `alt.csv` that lies beside it; `onFile` is told of that file
 * once it has been read.
 */
export async function* readOfacCsv(
  text: ListText,
  onFile: (file: { file: string; sha256: string }) => void,
): AsyncGenerator<ListedParty> {
  const aliases = await readAliases(text.path, onFile);
  for await (const { line, fields } of readPublished(text)) {
    const [id = '', name = '', type = ''] = fields;
    if (!/^\d+$/.test(id) || name === '') {
      throw toListError(
        text.path,
        line,
        'is no entry of the OFAC list (number, name, type ...): take sdn.csv from its publisher again',
      );
    }
    const isPerson = type.toLowerCase() === 'individual';
    const spell = (spelling: string): string => (isPerson ? toNaturalOrder(spelling) : spelling);
    const listed = readName(text.path, line, spell(name));
    const others = [...(aliases.get(id) ?? []).map(spell), ...readWeakAliases(fields.slice(3).join('; '))];
    const isVehicle = isVehicleType(type) ? ({ isVehicle: true } as const) : {};
    yield {
      id,
      type: isPerson ? 'person' : 'entity',
      ...isVehicle,
      name: listed,
      aliases: cleanAliases(listed, others),
    };
  }
}

async function readAliases(
  path: string,
  onFile: (file: { file: string; sha256: string }) => void,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = dirname(path);
  const aliases = new Map<string, string[]>();
  const found = (await readdir(folder)).find((file) => file.toLowerCase() === 'alt.csv');
  if (found === undefined) return aliases;
  const text = openListFile(join(folder, found));
  for await (const { fields } of readPublished(text)) {
    const [id = '', , , name = ''] = fields;
    if (name === '') continue;
    const others = aliases.get(id);
    if (others) others.push(name);
    else aliases.set(id, [name]);
  }
  onFile({ file: basename(found), sha256: text.sha256() });
  return aliases;
}

async function* readPublished(text: ListText): ReturnType<typeof readRecords> {
  const options = { relax_column_count: true, trim: true };
  for await (const { line, fields } of readRecords(text, options)) {
    // The published files may end with the end-of-file mark of another age.
    if (fields.every((field) => field === endOfFile || field === '')) continue;
    yield { line, fields: fields.map((field) => (field === nothing ? '' : field)) };
  }
}

/** The other names that the remarks tell: `a.k.a. 'NAME'`. */
const readWeakAliases = (remarks: string): string[] =>
  [...remarks.matchAll(/[afn]\.k\.a\. '(.+?)'(?=[;.]|$)/g)].flatMap(([, alias]) => alias ?? []);

/** `FAMILY, Given` as people write it: `Given FAMILY`; a name without a comma, or with several, stays as it is. */
function toNaturalOrder(name: string): string {
  const [family = '', given, ...others] = name.split(',').map((part) => part.trim());
  return given === undefined || given === '' || others.length > 0 ? name : `${given} ${family}`;
}
