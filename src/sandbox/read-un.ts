import { readFile } from 'node:fs/promises';
import { XMLParser } from 'fast-xml-parser';
import { z } from 'zod';
import { toCountryCode } from './country-code.js';
import type { WatchlistEntry } from './watchlist-entry.js';

const text = z.string().catch('');
const list = <T extends z.ZodType>(item: T) => z.array(item.or(z.literal('').transform(() => undefined))).default([]);

const partySchema = z.object({
  DATAID: z.string(),
  FIRST_NAME: text,
  SECOND_NAME: text,
  THIRD_NAME: text,
  FOURTH_NAME: text,
  NAME_ORIGINAL_SCRIPT: text,
  NATIONALITY: z.object({ VALUE: z.array(z.string()).default([]) }).catch({ VALUE: [] }),
  INDIVIDUAL_ALIAS: list(z.object({ ALIAS_NAME: text })),
  ENTITY_ALIAS: list(z.object({ ALIAS_NAME: text })),
  ENTITY_ADDRESS: list(z.object({ COUNTRY: text })),
  INDIVIDUAL_DATE_OF_BIRTH: list(z.object({ DATE: text, YEAR: text, FROM_YEAR: text, TO_YEAR: text })),
});
type Party = z.infer<typeof partySchema>;

// An empty element is read as an empty text.
const section = <T extends z.ZodType>(schema: T) => z.preprocess((value) => (value === '' ? {} : value), schema);

const listSchema = z.object({
  CONSOLIDATED_LIST: z.object({
    INDIVIDUALS: section(z.object({ INDIVIDUAL: z.array(partySchema).default([]) })),
    ENTITIES: section(z.object({ ENTITY: z.array(partySchema).default([]) })),
  }),
});

const REPEATED = new Set([
  'INDIVIDUAL',
  'ENTITY',
  'INDIVIDUAL_ALIAS',
  'ENTITY_ALIAS',
  'ENTITY_ADDRESS',
  'INDIVIDUAL_DATE_OF_BIRTH',
  'VALUE',
]);

const present = (values: readonly (string | undefined)[]): string[] => [
  ...new Set(values.flatMap((value) => (value?.trim() ? [value.replace(/\s+/g, ' ').trim()] : []))),
];

const toEntry = (party: Party, schema: string): WatchlistEntry => {
  const name = present([[party.FIRST_NAME, party.SECOND_NAME, party.THIRD_NAME, party.FOURTH_NAME].join(' ')]).join('');
  const aliases = [...party.INDIVIDUAL_ALIAS, ...party.ENTITY_ALIAS].map((alias) => alias?.ALIAS_NAME);
  const countries = [...party.NATIONALITY.VALUE, ...party.ENTITY_ADDRESS.map((address) => address?.COUNTRY)];
  return {
    id: `amla_un${party.DATAID}`,
    schema,
    name,
    aliases: present([party.NAME_ORIGINAL_SCRIPT, ...aliases]).filter((alias) => alias !== name),
    topics: ['sanction'],
    birth_date: present(
      party.INDIVIDUAL_DATE_OF_BIRTH.flatMap((birth) =>
        birth?.DATE ? [birth.DATE] : [birth?.YEAR, birth?.FROM_YEAR, birth?.TO_YEAR],
      ),
    ),
    country: present(countries.map((country) => toCountryCode(country ?? ''))),
  };
};

/** Reads the UN Security Council consolidated list as published in XML; throws an Error that names the path. */
export const readUnXml = async (path: string): Promise<WatchlistEntry[]> => {
  const parser = new XMLParser({ parseTagValue: false, isArray: (name) => REPEATED.has(name) });
  const result = listSchema.safeParse(parser.parse(await readFile(path, 'utf8')));
  if (!result.success) throw new Error(`${path} is not the UN consolidated list: ${z.prettifyError(result.error)}`);
  const { INDIVIDUALS, ENTITIES } = result.data.CONSOLIDATED_LIST;
  return [
    ...INDIVIDUALS.INDIVIDUAL.map((party) => toEntry(party, 'Person')),
    ...ENTITIES.ENTITY.map((party) => toEntry(party, 'Organization')),
  ];
};
