import type { ColumnSettings, PartyColumnSettings } from './column-settings.js';

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
