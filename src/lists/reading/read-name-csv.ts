import type { PartyType } from '../../roster/customer.js';
import type { ListedParty } from '../listed-party.js';
import { cleanAliases, readName } from './clean-name.js';
import { isVehicleType } from './is-vehicle-type.js';
import { toListError } from './list-error.js';
import type { ListText } from './open-list-file.js';
import { readRecords } from './read-records.js';

const typeWords: Readonly<Record<string, PartyType | null>> = {
  '': null,
  person: 'person',
  individual: 'person',
  entity: 'entity',
  organisation: 'entity',
  organization: 'entity',
  company: 'entity',
  vessel: 'entity',
  aircraft: 'entity',
};

/** Reads a CSV with a column `name` and, where it has them, `type`, `aliases` (separated by `;`) and `id`; other columns are left alone. */
export async function* readNameCsv(text: ListText, separator: string): AsyncGenerator<ListedParty> {
  let headers: readonly string[] | null = null;
  for await (const { line, fields } of readRecords(text, { delimiter: separator })) {
    if (headers === null) {
      headers = readHeaders(text.path, line, fields);
      continue;
    }
    const field = (name: string): string => fields[headers?.indexOf(name) ?? -1] ?? '';
    const name = readName(text.path, line, field('name'));
    const type = readType(text.path, line, field('type'));
    const isVehicle = isVehicleType(field('type')) ? ({ isVehicle: true } as const) : {};
    yield {
      id: field('id').trim() || null,
      type,
      ...isVehicle,
      name,
      aliases: cleanAliases(name, field('aliases').split(';')),
    };
  }
}

function readHeaders(path: string, line: number, fields: readonly string[]): readonly string[] {
  const headers = fields.map((field) => field.trim().toLowerCase());
  const twice = ['id', 'name', 'type', 'aliases'].find((name) => headers.indexOf(name) !== headers.lastIndexOf(name));
  if (twice !== undefined)
    throw toListError(path, line, `has two columns "${twice}": rename the one that is not meant`);
  return headers;
}

function readType(path: string, line: number, text: string): PartyType | null {
  const type = typeWords[text.trim().toLowerCase()];
  if (type !== undefined) return type;
  throw toListError(path, line, `holds the type "${text.trim()}": write person or entity, or leave it empty`);
}
