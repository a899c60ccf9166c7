import { z } from 'zod';
import type { ListedParty } from '../listed-party.js';
import { cleanAliases, readName } from './clean-name.js';
import type { ListText } from './open-list-file.js';
import { createElementParser } from './parse-element.js';
import { splitElements } from './split-elements.js';

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

/** Reads the consolidated list of the UN Security Council in its XML form. */
export async function* readUnXml({ path, pieces }: ListText): AsyncGenerator<ListedParty> {
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
