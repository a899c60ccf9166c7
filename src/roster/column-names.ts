import type { ColumnSettings, PartyColumnSettings } from './column-settings.js';
import { type ColumnRole, readHeaderRole } from './inspect/header-words.js';

/** The headers of a roster that need no mapping. */
export const standardHeaders = {
  id: 'customer_id',
  name: 'name',
  type: 'type',
  birthDate: 'birth_date',
  countries: 'countries',
  riskTier: 'risk_tier',
} as const;

/** The headers of a source of related parties that need no mapping. */
export const standardPartyHeaders = {
  customerId: 'customer_id',
  role: 'role',
  name: 'name',
  type: 'type',
  birthDate: 'birth_date',
  countries: 'countries',
} as const;

/** Gives the predicate that tells whether a mapping asks for a header. */
export function createIsMapped(
  columns: ColumnSettings | PartyColumnSettings,
  standard: Readonly<Record<string, string>>,
): (header: string) => boolean {
  const { realNames: _, ...headers } = columns;
  const settings: unknown[] = Object.values({ ...standard, ...headers });
  const names = new Set(settings.flatMap(listNames).map((name) => name.normalize('NFC')));
  return (header) => names.has(header.trim().normalize('NFC'));
}

/** The headers that one setting names. */
function listNames(setting: unknown): readonly string[] {
  if (setting === 'all') return [];
  if (typeof setting === 'string') return [setting];
  if (Array.isArray(setting)) return setting.flatMap(listNames);
  if (typeof setting !== 'object' || setting === null) return [];
  if ('columns' in setting) return listNames(setting.columns);
  return 'column' in setting ? listNames(setting.column) : [];
}

/** The facts that a source may leave out, with what its headers say then; each is lost without a word where the header is another one. */
const facts = [
  { key: 'type', role: 'type', otherwise: 'every party counts as a person' },
  { key: 'birthDate', role: 'birth_date', otherwise: 'nobody has a birth date' },
  { key: 'countries', role: 'countries', otherwise: 'nobody has a country' },
  { key: 'riskTier', role: 'risk_tier', otherwise: 'everybody counts as high risk' },
] as const satisfies readonly { key: string; role: ColumnRole; otherwise: string }[];

/** The facts that no setting maps and no standard header gives. */
function listUnmapped(
  headers: readonly string[],
  columns: ColumnSettings | PartyColumnSettings,
  standard: Readonly<Record<string, string>>,
): (typeof facts)[number][] {
  const settings: Readonly<Record<string, unknown>> = columns;
  const given = new Set(headers.map((header) => header.normalize('NFC')));
  return facts.filter(({ key }) => {
    const header = standard[key];
    return header !== undefined && settings[key] === undefined && !given.has(header);
  });
}

/**
 * Gives the predicate that tells whether it matters that a column comes or goes: the mapping reads it, or its header is a known word for a fact
 * that no column is mapped for. `headers` are those of now.
 */
export function createIsRead(
  headers: readonly string[],
  { ignore = [], ...columns }: ColumnSettings | PartyColumnSettings,
  standard: Readonly<Record<string, string>>,
): (header: string) => boolean {
  const isMapped = createIsMapped(columns, standard);
  const roles = new Set<ColumnRole | null>(listUnmapped(headers, columns, standard).map(({ role }) => role));
  const ignored = new Set(ignore.map((header) => header.normalize('NFC')));
  return (header) => !ignored.has(header) && (isMapped(header) || roles.has(readHeaderRole(header)));
}

/**
 * Says of each fact that no column is mapped for which headers are known words for it, with the line to write. Headers that any setting
 * names, under `attributes` or `ignore` as well, are not among them.
 */
export function describeUnmapped(
  headers: readonly string[],
  columns: ColumnSettings | PartyColumnSettings,
  standard: Readonly<Record<string, string>>,
): readonly string[] {
  const isMapped = createIsMapped(columns, standard);
  return listUnmapped(headers, columns, standard).flatMap(({ key, role, otherwise }) => {
    const found = headers.filter((one) => !isMapped(one) && readHeaderRole(one) === role);
    const [first] = found;
    if (first === undefined) return [];
    const quoted = found.map((one) => JSON.stringify(one));
    const all = `[${quoted.join(', ')}]`;
    const value = key === 'countries' && found.length > 1 ? all : quoted[0];
    const where = 'customerId' in standard ? 'this source of related parties' : 'this roster';
    const reads = found.length === 1 ? `column ${quoted[0]} reads` : `columns ${quoted.join(', ')} read`;
    return [
      `${reads} like ${key}, which no column is mapped for, so ${otherwise}: write ${key}: ${value} under columns of ${where}, or ignore: ${all} where ${found.length === 1 ? 'it is' : 'they are'} something else`,
    ];
  });
}
